//! Memory: a table of regions.

use super::{Interpreter, Run, Value, error};
use toyjit_runtime::Trap;

impl Interpreter<'_> {
    pub(super) fn alloc(&mut self, count: i64) -> Run<Value> {
        let mut elements = Vec::new();
        let count = usize::try_from(count).map_err(|_| Trap::Memory)?;
        elements.try_reserve_exact(count).map_err(|_| Trap::Memory)?;
        elements.resize(count, Value::Nothing);
        let region = u32::try_from(self.memory.len()).map_err(|_| Trap::Memory)?;
        self.memory.push(Some(elements.into_boxed_slice()));
        self.live += 1;
        Ok(Value::Pointer(region, 0))
    }

    pub(super) fn free(&mut self, region: u32, index: i64) -> Run<()> {
        let region = &mut self.memory[region as usize];
        if region.is_none() {
            return error("free of memory that was freed before");
        }
        if index != 0 {
            return error(format!("free of a pointer to element {index}, not to the first"));
        }
        *region = None;
        self.live -= 1;
        Ok(())
    }

    pub(super) fn element(&mut self, region: u32, index: i64) -> Run<&mut Value> {
        let Some(elements) = &mut self.memory[region as usize] else {
            return error("use of memory that was freed");
        };
        let len = elements.len();
        match usize::try_from(index).ok().and_then(|index| elements.get_mut(index)) {
            Some(element) => Ok(element),
            None => error(format!("element {index} of a region of {len} elements")),
        }
    }
}
