//! Watching an algorithm at work.
//!
//! An algorithm that can be watched has a type of events and hands each to a watcher. Where nobody
//! watches the watcher is `()`: the event is not even made, and nothing is left of it in the code.
//! A `Vec` writes the events down.

/// Somebody who may want to know.
pub trait Watch<E> {
    /// Something happens; `event` says what, and is called by those who want to know.
    fn see(&mut self, event: impl FnOnce() -> E);
}

impl<E> Watch<E> for () {
    #[inline(always)]
    fn see(&mut self, _: impl FnOnce() -> E) {}
}

impl<E> Watch<E> for Vec<E> {
    fn see(&mut self, event: impl FnOnce() -> E) {
        self.push(event());
    }
}
