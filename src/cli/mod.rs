//! x
/// x
pub fn main() -> i32 {
    0
}
