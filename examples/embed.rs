//! Toy inside of a Rust program: compile, call functions with Rust values, survive traps.
//!
//! `cargo run --example embed`

use std::error::Error;
use std::time::Duration;
use toyjit::{Engine, Trap};

const RULES: &str = r#"
let rate = 0.19;
var served = 0;

fn price(net: float, customer: str) -> float {
    served += 1;
    print("serving", customer);
    return net * (1.0 + rate);
}

fn share(total: int, guests: int) -> int { return total / guests; }

fn count() -> int { return served; }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new().max_heap(64 << 20).timeout(Duration::from_secs(1));
    let mut module = engine.compile("rules.toy", RULES)?;
    let printed = module.capture();

    let price = module.function::<(f64, &str), f64>("price")?;
    assert_eq!(price.call(&mut module, (100.0, "Ada"))?, 119.0);
    assert_eq!(String::from_utf8(printed.take())?, "serving Ada\n");

    // A trap is a value, with its place; the module goes on.
    let share = module.function::<(i64, i64), i64>("share")?;
    let stopped = share.call(&mut module, (10, 0)).unwrap_err();
    assert_eq!(stopped.trap(), Some(&Trap::Division));
    println!("{stopped}");
    assert_eq!(share.call(&mut module, (10, 4))?, 2);

    // What does not fit is told before anything runs.
    assert!(module.function::<(i64,), i64>("share").is_err());
    let errors = engine.compile("bad.toy", "let x = 1 + true;").unwrap_err();
    println!("{errors}");

    println!("{} customers served", module.function::<(), i64>("count")?.call(&mut module, ())?);
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
