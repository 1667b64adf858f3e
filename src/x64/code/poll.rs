//! Polls: where a run that shall end is made to leave a loop.
//!
//! A poll is the first 5 bytes of whatever stands at a loop's head: a request to end replaces them by
//! a jump. It never comes back from there, so that nothing is lost; and no processor can be in the
//! middle of these bytes, since they are the beginning of one instruction. A shorter one is stretched
//! by prefixes that say nothing (a segment that 64-bit code ignores). A branch, whose prefixes do say
//! something, gets an instruction that does nothing before it.
//!
//! The first assembly of a function emits no polls, and tells what stands at each.

use super::Emitter;
use super::cold::ColdKind;
use crate::mach::{PollSite, VBlock};
use crate::x64::emit::{Asm, Label, POLL_LEN};
use crate::x64::inst::Inst;
use crate::x64::length::{Length, length};
use iced_x86::{Decoder, DecoderOptions, FlowControl};

/// A poll.
pub(super) struct Poll {
    offset: u32,
    /// Where its block ends.
    end: u32,
    /// What it leads to.
    cold: Label,
}

/// What makes the instruction at a poll long enough.
#[derive(Clone, Copy)]
pub(super) enum Stretch {
    /// So many prefixes.
    Prefixes(usize),
    /// Another instruction before it.
    Nop,
}

impl Emitter<'_> {
    /// Whether a block begins with a poll.
    pub(super) fn polls(&self, block: VBlock) -> bool {
        let code = self.plan.code;
        matches!(code.insts[code.blocks[block].insts.start as usize], Inst::Poll)
    }

    /// The poll at the beginning of a block.
    pub(super) fn poll(&mut self, block: VBlock) {
        let first = self.plan.code.blocks[block].insts.start;
        self.at(self.plan.code.locs[first as usize]);
        let (cold, _) = self.cold(ColdKind::Poll);
        let offset = self.asm.offset();
        match self.stretches.get(self.polls.len()) {
            Some(&Stretch::Prefixes(count)) => self.asm.idle_prefixes(count),
            Some(Stretch::Nop) => self.asm.nop(POLL_LEN),
            None => {}
        }
        self.polls.push(Poll { offset, end: offset, cold });
    }

    /// The block of the latest poll ends here.
    pub(super) fn end_poll(&mut self) {
        if let Some(poll) = self.polls.last_mut() {
            poll.end = self.asm.offset();
        }
    }
}

/// What each poll needs, where this is the code without them.
pub(super) fn stretches(polls: &[Poll], bytes: &[u8]) -> Vec<Stretch> {
    let stretch = |poll: &Poll| {
        let block = &bytes[poll.offset as usize..poll.end as usize];
        match length(block) {
            Length::Straight(len) => Stretch::Prefixes(POLL_LEN.saturating_sub(len)),
            Length::Branch => Stretch::Nop,
            Length::Unknown => disassembled(block),
        }
    };
    polls.iter().map(stretch).collect()
}

/// The same of a block that begins with a rare instruction, or none.
fn disassembled(block: &[u8]) -> Stretch {
    match Decoder::new(64, block, DecoderOptions::NONE).iter().next() {
        Some(first) if !first.is_invalid() && first.flow_control() == FlowControl::Next => {
            Stretch::Prefixes(POLL_LEN.saturating_sub(first.len()))
        }
        _ => Stretch::Nop,
    }
}

/// As the linker wants them.
pub(super) fn sites(polls: &[Poll], asm: &Asm) -> Vec<PollSite> {
    let site = |poll: &Poll| PollSite { offset: poll.offset, target: asm.place_of(poll.cold) };
    polls.iter().map(site).collect()
}
