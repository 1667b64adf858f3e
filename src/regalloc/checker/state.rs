//! What each place holds: a set of virtual registers for each place.
//!
//! While a block is executed the sets are in an array by place; between blocks they are one sorted
//! list of pairs, so that a state costs what it holds and meets are merges.

use crate::mach::VReg;
use smallvec::SmallVec;

/// A state between blocks: (place, virtual register), sorted.
pub(super) type Pairs = Vec<(u32, VReg)>;

pub(super) struct State {
    sets: Vec<SmallVec<[VReg; 2]>>,
    /// Places that may be non-empty, with repetitions.
    touched: Vec<u32>,
}

impl State {
    /// Nothing anywhere.
    pub fn new(places: usize) -> Self {
        Self { sets: vec![SmallVec::new(); places], touched: Vec::new() }
    }

    pub fn load(&mut self, pairs: &[(u32, VReg)]) {
        for place in self.touched.drain(..) {
            self.sets[place as usize].clear();
        }
        for &(place, vreg) in pairs {
            self.add(place, vreg);
        }
    }

    pub fn store(&mut self, pairs: &mut Pairs) {
        pairs.clear();
        self.touched.sort_unstable();
        self.touched.dedup();
        for &place in &self.touched {
            pairs.extend(self.sets[place as usize].iter().map(|&vreg| (place, vreg)));
        }
        pairs.sort_unstable();
    }

    pub fn get(&self, place: u32) -> &[VReg] {
        self.sets.get(place as usize).map_or(&[], |set| set)
    }

    pub fn holds(&self, place: u32, vreg: VReg) -> bool {
        self.get(place).contains(&vreg)
    }

    pub fn clear(&mut self, place: u32) {
        self.sets[place as usize].clear();
    }

    pub fn set(&mut self, place: u32, vreg: VReg) {
        self.clear(place);
        self.add(place, vreg);
    }

    pub fn add(&mut self, place: u32, vreg: VReg) {
        let set = &mut self.sets[place as usize];
        if set.is_empty() {
            self.touched.push(place);
        }
        if !set.contains(&vreg) {
            set.push(vreg);
        }
    }

    pub fn copy(&mut self, to: u32, from: u32) {
        let set = self.sets[from as usize].clone();
        if !set.is_empty() {
            self.touched.push(to);
        }
        self.sets[to as usize] = set;
    }

    pub fn retain(&mut self, keep: impl Fn(u32, VReg) -> bool) {
        for &place in &self.touched {
            self.sets[place as usize].retain(|vreg| keep(place, *vreg));
        }
    }

    /// All at once: keeps what `keep` says and names each argument by its parameter, too.
    pub fn rename(
        &mut self,
        keep: impl Fn(VReg) -> bool,
        renamed: impl Iterator<Item = (VReg, VReg)> + Clone,
    ) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let mut by_arg: Vec<(VReg, VReg)> = renamed.collect();
        by_arg.sort_unstable();
        for &place in &self.touched {
            let old = std::mem::take(&mut self.sets[place as usize]);
            let set = &mut self.sets[place as usize];
            for vreg in old {
                if keep(vreg) {
                    set.push(vreg);
                }
                let first = by_arg.partition_point(|&(arg, _)| arg < vreg);
                let params = by_arg[first..].iter().take_while(|&&(arg, _)| arg == vreg);
                set.extend(params.map(|&(_, param)| param));
            }
        }
    }

    /// Intersects `entry` with this state (`None` is everything); whether that changed it.
    pub fn meet_into(&mut self, entry: &mut Option<Pairs>) -> bool {
        match entry {
            None => {
                let mut pairs = Vec::new();
                self.store(&mut pairs);
                *entry = Some(pairs);
                true
            }
            Some(pairs) => {
                let before = pairs.len();
                pairs.retain(|&(place, vreg)| self.holds(place, vreg));
                pairs.len() != before
            }
        }
    }

    pub fn describe(&self, place: u32) -> String {
        match self.get(place) {
            [] => "nothing".into(),
            held => held.iter().map(VReg::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}
