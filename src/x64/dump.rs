//! Machine instructions as text: before allocation over virtual registers, after it over places,
//! with the allocator's edits between.

use super::inst::{Addr, Base, Callee, Compare, CompareKind, Inst, Src};
use super::regs::name as reg_name;
use crate::mach::{Allocation, Edit, PReg, Place, ProgPoint, Side, VBlock, VCode, VReg};
use std::fmt::Write;

/// A function as selected.
pub fn vcode(code: &VCode<Inst>) -> String {
    text_of(&lines(code, None))
}

/// A function as allocated.
pub fn allocated(code: &VCode<Inst>, allocation: &Allocation) -> String {
    text_of(&lines(code, Some(allocation)))
}

fn text_of(lines: &[Line]) -> String {
    lines.iter().fold(String::new(), |mut out, line| {
        out.push_str(&line.text);
        out.push('\n');
        out
    })
}

/// A line.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// What it shows.
    pub what: What,
}

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The function begins.
    Function,
    /// A block begins.
    Block(VBlock),
    /// An instruction.
    Inst(u32),
    /// Something that the allocator has added before or after an instruction.
    Edit(u32),
    /// The references that live across an instruction.
    Map(u32),
    /// The way from a block along the edge with this number; or a move on it.
    Edge(VBlock, u32),
}

/// A function line by line, as selected or as allocated.
pub fn lines(code: &VCode<Inst>, allocation: Option<&Allocation>) -> Vec<Line> {
    let mut out = vec![Line { text: format!("{}:", code.name), what: What::Function }];
    let mut say = |what, text| out.push(Line { text, what });
    for (block, data) in code.blocks.iter() {
        let params: Vec<String> = data.params.iter().map(VReg::to_string).collect();
        let params =
            if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let cold = if data.cold { " cold" } else { "" };
        let depth = match data.loop_depth {
            0 => String::new(),
            depth => format!(" depth {depth}"),
        };
        say(What::Block(block), format!("{block}{params}:{depth}{cold}"));
        for index in data.insts.clone() {
            let edits = |side| {
                let of = allocation.map_or(&[][..], |allocation| edits_at(allocation, index, side));
                of.iter().map(|(_, edit)| format!("        {}", edit_text(*edit, code)))
            };
            edits(Side::Before).for_each(|text| say(What::Edit(index), text));
            let mut line = match allocation {
                None => text(&code.insts[index as usize], &|vreg: VReg| vreg.to_string()),
                Some(allocation) => {
                    let mut places = allocation.of(index as usize).iter().copied();
                    let placed = code.insts[index as usize]
                        .map(&mut |_, _, _| places.next().unwrap_or(Place::Reg(PReg(0))));
                    text(&placed, &place)
                }
            };
            if index + 1 == data.insts.end {
                line.push_str(&successors(code, block, allocation.is_none()));
            }
            say(What::Inst(index), format!("    {line}"));
            edits(Side::After).for_each(|text| say(What::Edit(index), text));
            let maps = allocation.map_or(&[][..], |allocation| &allocation.stack_maps);
            if let Ok(at) = maps.binary_search_by_key(&index, |map| map.0)
                && !maps[at].1.is_empty()
            {
                let slots: Vec<String> = maps[at].1.iter().map(ToString::to_string).collect();
                say(What::Map(index), format!("        ; references in {}", slots.join(", ")));
            }
        }
        for moves in allocation.iter().flat_map(|a| &a.edge_moves).filter(|m| m.from == block) {
            let target = data.succs[moves.succ as usize].target;
            let what = What::Edge(block, moves.succ);
            say(what, format!("      on the way to {target}:"));
            for edit in &moves.edits {
                say(what, format!("        {}", edit_text(*edit, code)));
            }
        }
    }
    out
}

fn successors(code: &VCode<Inst>, block: VBlock, with_args: bool) -> String {
    let mut out = String::new();
    for (i, edge) in code.blocks[block].succs.iter().enumerate() {
        let _ = write!(out, "{}{}", if i == 0 { " -> " } else { ", " }, edge.target);
        if with_args && !edge.args.is_empty() {
            let args: Vec<String> = edge.args.iter().map(VReg::to_string).collect();
            let _ = write!(out, "({})", args.join(", "));
        }
    }
    out
}

fn edits_at(allocation: &Allocation, inst: u32, side: Side) -> &[(ProgPoint, Edit)] {
    let point = ProgPoint { inst, side };
    let from = allocation.edits.partition_point(|(at, _)| *at < point);
    let to = from + allocation.edits[from..].partition_point(|(at, _)| *at == point);
    &allocation.edits[from..to]
}

/// Code that the allocator adds.
pub fn edit_text(edit: Edit, code: &VCode<Inst>) -> String {
    match edit {
        Edit::Move { to, from } => format!("{} = {}", place(to), place(from)),
        Edit::Remat { to, inst } => {
            let again = code.insts[inst as usize].map(&mut |_, _, _| Place::Reg(to));
            text(&again, &place)
        }
    }
}

/// A place.
pub fn place(place: Place) -> String {
    match place {
        Place::Reg(reg) => reg_name(reg).to_owned(),
        Place::Slot(slot) => slot.to_string(),
    }
}

/// One instruction; `name` tells the names of its registers.
pub fn text<R: Copy>(inst: &Inst<R>, name: &dyn Fn(R) -> String) -> String {
    let addr = |a: &Addr<R>| addr_text(a, name);
    let src = |s: &Src<R>| src_text(s, name);
    let compare = |c: &Compare<R>| compare_text(c, name);
    let fixed = |list: &[(R, PReg)]| -> String {
        let items = list.iter().map(|&(r, at)| format!("{}@{}", name(r), reg_name(at)));
        items.collect::<Vec<_>>().join(", ")
    };
    let lower = |x: &dyn std::fmt::Debug| format!("{x:?}").to_lowercase();
    match inst {
        Inst::Args { defs } => format!("{} = args", fixed(defs)).trim_start().to_owned(),
        Inst::Copy { dst, src: from, .. } => format!("{} = {}", name(*dst), name(*from)),
        Inst::Imm { dst, value } => format!("{} = {value}", name(*dst)),
        Inst::FloatImm { dst, bits } => format!("{} = {:?}", name(*dst), f64::from_bits(*bits)),
        Inst::Static { dst, target } => format!("{} = address {target:?}", name(*dst)),
        Inst::Alu { op, dst, lhs, rhs } => {
            format!("{} = {} {}, {}", name(*dst), lower(op), name(*lhs), src(rhs))
        }
        Inst::AluHalf { op, dst, lhs, rhs } => {
            format!("{} = half {} {}, {}", name(*dst), lower(op), name(*lhs), src(rhs))
        }
        Inst::AluMem { op, addr: to, rhs } => format!("{} {}, {}", lower(op), addr(to), src(rhs)),
        Inst::MulImm { dst, src: from, imm } => {
            format!("{} = mul {}, {imm}", name(*dst), src(from))
        }
        Inst::Lea { dst, addr: of } => format!("{} = lea {}", name(*dst), addr(of)),
        Inst::Unary { op, dst, src: from } => {
            format!("{} = {} {}", name(*dst), lower(op), name(*from))
        }
        Inst::Abs { dst, src: from } => format!("{} = abs {}", name(*dst), name(*from)),
        Inst::Zext { width, dst, src: from } => {
            format!("{} = low {} {}", name(*dst), lower(width), name(*from))
        }
        Inst::Shift { op, dst, src: from, count } => {
            format!("{} = {} {}, {count}", name(*dst), lower(op), name(*from))
        }
        Inst::ShiftCl { op, dst, src: from, count }
        | Inst::ShiftX { op, dst, src: from, count } => {
            format!("{} = {} {}, {}", name(*dst), lower(op), name(*from), name(*count))
        }
        Inst::BitCount { op, dst, src: from } => {
            format!("{} = {} {}", name(*dst), lower(op), src(from))
        }
        Inst::MulHigh { dst, lhs, rhs } => {
            format!("{} = mulhigh {}, {}", name(*dst), name(*lhs), src(rhs))
        }
        Inst::Div { dst, lhs, rhs, .. } => {
            format!("{} = div {}, {}", name(*dst), name(*lhs), name(*rhs))
        }
        Inst::Rem { dst, lhs, rhs } => {
            format!("{} = rem {}, {}", name(*dst), name(*lhs), name(*rhs))
        }
        Inst::Load { width, dst, addr: from } => {
            format!("{} = load {} {}", name(*dst), lower(width), addr(from))
        }
        Inst::Store { width, addr: to, src: from } => {
            format!("store {} {}, {}", lower(width), addr(to), src(from))
        }
        Inst::FloatLoad { dst, addr: from } => format!("{} = fload {}", name(*dst), addr(from)),
        Inst::FloatStore { addr: to, src: from } => {
            format!("fstore {}, {}", addr(to), name(*from))
        }
        Inst::FloatAlu { op, dst, lhs, rhs } => {
            format!("{} = f{} {}, {}", name(*dst), lower(op), name(*lhs), src(rhs))
        }
        Inst::FloatSign { op, dst, src: from } => {
            format!("{} = f{} {}", name(*dst), lower(op), name(*from))
        }
        Inst::FloatSqrt { dst, src: from } => format!("{} = fsqrt {}", name(*dst), src(from)),
        Inst::FloatRound { mode, dst, src: from } => {
            format!("{} = f{} {}", name(*dst), lower(mode), src(from))
        }
        Inst::IntToFloat { dst, src: from } => format!("{} = itof {}", name(*dst), src(from)),
        Inst::FloatToInt { dst, src: from } => format!("{} = ftoi {}", name(*dst), name(*from)),
        Inst::Set { compare: c, dst } => format!("{} = set {}", name(*dst), compare(c)),
        Inst::Select { compare: c, dst, on_true, on_false, .. } => {
            format!("{} = select {}, {}, {}", name(*dst), compare(c), src(on_true), name(*on_false))
        }
        Inst::CheckRegion { write, region, index } => {
            let what = if *write { "store" } else { "load" };
            format!("check {what} {}[{}]", name(*region), src(index))
        }
        Inst::CheckBounds { index, len } => format!("check {} < {}", src(index), src(len)),
        Inst::CheckZero { value, trap } => format!("check {} ({})", src(value), lower(trap)),
        Inst::Barrier { object } => format!("barrier {}", name(*object)),
        Inst::Alloc { dst, size, header } => {
            format!("{} = alloc {size} bytes, type {header}", name(*dst))
        }
        Inst::Call { callee, uses, def } => {
            let callee = match callee {
                Callee::Function(function) => function.to_string(),
                Callee::Value => "value".to_owned(),
                Callee::Runtime(row) => format!("rt.{}", row.entry().name),
            };
            let call = format!("call {callee} {}", fixed(uses)).trim_end().to_owned();
            match def {
                Some(def) => format!("{} = {call}", fixed(std::slice::from_ref(def))),
                None => call,
            }
        }
        Inst::Poll => "poll".to_owned(),
        Inst::Burn => "burn".to_owned(),
        Inst::Jump => "jump".to_owned(),
        Inst::Branch { compare: c } => format!("branch {}", compare(c)),
        Inst::Switch { value, base, table, .. } => {
            let ways: Vec<String> = table.iter().map(u8::to_string).collect();
            format!("switch {} - {base} by {}", name(*value), ways.join(" "))
        }
        Inst::Return { value: Some(value) } => {
            format!("return {}", fixed(std::slice::from_ref(value)))
        }
        Inst::Return { value: None } => "return".to_owned(),
        Inst::Unreachable => "unreachable".to_owned(),
    }
}

fn addr_text<R: Copy>(addr: &Addr<R>, name: &dyn Fn(R) -> String) -> String {
    let mut out = String::from("[");
    out.push_str(&match addr.base {
        Base::Reg(base) => name(base),
        Base::Context => "context".to_owned(),
        Base::Incoming => "incoming".to_owned(),
        Base::Outgoing => "outgoing".to_owned(),
    });
    if let Some((index, scale)) = addr.index {
        let _ = write!(out, " + {}", name(index));
        if scale.factor() != 1 {
            let _ = write!(out, "*{}", scale.factor());
        }
    }
    match addr.disp {
        0 => {}
        disp if disp < 0 => {
            let _ = write!(out, " - {}", disp.unsigned_abs());
        }
        disp => {
            let _ = write!(out, " + {disp}");
        }
    }
    out.push(']');
    out
}

fn src_text<R: Copy>(src: &Src<R>, name: &dyn Fn(R) -> String) -> String {
    match src {
        Src::Reg(reg) => name(*reg),
        Src::Mem(addr) => addr_text(addr, name),
        Src::Imm(imm) => imm.to_string(),
        Src::Float(bits) => format!("{:?}", f64::from_bits(bits.0)),
    }
}

fn compare_text<R: Copy>(compare: &Compare<R>, name: &dyn Fn(R) -> String) -> String {
    let kind = match compare.kind {
        CompareKind::Int => "cmp",
        CompareKind::Byte => "cmpb",
        CompareKind::Test => "test",
        CompareKind::Float => "fcmp",
    };
    let cond = format!("{:?}", compare.cond).to_lowercase();
    format!("{kind}.{cond} {}, {}", src_text(&compare.lhs, name), src_text(&compare.rhs, name))
}
