//! Toy inside of a Rust program: compile, call in both directions, redirect, limit, survive traps.
//!
//! `cargo run --example embed`

use std::error::Error;
use std::time::Duration;
use toyjit::{Engine, Input, Trap};

const RULES: &str = r#"
let rate = parse_float(read_line()!, 0.0);
fn price(net: float, customer: str) -> float {
    print("serving", customer);
    return net * (1.0 + rate) - discount(customer);
}
fn share(total: int, guests: int) -> int { return total / guests; }
fn forever() { while true {} }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new()
        .level(2)
        .max_heap(64 << 20)
        .timeout(Duration::from_millis(200))
        .host("discount", |customer: String| if customer == "Ada" { 19.0 } else { 0.0 });
    let mut module = engine.compile("rules.toy", RULES)?;
    module.set_input(Input::bytes(b"0.19\n".to_vec()));
    let printed = module.capture();

    // A handle is typed: what does not fit the program is told here, not when it is called.
    let price = module.function::<(f64, &str), f64>("price")?;
    println!(
        "{} {}",
        price.call(&mut module, (100.0, "Ada"))?,
        module.function::<(), ()>("share").unwrap_err()
    );
    assert_eq!(printed.take(), b"serving Ada\n");

    // A trap is a value, with its place; the module goes on.
    let share = module.function::<(i64, i64), i64>("share")?;
    let stopped = share.call(&mut module, (10, 0)).unwrap_err();
    println!("{stopped}{}", share.call(&mut module, (10, 4))?);
    let forever = module.function::<(), ()>("forever")?.call(&mut module, ());
    assert_eq!(forever.unwrap_err().trap(), Some(&Trap::Time));

    println!("{}", engine.compile("bad.toy", "let x = 1 + true;").unwrap_err());
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
