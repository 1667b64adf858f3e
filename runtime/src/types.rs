//! The table of object types: what each type id in a header stands for.
//!
//! Strings, arrays and buffers have fixed ids, structs and closures are registered. Beside the
//! description for people the table keeps each type's `Shape`, all that the collector asks for:
//! its size and which of its words are references.

use crate::layout::{ARRAY_DATA, ARRAY_SIZE, CLOSURE_CAPTURES, STRUCT_FIELDS, Slot, WORD};

/// The type id of strings.
pub const STR: u32 = 0;
/// The type id of arrays of ints; the other kinds follow in the order of `Slot`.
pub const FIRST_ARRAY: u32 = 1;
/// The type id of buffers of ints; the other kinds follow in the order of `Slot`.
pub const FIRST_BUFFER: u32 = 6;
/// The type id of the first registered type.
pub const FIRST_REGISTERED: u32 = 11;

/// The type id of arrays with such elements.
#[inline]
pub const fn array_type(slot: Slot) -> u32 {
    FIRST_ARRAY + slot as u32
}

/// The type id of buffers with such elements.
#[inline]
pub const fn buffer_type(slot: Slot) -> u32 {
    FIRST_BUFFER + slot as u32
}

/// The kind of the elements of an array type (or buffer type).
#[inline]
pub const fn element_slot(type_id: u32) -> Slot {
    Slot::from_number(((type_id.wrapping_sub(FIRST_ARRAY)) % 5) as u64)
}

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeInfo {
    /// A string.
    Str,
    /// An array with elements of this kind.
    Array(Slot),
    /// The elements of such an array.
    Buffer(Slot),
    /// A struct.
    Struct {
        /// Its name.
        name: String,
        /// Names and kinds of its fields in order.
        fields: Vec<(String, Slot)>,
    },
    /// The function values of one function.
    Closure {
        /// The function's name, if it has one.
        name: Option<String>,
        /// The function's number.
        function: u32,
        /// The kinds of its captures in order.
        captures: Vec<Slot>,
    },
}

/// How the collector sees a type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A string: its length says how large it is; no references.
    Str,
    /// A buffer: its capacity says how large it is; all elements are references, or none.
    Buffer(Slot),
    /// Anything else: so many bytes, references at the listed offsets.
    Fixed {
        /// Bytes of the object.
        size: u32,
        /// Where the type's part of the table of offsets begins.
        first: u32,
        /// How many references there are.
        count: u32,
    },
}

/// The types of a program.
#[derive(Clone, Debug)]
pub struct TypeTable {
    infos: Vec<TypeInfo>,
    shapes: Vec<Shape>,
    offsets: Vec<u32>,
}

impl TypeTable {
    /// The table of the fixed types.
    pub fn new() -> Self {
        let mut table = Self { infos: Vec::new(), shapes: Vec::new(), offsets: Vec::new() };
        table.register(TypeInfo::Str);
        for slot in Slot::ALL {
            table.register(TypeInfo::Array(slot));
        }
        for slot in Slot::ALL {
            table.register(TypeInfo::Buffer(slot));
        }
        table
    }

    /// Adds a type; its id is the answer.
    pub fn register(&mut self, info: TypeInfo) -> u32 {
        let id = self.infos.len() as u32;
        let first = self.offsets.len() as u32;
        let mut fixed = |size: u64, start: u64, slots: &mut dyn Iterator<Item = Slot>| {
            let refs = slots.enumerate().filter(|&(_, slot)| slot == Slot::Ref);
            self.offsets.extend(refs.map(|(i, _)| (start + WORD * i as u64) as u32));
            Shape::Fixed { size: size as u32, first, count: self.offsets.len() as u32 - first }
        };
        let shape = match &info {
            TypeInfo::Str => Shape::Str,
            TypeInfo::Buffer(slot) => Shape::Buffer(*slot),
            TypeInfo::Array(_) => fixed(ARRAY_SIZE, ARRAY_DATA, &mut [Slot::Ref].into_iter()),
            TypeInfo::Struct { fields, .. } => fixed(
                STRUCT_FIELDS + WORD * fields.len() as u64,
                STRUCT_FIELDS,
                &mut fields.iter().map(|field| field.1),
            ),
            TypeInfo::Closure { captures, .. } => fixed(
                CLOSURE_CAPTURES + WORD * captures.len() as u64,
                CLOSURE_CAPTURES,
                &mut captures.iter().copied(),
            ),
        };
        self.infos.push(info);
        self.shapes.push(shape);
        id
    }

    /// How many types there are: the id of the next one.
    #[inline]
    pub fn count(&self) -> u32 {
        self.infos.len() as u32
    }

    /// What a type is.
    #[inline]
    pub fn info(&self, type_id: u32) -> &TypeInfo {
        &self.infos[type_id as usize]
    }

    /// Bytes of a struct, closure or array object of this type.
    #[inline]
    pub fn fixed_size(&self, type_id: u32) -> u64 {
        match self.shapes[type_id as usize] {
            Shape::Fixed { size, .. } => u64::from(size),
            Shape::Str | Shape::Buffer(_) => 16,
        }
    }

    /// The offsets of the references in a struct, closure or array object of this type.
    #[inline]
    pub fn references(&self, type_id: u32) -> &[u32] {
        match self.shapes[type_id as usize] {
            Shape::Fixed { first, count, .. } => self.offsets(first, count),
            Shape::Str | Shape::Buffer(_) => &[],
        }
    }

    /// How the collector sees a type.
    #[inline]
    pub(crate) fn shape(&self, type_id: u32) -> Shape {
        self.shapes[type_id as usize]
    }

    /// The offsets of the references in an object of a fixed shape.
    #[inline]
    pub(crate) fn offsets(&self, first: u32, count: u32) -> &[u32] {
        &self.offsets[first as usize..(first + count) as usize]
    }
}

impl Default for TypeTable {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_ids() {
        let table = TypeTable::new();
        assert_eq!(*table.info(STR), TypeInfo::Str);
        for slot in Slot::ALL {
            assert_eq!(*table.info(array_type(slot)), TypeInfo::Array(slot));
            assert_eq!(*table.info(buffer_type(slot)), TypeInfo::Buffer(slot));
            assert_eq!(element_slot(array_type(slot)), slot);
            assert_eq!(element_slot(buffer_type(slot)), slot);
        }
    }

    #[test]
    fn registered_shapes() {
        let mut table = TypeTable::new();
        let fields = [("a", Slot::Int), ("b", Slot::Ref), ("c", Slot::Bool), ("d", Slot::Ref)];
        let fields = fields.map(|(name, slot)| (name.to_owned(), slot)).to_vec();
        let id = table.register(TypeInfo::Struct { name: "S".into(), fields });
        assert_eq!(id, FIRST_REGISTERED);
        let Shape::Fixed { size, first, count } = table.shape(id) else { panic!("a struct") };
        assert_eq!((size, table.offsets(first, count)), (40, &[16, 32][..]));
        let closure = TypeInfo::Closure { name: None, function: 7, captures: vec![Slot::Ref] };
        let id = table.register(closure);
        let Shape::Fixed { size, first, count } = table.shape(id) else { panic!("a closure") };
        assert_eq!((size, table.offsets(first, count)), (24, &[16][..]));
    }
}
