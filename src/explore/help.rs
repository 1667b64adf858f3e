//! What operators and machine instructions do, in a line each, and what pieces of assembly are.

use iced_x86::FormatterTextKind as Kind;

/// What a piece of assembly is: `m`nemonic, `r`egister, `n`umber, `l`abel or another name, `k`eyword,
/// `p`unctuation.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Mnemonic | Kind::Prefix => "m",
        Kind::Register => "r",
        Kind::Number => "n",
        Kind::Keyword | Kind::Directive | Kind::Decorator => "k",
        Kind::Label
        | Kind::LabelAddress
        | Kind::Function
        | Kind::FunctionAddress
        | Kind::Data
        | Kind::SelectorValue => "l",
        _ => "p",
    }
}

/// The machine instructions that the compiler makes.
pub static MNEMONICS: &[(&str, &str)] = &[
    ("adc", "add with the carry of the addition before"),
    ("add", "add the second operand to the first"),
    ("addsd", "add floats"),
    ("and", "bitwise and"),
    ("andn", "bitwise and with the complement of the first source"),
    ("andpd", "bitwise and of vectors; with the mask: absolute value of a float"),
    ("andps", "bitwise and of vectors; with the mask: absolute value of a float"),
    ("blsi", "keep the lowest one bit only"),
    ("blsr", "clear the lowest one bit"),
    ("bsf", "place of the lowest one bit"),
    ("bsr", "place of the highest one bit"),
    ("bswap", "reverse the order of the bytes"),
    ("bt", "put one bit into the carry flag"),
    ("btc", "flip one bit"),
    ("btr", "clear one bit"),
    ("bts", "set one bit"),
    ("bzhi", "clear all bits from a place on"),
    ("call", "push the address of the next instruction and go there"),
    ("cdq", "spread the sign of eax over edx"),
    ("cmp", "subtract, and keep only the flags"),
    ("comisd", "compare floats, set the flags"),
    ("cqo", "spread the sign of rax over rdx, for a division"),
    ("cvtsi2sd", "int to float"),
    ("cvttsd2si", "float to int, toward zero"),
    ("dec", "subtract 1"),
    ("div", "divide without sign: quotient to rax, remainder to rdx"),
    ("divsd", "divide floats"),
    ("idiv", "divide with sign: quotient to rax, remainder to rdx"),
    ("imul", "multiply"),
    ("inc", "add 1"),
    ("int3", "stop here (a place that is never reached)"),
    ("jmp", "go there"),
    ("lea", "compute an address, without touching memory"),
    ("leave", "give up the frame"),
    ("lzcnt", "number of leading zero bits"),
    ("maxsd", "the greater of two floats"),
    ("minsd", "the lesser of two floats"),
    ("mov", "copy the second operand to the first"),
    ("movabs", "load a constant of 64 bits"),
    ("movapd", "copy a vector register"),
    ("movaps", "copy a vector register"),
    ("movd", "move 32 bits between a vector register and another"),
    ("movq", "move 64 bits between a vector register and another"),
    ("movsd", "move a float"),
    ("movsx", "copy, filling up with the sign"),
    ("movsxd", "copy 32 bits, filling up with the sign"),
    ("movzx", "copy, filling up with zeros"),
    ("mul", "multiply rax without sign: the product to rdx and rax"),
    ("mulsd", "multiply floats"),
    ("mulx", "multiply without sign, leaving the flags"),
    ("neg", "negate"),
    ("nop", "nothing: to begin what follows at a good address"),
    ("not", "complement of all bits"),
    ("or", "bitwise or"),
    ("orpd", "bitwise or of vectors"),
    ("pop", "take a word from the stack"),
    ("popcnt", "number of one bits"),
    ("push", "put a word on the stack"),
    ("pxor", "exclusive or of vectors; with itself: zero"),
    ("ret", "take the return address from the stack and go there"),
    ("rol", "rotate left"),
    ("ror", "rotate right"),
    ("rorx", "rotate right, leaving the flags"),
    ("roundsd", "round a float"),
    ("sar", "shift right, copying the sign"),
    ("sarx", "shift right, copying the sign, leaving the flags"),
    ("sbb", "subtract with the borrow of the subtraction before"),
    ("shl", "shift left"),
    ("shld", "shift left, filling up from another register"),
    ("shlx", "shift left, leaving the flags"),
    ("shr", "shift right, filling up with zeros"),
    ("shrd", "shift right, filling up from another register"),
    ("shrx", "shift right, filling up with zeros, leaving the flags"),
    ("sqrtsd", "square root of a float"),
    ("sub", "subtract the second operand from the first"),
    ("subsd", "subtract floats"),
    ("test", "bitwise and, keeping only the flags"),
    ("tzcnt", "number of trailing zero bits"),
    ("ucomisd", "compare floats, set the flags; parity means that one is not a number"),
    ("ud2", "stop here (a place that is never reached)"),
    ("unpcklpd", "the low halves of two vectors side by side"),
    ("xchg", "exchange the operands"),
    ("xor", "bitwise exclusive or; with itself: zero"),
    ("xorpd", "exclusive or of vectors; with the sign mask: negation of a float"),
    ("xorps", "exclusive or of vectors; with itself: zero"),
];

/// What the letters behind `j`, `set` and `cmov` mean.
static CONDITIONS: &[(&str, &str)] = &[
    ("a", "above, without sign"),
    ("ae", "above or equal, without sign"),
    ("b", "below, without sign"),
    ("be", "below or equal, without sign"),
    ("e", "equal"),
    ("g", "greater, with sign"),
    ("ge", "greater or equal, with sign"),
    ("l", "less, with sign"),
    ("le", "less or equal, with sign"),
    ("ne", "not equal"),
    ("no", "no overflow"),
    ("np", "no parity: both floats are numbers"),
    ("ns", "not negative"),
    ("o", "overflow"),
    ("p", "parity: a float is not a number"),
    ("s", "negative"),
];

/// What a machine instruction does.
pub fn mnemonic(name: &str) -> Option<String> {
    if let Ok(at) = MNEMONICS.binary_search_by_key(&name, |row| row.0) {
        return Some(MNEMONICS[at].1.to_owned());
    }
    let scalar = name.strip_prefix('v').and_then(mnemonic_of_vector);
    scalar.or_else(|| {
        let does = [("j", "go there"), ("set", "1, else 0,"), ("cmov", "copy")];
        does.iter().find_map(|(prefix, does)| {
            let rest = name.strip_prefix(prefix)?;
            let at = CONDITIONS.binary_search_by_key(&rest, |row| row.0).ok()?;
            Some(format!("{does} if {}", CONDITIONS[at].1))
        })
    })
}

/// The forms with three operands do the same.
fn mnemonic_of_vector(name: &str) -> Option<String> {
    let at = MNEMONICS.binary_search_by_key(&name, |row| row.0).ok()?;
    Some(format!("{}; the result goes to an operand of its own", MNEMONICS[at].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(MNEMONICS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(CONDITIONS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(mnemonic("jle").as_deref(), Some("go there if less or equal, with sign"));
        assert!(mnemonic("vaddsd").is_some() && mnemonic("nonsense").is_none());
    }
}
