//! Where each virtual register is at each position, when the scan is over.

use super::intervals::{Home, Intervals};
use super::position::Pos;
use crate::buffer::Buffer;
use crate::entity::Entity;
use crate::mach::VReg;
use crate::pooled;

/// A stretch of a virtual register's life in one home.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Where it begins.
    pub start: Pos,
    /// Where it has ended.
    pub end: Pos,
    /// Where the value is.
    pub home: Home,
    /// Whether the value comes from the stay before, rather than over an edge or from its
    /// definition.
    pub continues: bool,
}

pooled! { Stay }

/// The stays of all virtual registers.
#[derive(Debug)]
pub struct Homes {
    stays: Buffer<Stay>,
    starts: Buffer<u32>,
}

impl Homes {
    /// Reads the result of the scan.
    pub fn new(intervals: &Intervals, vregs: usize) -> Self {
        let mut homes = Self {
            stays: Buffer::with_capacity(intervals.len()),
            starts: Buffer::with_capacity(vregs + 1),
        };
        for vreg in (0..vregs).map(VReg::new) {
            homes.starts.push(homes.stays.len() as u32);
            homes.stays.extend(intervals.pieces_of(vreg).map(|piece| {
                let interval = &intervals[piece];
                Stay {
                    start: interval.start,
                    end: interval.end,
                    home: interval.home,
                    continues: intervals.begins_within(piece),
                }
            }));
        }
        homes.starts.push(homes.stays.len() as u32);
        homes
    }

    /// The stays of a virtual register, in order.
    pub fn of(&self, vreg: VReg) -> &[Stay] {
        let (start, end) = (self.starts[vreg.index()], self.starts[vreg.index() + 1]);
        &self.stays[start as usize..end as usize]
    }

    /// Where a virtual register is at a position at which it is live.
    pub fn at(&self, vreg: VReg, pos: Pos) -> Home {
        match self.of(vreg) {
            [] => Home::Open,
            [only] => only.home,
            stays => stays[stays.partition_point(|stay| stay.end <= pos).min(stays.len() - 1)].home,
        }
    }

    /// Whether it has any home: it is used.
    pub fn has(&self, vreg: VReg) -> bool {
        !self.of(vreg).is_empty()
    }
}
