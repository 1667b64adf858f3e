//! The census: which object types have objects that a program can still reach. It tells a session
//! whose code may still be called. Nothing moves, nothing is freed; for when no Toy code runs.

use std::collections::HashSet;

use crate::layout::{BUFFER_CAPACITY, BUFFER_ELEMENTS, HEADER, Slot, WORD, type_id};
use crate::raw::load;
use crate::runtime::Runtime;
use crate::types::Shape;

impl Runtime {
    /// For each type, by its number: whether an object of it can be reached from the globals and the
    /// references that Rust code holds. Static objects count where they are reached.
    pub fn live_types(&self) -> Vec<bool> {
        let mut live = vec![false; self.types.count() as usize];
        let globals = (0..).zip(&self.globals).filter(|&(_, &slot)| slot == Slot::Ref);
        let mut pending: Vec<u64> = globals.map(|(index, _)| self.global(index)).collect();
        pending.extend((0..self.roots.len()).map(|index| self.roots.get(index)));
        let mut seen = HashSet::new();
        while let Some(object) = pending.pop() {
            if object == 0 || !seen.insert(object) {
                continue;
            }
            // SAFETY: an object that can be reached; its type says where its references are, and each
            // of them is nil or such an object.
            unsafe {
                let id = type_id(load(object + HEADER));
                if let Some(live) = live.get_mut(id as usize) {
                    *live = true;
                }
                match self.types.shape(id) {
                    Shape::Fixed { first, count, .. } => {
                        let offsets = self.types.offsets(first, count).iter();
                        pending.extend(offsets.map(|&offset| load(object + u64::from(offset))));
                    }
                    Shape::Buffer(Slot::Ref) => {
                        let first = object + BUFFER_ELEMENTS;
                        let elements = 0..load(object + BUFFER_CAPACITY);
                        pending.extend(elements.map(|i| load(first + WORD * i)));
                    }
                    Shape::Buffer(_) | Shape::Str => {}
                }
            }
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use crate::types::{STR, TypeInfo};
    use crate::{Config, Runtime, Slot};

    #[test]
    fn counts_what_can_be_reached() {
        let mut rt = Runtime::new(Config::default()).unwrap();
        let closure = |captures| TypeInfo::Closure { name: None, function: 0, captures };
        let (used, lost) = (
            rt.register_type(closure(vec![Slot::Ref])),
            rt.register_type(closure(vec![Slot::Int])),
        );
        let global = rt.declare_global(Slot::Ref).unwrap();
        let text = rt.new_str(b"text").unwrap();
        let value = rt.alloc_closure(used, 0, &[text]).unwrap();
        let array = rt.array_fill(Slot::Ref, value, 3).unwrap();
        rt.set_global(global, array);
        rt.alloc_closure(lost, 0, &[1]).unwrap();
        let live = rt.live_types();
        assert!(live[used as usize] && live[STR as usize] && !live[lost as usize]);
        rt.set_global(global, 0);
        assert!(rt.live_types().iter().all(|&live| !live));
    }
}
