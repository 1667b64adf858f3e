//! How Toy values lie in memory: the one layout that machine code and interpreters share.
//!
//! Every value is a 64-bit word: an int, the bits of a float, a bool as 0 or 1, a byte as 0 to 255,
//! a reference as the address of an object or 0 for nil. An object is a header word and its parts:
//!
//! ```text
//! Str      header | len         | bytes …                  immutable
//! Array    header | len         | data (a Buffer, or 0)    grows by taking a larger buffer
//! Buffer   header | capacity    | elements …               elements past the array's len: 0 if Ref
//! Struct   header | field 0     | field 1 …
//! Closure  header | code        | capture 0 …
//! ```
//!
//! Only its array refers to a buffer: an address of a buffer that was read before a `push` to the array,
//! or before an allocation if it is in no stack map, is stale after it. Whoever makes a buffer of
//! references writes all its elements, and whoever pops one writes 0 in its place.
//!
//! The low half of the header is the type id (see [`crate::types`]), the high half belongs to the
//! collector. A new object in the nursery has nothing in its high half, so that the header which
//! machine code stores is simply the type id.

/// The kind of a field, an element, a capture or a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Slot {
    /// A 64-bit integer.
    Int = 0,
    /// The bits of a binary64.
    Float = 1,
    /// 0 or 1; one byte in arrays.
    Bool = 2,
    /// 0 to 255; one byte in arrays.
    Byte = 3,
    /// 0 or the address of an object.
    Ref = 4,
}

impl Slot {
    /// All kinds in the order of their numbers.
    pub const ALL: [Slot; 5] = [Slot::Int, Slot::Float, Slot::Bool, Slot::Byte, Slot::Ref];

    /// The kind with this number; `Int` for a number that has none.
    #[inline]
    pub const fn from_number(number: u64) -> Slot {
        match number {
            1 => Slot::Float,
            2 => Slot::Bool,
            3 => Slot::Byte,
            4 => Slot::Ref,
            _ => Slot::Int,
        }
    }

    /// Bytes of an array element.
    #[inline]
    pub const fn element_size(self) -> u64 {
        1 << self.element_shift()
    }

    /// Base-two logarithm of [`Slot::element_size`].
    #[inline]
    pub const fn element_shift(self) -> u32 {
        match self {
            Slot::Bool | Slot::Byte => 0,
            Slot::Int | Slot::Float | Slot::Ref => 3,
        }
    }
}

/// Bytes of a word.
pub const WORD: u64 = 8;
/// Where an object's header is.
pub const HEADER: u64 = 0;
/// Where a string's length is.
pub const STR_LEN: u64 = 8;
/// Where a string's bytes begin.
pub const STR_BYTES: u64 = 16;
/// Where an array's length is.
pub const ARRAY_LEN: u64 = 8;
/// Where an array's reference to its buffer is.
pub const ARRAY_DATA: u64 = 16;
/// Bytes of an array object (its buffer is another object).
pub const ARRAY_SIZE: u64 = 24;
/// Where a buffer's capacity, in elements, is.
pub const BUFFER_CAPACITY: u64 = 8;
/// Where a buffer's elements begin.
pub const BUFFER_ELEMENTS: u64 = 16;
/// Where a struct's fields begin, 8 bytes each.
pub const STRUCT_FIELDS: u64 = 8;
/// Where a closure's code word is: a machine address, or a number that the interpreter chose.
pub const CLOSURE_CODE: u64 = 8;
/// Where a closure's captures begin, 8 bytes each.
pub const CLOSURE_CAPTURES: u64 = 16;

/// The byte of the header that holds [`LOG_MASK`].
pub const HEADER_LOG_BYTE: u64 = 4;
/// Set in an old object that is not in the remembered set yet. After a reference was stored into
/// `obj`, machine code does `test byte [obj + HEADER_LOG_BYTE], LOG_MASK; jnz → remember(obj)`.
pub const LOG_MASK: u8 = 1;

/// Header bit: [`LOG_MASK`] in its byte.
pub const LOG: u64 = 1 << 32;
/// Header bit: reached by the collection whose sense of the bit this is (it flips each time).
pub const MARK: u64 = 1 << 33;
/// Header bit: an object of the large object space.
pub const LARGE: u64 = 1 << 34;
/// Header bit: a large object that has not survived a collection yet.
pub const YOUNG: u64 = 1 << 35;
/// Header bit: a static object, which the collector leaves alone.
pub const IMMORTAL: u64 = 1 << 36;
/// Header bit: the object moved; the rest of the word is its new address.
pub const FORWARDED: u64 = 1 << 63;

/// The type id in a header.
#[inline]
pub const fn type_id(header: u64) -> u32 {
    header as u32
}

/// `size` rounded up to whole words.
#[inline]
pub const fn round_up(size: u64) -> u64 {
    (size + 7) & !7
}

/// Bytes of a string object of `len` bytes, or `None` where that is more than any memory has.
#[inline]
pub const fn str_size(len: u64) -> Option<u64> {
    if len > MAX_BYTES { None } else { Some(STR_BYTES + round_up(len)) }
}

/// Bytes of a buffer of `capacity` elements, or `None` where that is more than any memory has.
#[inline]
pub const fn buffer_size(slot: Slot, capacity: u64) -> Option<u64> {
    if capacity > MAX_BYTES >> slot.element_shift() {
        None
    } else {
        Some(BUFFER_ELEMENTS + round_up(capacity << slot.element_shift()))
    }
}

/// No object is larger: beyond the address space of the processor.
const MAX_BYTES: u64 = 1 << 47;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(str_size(0), Some(16));
        assert_eq!(str_size(9), Some(32));
        assert_eq!(str_size(u64::MAX), None);
        assert_eq!(buffer_size(Slot::Byte, 3), Some(24));
        assert_eq!(buffer_size(Slot::Ref, 3), Some(40));
        assert_eq!(buffer_size(Slot::Ref, 1 << 60), None);
        for slot in Slot::ALL {
            assert_eq!(Slot::from_number(slot as u64), slot);
        }
    }
}
