//! Toy inside of a Rust program: `cargo run --example embed`.

use std::{error::Error, time::Duration};
use toyjit::{Engine, Input, Trap};

const RULES: &str = r#"
let rate = parse_float(read_line()!, 0.0);
fn price(net: float, customer: str) -> float {
    print("serving", customer);
    return net * (1.0 + rate) - discount(customer);
}
fn share(total: int, guests: int) -> int { return total / guests; }
fn forever() { while true {} }"#;

fn main() -> Result<(), Box<dyn Error>> {
    let discount = |customer: String| if customer == "Ada" { 19.0 } else { 0.0 };
    let engine = Engine::new().level(2).max_heap(64 << 20).timeout(Duration::from_millis(200));
    let mut rules = engine.host("discount", discount).compile("rules.toy", RULES)?;
    rules.set_input(Input::bytes(b"0.19\n".to_vec()));
    let printed = rules.capture();

    // A handle is typed: what does not fit the program is told here, not when it is called.
    let price = rules.function::<(f64, &str), f64>("price")?;
    assert_eq!(price.call(&mut rules, (100.0, "Ada"))?, 100.0);
    assert_eq!(printed.take(), b"serving Ada\n");
    println!("{}", rules.function::<(), ()>("share").unwrap_err());

    // A trap is an error with its place, and so is a limit; the program goes on.
    let share = rules.function::<(i64, i64), i64>("share")?;
    print!("{}", share.call(&mut rules, (10, 0)).unwrap_err());
    let forever = rules.function::<(), ()>("forever")?;
    assert_eq!(forever.call(&mut rules, ()).unwrap_err().trap(), Some(&Trap::Time));
    assert_eq!(share.call(&mut rules, (10, 4))?, 2);
    Ok(())
}

#[test]
fn runs() {
    main().expect("it runs");
}
