//! How long an instruction is, and whether it is a branch.
//!
//! A decoder of lengths for what the emitter makes, where asking a disassembler takes two thousand
//! instructions for one, and a million before the first. Where it does not know an instruction, it says so.

/// What is known of the instruction at the beginning of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// It goes on to the next one, and is so long.
    Straight(usize),
    /// It may lead elsewhere.
    Branch,
    /// Not an instruction that is known here.
    Unknown,
}

/// What follows an opcode.
#[derive(Clone, Copy)]
enum Tail {
    Imm(usize),
    /// A byte that tells the operands, what that says follows, and an immediate.
    ModRm(usize),
    /// The same, but an immediate only where the byte's middle is 0 or 1.
    Test(usize),
    /// The same, but a branch where the byte's middle is 2 to 5.
    Group5,
    Branch,
}

/// The length of the first instruction.
pub fn length(bytes: &[u8]) -> Length {
    decode(bytes).unwrap_or(Length::Unknown)
}

fn decode(bytes: &[u8]) -> Option<Length> {
    let mut at = 0;
    let mut wide = false;
    let mut short = false;
    while matches!(bytes.get(at)?, 0x64 | 0x66 | 0xF2 | 0xF3) {
        short |= bytes[at] == 0x66;
        at += 1;
    }
    if bytes.get(at)? & 0xF0 == 0x40 {
        wide = bytes[at] & 8 != 0;
        at += 1;
    }
    let tail = match *bytes.get(at)? {
        0x0F => {
            at += 1;
            match *bytes.get(at)? {
                0x38 => {
                    at += 1;
                    Tail::ModRm(0)
                }
                0x3A => {
                    at += 1;
                    Tail::ModRm(1)
                }
                opcode => two_bytes(opcode)?,
            }
        }
        0xC5 => {
            at += 2;
            two_bytes(*bytes.get(at)?)?
        }
        0xC4 => {
            at += 3;
            match bytes.get(at - 2)? & 0x1F {
                1 => two_bytes(*bytes.get(at)?)?,
                2 => Tail::ModRm(0),
                3 => Tail::ModRm(1),
                _ => return None,
            }
        }
        opcode => one_byte(opcode, wide, short)?,
    };
    at += 1;
    let operands = || with_operands(bytes.get(at..)?);
    let middle = || Some(bytes.get(at)? >> 3 & 7);
    Some(Length::Straight(match tail {
        Tail::Branch => return Some(Length::Branch),
        Tail::Group5 if matches!(middle()?, 2..=5) => return Some(Length::Branch),
        Tail::Imm(imm) => at + imm,
        Tail::Test(imm) if middle()? < 2 => at + operands()? + imm,
        Tail::Test(_) | Tail::Group5 => at + operands()?,
        Tail::ModRm(imm) => at + operands()? + imm,
    }))
}

fn one_byte(opcode: u8, wide: bool, short: bool) -> Option<Tail> {
    let imm = if short && !wide { 2 } else { 4 };
    Some(match opcode {
        0x00..=0x3F if opcode & 7 < 4 => Tail::ModRm(0),
        0x00..=0x3F if opcode & 7 == 4 => Tail::Imm(1),
        0x00..=0x3F if opcode & 7 == 5 => Tail::Imm(imm),
        0x50..=0x5F | 0x90 | 0x98 | 0x99 => Tail::Imm(0),
        0x63 | 0x84..=0x8B | 0x8D | 0xD0..=0xD3 | 0xFE => Tail::ModRm(0),
        0x6A | 0xA8 | 0xB0..=0xB7 => Tail::Imm(1),
        0x68 | 0xA9 => Tail::Imm(imm),
        0x69 | 0x81 | 0xC7 => Tail::ModRm(imm),
        0x6B | 0x80 | 0x83 | 0xC0 | 0xC1 | 0xC6 => Tail::ModRm(1),
        0xB8..=0xBF => Tail::Imm(if wide { 8 } else { imm }),
        0xF6 => Tail::Test(1),
        0xF7 => Tail::Test(imm),
        0xFF => Tail::Group5,
        0x70..=0x7F | 0xC3 | 0xE8 | 0xE9 | 0xEB => Tail::Branch,
        _ => return None,
    })
}

fn two_bytes(opcode: u8) -> Option<Tail> {
    Some(match opcode {
        0x70..=0x73 | 0xA4 | 0xAC | 0xBA | 0xC2 | 0xC4..=0xC6 => Tail::ModRm(1),
        0x10..=0x17 | 0x1F | 0x28..=0x2F | 0x40..=0x6F | 0x74..=0x76 | 0x7E | 0x7F => {
            Tail::ModRm(0)
        }
        0x90..=0x9F | 0xA3 | 0xA5 | 0xAB | 0xAD | 0xAF | 0xB3 | 0xB6..=0xB8 | 0xBB..=0xBF => {
            Tail::ModRm(0)
        }
        0xC8..=0xCF => Tail::Imm(0),
        0xD0..=0xFE => Tail::ModRm(0),
        0x80..=0x8F => Tail::Branch,
        _ => return None,
    })
}

/// The length of the byte that tells the operands and of what it says follows.
fn with_operands(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    let (mode, base) = (first >> 6, first & 7);
    if mode == 3 {
        return Some(1);
    }
    let (len, base) = match base {
        4 => (2, bytes.get(1)? & 7),
        5 if mode == 0 => return Some(5),
        _ => (1, base),
    };
    Some(match mode {
        1 => len + 1,
        2 => len + 4,
        _ if len == 2 && base == 5 => len + 4,
        _ => len,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, FlowControl};

    /// What stands before an opcode.
    const BEFORE: &[&[u8]] = &[
        &[],
        &[0x48],
        &[0x41],
        &[0x66],
        &[0x66, 0x48],
        &[0xF2],
        &[0xF3, 0x48],
        &[0x0F],
        &[0x48, 0x0F],
        &[0x66, 0x0F],
        &[0xF2, 0x48, 0x0F],
        &[0xF3, 0x0F],
        &[0x66, 0x0F, 0x38],
        &[0x66, 0x0F, 0x3A],
        &[0xC5, 0xF9],
        &[0xC4, 0xE1, 0xF9],
        &[0xC4, 0xE2, 0xF9],
        &[0xC4, 0xE3, 0xFB],
    ];

    /// What the disassembler says of all that is known here agrees.
    #[test]
    fn agrees_with_the_disassembler() {
        let mut known = 0;
        for before in BEFORE {
            for opcode in 0..=255 {
                for (operands, sib) in (0..=255).flat_map(|byte| [(byte, 0x24), (byte, 0x25)]) {
                    let middle = operands >> 3 & 7;
                    if !matches!(operands & 7, 0 | 4 | 5) || !matches!(middle, 0..=2 | 6) {
                        continue;
                    }
                    let bytes =
                        [*before, &[opcode, operands, sib, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9]];
                    known += u32::from(is_known(&bytes.concat()));
                }
            }
        }
        assert!(known > 10_000, "{known}");
    }

    fn is_known(bytes: &[u8]) -> bool {
        let said = length(bytes);
        if said == Length::Unknown {
            return false;
        }
        let first = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        if first.is_invalid() || first.flow_control() == FlowControl::XbeginXabortXend {
            return false;
        }
        let goes_on = matches!(first.flow_control(), FlowControl::Next | FlowControl::Exception);
        match said {
            Length::Straight(len) => assert!(goes_on && len == first.len(), "{bytes:x?}"),
            _ => assert_ne!(first.flow_control(), FlowControl::Next, "{bytes:x?}"),
        }
        true
    }
}
