//! What `:doc` tells of the builtins.

/// Name, how it is called, what it does.
pub const BUILTINS: &[(&str, &str, &str)] = &[
    ("print", "print(a, …)", "the values, a space between, then a newline"),
    ("write", "write(a, …)", "the values, nothing between or after"),
    ("len", "len(x) -> int", "how many elements an array has, or bytes a str"),
    ("push", "push(xs, x)", "adds an element at the end of an array"),
    ("pop", "pop(xs) -> T", "takes the last element off an array; traps where it is empty"),
    ("slice", "slice(x, from, to)", "a copy of that part of an array or str"),
    ("to_bytes", "to_bytes(s) -> [byte]", "the bytes of a str, copied"),
    ("from_bytes", "from_bytes(b) -> str", "a str of these bytes, copied"),
    ("abs", "abs(x)", "without its sign; int or float"),
    ("min", "min(a, b)", "the smaller; int or float"),
    ("max", "max(a, b)", "the larger; int or float"),
    ("sqrt", "sqrt(x: float) -> float", "the square root"),
    ("floor", "floor(x: float) -> float", "rounded down"),
    ("ceil", "ceil(x: float) -> float", "rounded up"),
    ("trunc", "trunc(x: float) -> float", "rounded toward zero"),
    ("round", "round(x: float) -> float", "rounded to the nearest, half away from zero"),
    ("exp", "exp(x: float) -> float", "e to the power of x"),
    ("ln", "ln(x: float) -> float", "the natural logarithm"),
    ("log2", "log2(x: float) -> float", "the logarithm to base 2"),
    ("log10", "log10(x: float) -> float", "the logarithm to base 10"),
    ("sin", "sin(x: float) -> float", "the sine"),
    ("cos", "cos(x: float) -> float", "the cosine"),
    ("tan", "tan(x: float) -> float", "the tangent"),
    ("asin", "asin(x: float) -> float", "the arc sine"),
    ("acos", "acos(x: float) -> float", "the arc cosine"),
    ("atan", "atan(x: float) -> float", "the arc tangent"),
    ("pow", "pow(x: float, y: float) -> float", "x to the power of y"),
    ("atan2", "atan2(y: float, x: float) -> float", "the angle of the point (x, y)"),
    ("popcount", "popcount(x: int) -> int", "how many bits are set"),
    ("clz", "clz(x: int) -> int", "how many zero bits lead; 64 for 0"),
    ("ctz", "ctz(x: int) -> int", "how many zero bits trail; 64 for 0"),
    ("rotl", "rotl(x: int, n: int) -> int", "the bits rotated to the left, n modulo 64"),
    ("rotr", "rotr(x: int, n: int) -> int", "the bits rotated to the right, n modulo 64"),
    ("parse_int", "parse_int(s: str, or: int) -> int", "the number in s, or `or`"),
    ("parse_float", "parse_float(s: str, or: float) -> float", "the number in s, or `or`"),
    ("read_line", "read_line() -> str?", "the next line of input; nil at the end"),
    ("args", "args() -> [str]", "the program's arguments"),
    ("clock", "clock() -> float", "seconds that only go up"),
    ("assert", "assert(c: bool) or assert(c: bool, message: str)", "traps where c is false"),
    ("panic", "panic(message: str)", "traps with the message"),
    ("exit", "exit(code: int)", "ends the program (here: the session)"),
    ("int", "int(x) -> int", "of a float (toward zero), byte or bool"),
    ("float", "float(x) -> float", "of an int or byte"),
    ("byte", "byte(x: int) -> byte", "the low 8 bits"),
    ("str", "str(x) -> str", "the text that print shows"),
];

#[cfg(test)]
mod tests {
    use super::BUILTINS;
    use toyjit::sema::hir::Builtin;

    #[test]
    fn every_builtin_is_told() {
        for (name, _) in Builtin::ALL {
            assert!(BUILTINS.iter().any(|row| row.0 == *name), "{name}");
        }
    }
}
