//! The code map: for each call site in machine code, its place in the source and the slots of its
//! frame that hold references; and the walk over the frames of the Toy stack.
//!
//! Frames have a fixed size after the prologue and no frame pointer. At a call site with stack
//! pointer `sp` the frame is `[sp, sp + frame_size)`, the return address to the caller stands at
//! `[sp + frame_size]`, and the caller's stack pointer at its call is `sp + frame_size + 8`. The walk
//! begins with the stack pointer that Toy code stored before it called the runtime, and ends at a
//! return address that is in no range.

use crate::raw::load;
use crate::trap::Frame;

/// One function's machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRange {
    /// The first byte.
    pub start: u64,
    /// The first byte behind.
    pub end: u64,
    /// The function's number.
    pub function: u32,
    /// Bytes between the stack pointer at calls and the return address.
    pub frame_size: u32,
}

/// One call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The return address.
    pub address: u64,
    /// The compiler's number of the place in the source.
    pub loc: u32,
    /// Offsets from the stack pointer at the call of the slots that hold live references. They may
    /// lie beyond the frame, in arguments that came on the stack; a slot may be told twice.
    pub refs: Vec<u32>,
}

/// A function's code with its sites, packed: `refs[sites[i].first .. sites[i + 1].first]`.
#[derive(Debug)]
struct Entry {
    range: CodeRange,
    sites: Vec<PackedSite>,
    refs: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct PackedSite {
    offset: u32,
    loc: u32,
    first: u32,
}

/// What the map knows of a call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// The function's number.
    pub function: u32,
    /// Bytes between the stack pointer and the return address.
    pub frame_size: u32,
    /// The compiler's number of the place in the source.
    pub loc: u32,
    /// Offsets of the slots with live references.
    pub refs: &'a [u32],
    /// Whether there is a site with exactly this return address, so that `refs` is the truth.
    pub exact: bool,
}

/// All machine code that can be on the stack.
#[derive(Debug, Default)]
pub struct CodeMap {
    entries: Vec<Entry>,
}

impl CodeMap {
    /// A map without code.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function's code, which overlaps no other, and its call sites.
    pub fn add(&mut self, range: CodeRange, mut sites: Vec<Site>) {
        sites.sort_unstable_by_key(|site| site.address);
        let mut refs = Vec::new();
        let packed = sites
            .iter()
            .map(|site| {
                let first = refs.len() as u32;
                refs.extend_from_slice(&site.refs);
                PackedSite { offset: (site.address - range.start) as u32, loc: site.loc, first }
            })
            .collect();
        let at = self.entries.partition_point(|entry| entry.range.start < range.start);
        self.entries.insert(at, Entry { range, sites: packed, refs });
    }

    /// Takes out the code that begins at `start`; whether there was some.
    pub fn remove(&mut self, start: u64) -> bool {
        match self.entries.binary_search_by_key(&start, |entry| entry.range.start) {
            Ok(at) => {
                self.entries.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// The call site with this return address. A return address in known code without a site
    /// counts as a site without references, at the place of the nearest site before it.
    pub fn find(&self, address: u64) -> Option<Found<'_>> {
        let after = self.entries.partition_point(|entry| entry.range.start < address);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        if address > entry.range.end {
            return None;
        }
        let offset = (address - entry.range.start) as u32;
        let at = entry.sites.partition_point(|site| site.offset <= offset);
        let CodeRange { function, frame_size, .. } = entry.range;
        let Some(site) = at.checked_sub(1).map(|at| entry.sites[at]) else {
            return Some(Found { function, frame_size, loc: 0, refs: &[], exact: false });
        };
        let exact = site.offset == offset;
        let refs = if exact {
            let end = entry.sites.get(at).map_or(entry.refs.len(), |next| next.first as usize);
            &entry.refs[site.first as usize..end]
        } else {
            &[]
        };
        Some(Found { function, frame_size, loc: site.loc, refs, exact })
    }

    /// The frames of the Toy stack, innermost first.
    ///
    /// # Safety
    /// `sp` is what Toy code stored as its stack pointer before the call that is running, or 0 where
    /// none is on the stack.
    pub unsafe fn walk(&self, sp: u64) -> Frames<'_> {
        // SAFETY: the call that is running pushed its return address there.
        let return_address = if sp == 0 { 0 } else { unsafe { load(sp - 8) } };
        Frames { map: self, sp, return_address, latest: None }
    }
}

/// A frame of Toy code at a call.
#[derive(Clone, Copy, Debug)]
pub struct WalkedFrame<'a> {
    /// The stack pointer at the call.
    pub sp: u64,
    /// What is known of the call site.
    pub site: Found<'a>,
}

impl WalkedFrame<'_> {
    /// The function and the place, as traps show them.
    pub fn frame(&self) -> Frame {
        Frame { function: self.site.function, loc: self.site.loc }
    }
}

/// The walk over the frames.
#[derive(Debug)]
pub struct Frames<'a> {
    map: &'a CodeMap,
    sp: u64,
    return_address: u64,
    /// The latest look-up: in deep recursion the next one is mostly the same.
    latest: Option<(u64, Found<'a>)>,
}

impl<'a> Iterator for Frames<'a> {
    type Item = WalkedFrame<'a>;

    fn next(&mut self) -> Option<WalkedFrame<'a>> {
        let site = match self.latest {
            Some((address, site)) if address == self.return_address => site,
            _ => self.map.find(self.return_address)?,
        };
        self.latest = Some((self.return_address, site));
        let frame = WalkedFrame { sp: self.sp, site };
        let above = self.sp + u64::from(site.frame_size);
        // SAFETY: the frame is one of Toy code, with its return address behind it.
        self.return_address = unsafe { load(above) };
        self.sp = above + 8;
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> CodeMap {
        let mut map = CodeMap::new();
        let site = |address, loc, refs: &[u32]| Site { address, loc, refs: refs.to_vec() };
        let range =
            |start, end, function, frame_size| CodeRange { start, end, function, frame_size };
        map.add(range(300, 400, 3, 16), vec![site(350, 31, &[8])]);
        map.add(
            range(100, 200, 1, 8),
            vec![site(160, 12, &[0, 8]), site(120, 11, &[]), site(200, 13, &[4])],
        );
        map.add(range(200, 300, 2, 24), vec![site(205, 21, &[16])]);
        map
    }

    #[test]
    fn finds_sites() {
        let map = map();
        let found = |address| map.find(address).map(|f| (f.function, f.loc, f.refs.to_vec()));
        assert_eq!(found(120), Some((1, 11, vec![])));
        assert_eq!(found(160), Some((1, 12, vec![0, 8])));
        assert_eq!(found(161), Some((1, 12, vec![])));
        assert_eq!(found(200), Some((1, 13, vec![4])));
        assert_eq!(found(205), Some((2, 21, vec![16])));
        assert_eq!(found(350), Some((3, 31, vec![8])));
        assert_eq!(map.find(160).map(|f| f.exact), Some(true));
        assert_eq!(map.find(161).map(|f| f.exact), Some(false));
        assert_eq!(found(99), None);
        assert_eq!(found(401), None);
    }

    #[test]
    fn removes() {
        let mut map = map();
        assert!(map.remove(200));
        assert!(!map.remove(200));
        assert_eq!(map.find(205), None);
        assert_eq!(map.find(350).map(|f| f.loc), Some(31));
    }

    #[test]
    fn walks_frames() {
        let map = map();
        // Innermost: function 2 (24 bytes), called by 1 (8 bytes), called by 1, called by the host.
        let stack: Vec<u64> = vec![205, 1, 2, 3, 160, 4, 160, 5, 9999];
        let base = stack.as_ptr().expose_provenance() as u64;
        // SAFETY: the vector imitates a Toy stack.
        let frames: Vec<_> =
            unsafe { map.walk(base + 8) }.map(|f| (f.sp - base, f.frame())).collect();
        let frame = |function, loc| Frame { function, loc };
        assert_eq!(frames, [(8, frame(2, 21)), (40, frame(1, 12)), (56, frame(1, 12))]);
        // SAFETY: nothing is read.
        assert_eq!(unsafe { map.walk(0) }.count(), 0);
    }
}
