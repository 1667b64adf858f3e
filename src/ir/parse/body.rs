//! The body of a function.
//!
//! Values must end up with the numbers that the text gives them, but what a number stands for is
//! known only when the whole body has been read. So the function is built with provisional values
//! first (a temporary's own number; a variable's or constant's number with a high bit set), then
//! the value arena is laid out: temporaries at their numbers, variables and constants in the gaps,
//! and all values are replaced.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::entity::{Entity, EntitySet};
use crate::ir::op::{Op, ResultKind};
use crate::ir::symbols::{is_reserved, numbered, own_name};
use crate::ir::{
    Block, Const, ENTRY, FuncRef, Function, Inst, InstData, Loc, LocData, Switch, Terminator, Type,
    Value, ValueData, ValueDef,
};
use crate::source::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) const CONSTANT: u32 = 1 << 31;
pub(super) const VARIABLE: u32 = 1 << 30;

/// What has been read of a body.
pub(super) struct Body<'a> {
    function: Function,
    pub(super) variables: FxHashMap<&'a str, u32>,
    declared: Vec<(&'a str, Type, Span)>,
    pub(super) constants: Vec<Const>,
    pub(super) constant_numbers: FxHashMap<Const, u32>,
    /// The temporaries by their numbers.
    temporaries: Vec<Option<ValueData>>,
    pub(super) used: Vec<(Value, Span)>,
    blocks: EntitySet<Block>,
    pub(super) targets: Vec<(Block, Span)>,
    /// The block that is being read.
    open: Option<Block>,
}

impl<'a> Parser<'a, '_> {
    /// Reads the body that begins here, of a function whose header has been read.
    pub(super) fn body(&mut self, id: FuncRef) -> Parsed<()> {
        let empty = Function::new("", id, Default::default());
        let mut body = Body {
            function: std::mem::replace(&mut self.module.functions[id], empty),
            variables: FxHashMap::default(),
            declared: Vec::new(),
            constants: Vec::new(),
            constant_numbers: FxHashMap::default(),
            temporaries: Vec::new(),
            used: Vec::new(),
            blocks: EntitySet::new(),
            targets: Vec::new(),
            open: None,
        };
        let start = self.span();
        while !self.eat_mark("}") {
            if !self.eat(&Token::Newline) {
                self.line(&mut body)?;
                self.end_of_line()?;
            }
        }
        if let Some(block) = body.open {
            return self.error(format!("{block} does not end in a terminator"));
        }
        if !body.blocks.contains(ENTRY) {
            return self.error_at(start, "the function has no entry block b0");
        }
        for &(block, span) in &body.targets {
            if !body.blocks.contains(block) {
                return self.error_at(span, format!("there is no block {block}"));
            }
        }
        for &(value, span) in &body.used {
            if body.temporaries.get(value.index()).is_none_or(Option::is_none) {
                return self.error_at(span, format!("{value} is not defined"));
            }
        }
        self.module.functions[id] = body.finish();
        Ok(())
    }

    fn line(&mut self, body: &mut Body<'a>) -> Parsed<()> {
        let first = self.at;
        let span = self.span();
        let word = match self.peek() {
            Token::Word(word) => *word,
            _ => return self.expected("an instruction, a block or }"),
        };
        let second = &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0;
        if numbered(word, 'b').is_some() && matches!(second, Token::Mark("(" | ":")) {
            return self.block(body);
        }
        if word == "var" && matches!(second, Token::Word(_)) {
            return self.variables(body);
        }
        let Some(block) = body.open else {
            return self.error("expected a block: no instruction stands outside of one");
        };
        let assigns = matches!(second, Token::Mark("=" | ":"));
        let loc = body.function.locs.next_key();
        body.function.locs.push(LocData { span, function: body.function.id(), inlined_at: None });
        match word {
            "jump" | "br" | "switch" | "ret" | "unreachable" if !assigns => {
                let terminator = self.terminator(body)?;
                let data = &mut body.function.blocks[block];
                (data.terminator, data.loc) = (terminator, loc);
                body.open = None;
            }
            _ => self.instruction(body, block, loc, assigns)?,
        }
        let last = self.tokens[self.at.max(first + 1) - 1].1;
        body.function.locs[loc].span = span.to(last);
        Ok(())
    }

    /// `var n: int, x: float`
    fn variables(&mut self, body: &mut Body<'a>) -> Parsed<()> {
        if !body.blocks.is_empty() {
            return self.error("variables are declared before the first block");
        }
        self.next();
        loop {
            let span = self.span();
            let name = self.word("the name of a variable")?;
            self.mark(":")?;
            let ty = self.ty()?;
            if is_reserved(name) {
                return self.error_at(span, format!("{name} can't be the name of a variable"));
            }
            if body.variables.insert(name, body.declared.len() as u32).is_some() {
                return self.error_at(span, format!("the variable {name} is declared twice"));
            }
            body.declared.push((name, ty, span));
            if !self.eat_mark(",") {
                return Ok(());
            }
        }
    }

    /// `b1(v3: int):`
    fn block(&mut self, body: &mut Body<'a>) -> Parsed<()> {
        if let Some(open) = body.open {
            return self.error(format!("{open} does not end in a terminator"));
        }
        let span = self.span();
        let block = self.block_name()?;
        if !body.blocks.insert(block) {
            return self.error_at(span, format!("{block} is written twice"));
        }
        while body.function.blocks.len() <= block.index() {
            body.function.add_block();
        }
        let mut params = SmallVec::new();
        if *self.peek() == Token::Mark("(") {
            let list = self.list(|parser| {
                let value = parser.temporary()?;
                parser.mark(":")?;
                Ok((value, parser.ty()?))
            })?;
            for (i, (value, ty)) in list.into_iter().enumerate() {
                body.define(value, ValueData { ty, def: ValueDef::Param(block, i as u32) });
                params.push(value);
            }
        }
        body.function.blocks[block].params = params;
        body.open = Some(block);
        self.mark(":")
    }

    /// The number behind a prefix, not so large that the table for it would dwarf the text.
    fn number(&mut self, prefix: char, what: &str) -> Parsed<u32> {
        let digits = match self.peek() {
            Token::Word(word) => numbered(word, prefix),
            _ => None,
        };
        let Some(digits) = digits else { return self.expected(what) };
        let limit = 65_536 + 64 * self.tokens.len();
        match digits.parse::<u32>() {
            Ok(number) if (number as usize) < limit.min(VARIABLE as usize) => {
                self.next();
                Ok(number)
            }
            _ => self.error("this number is too large for so short a text"),
        }
    }

    pub(super) fn block_name(&mut self) -> Parsed<Block> {
        self.number('b', "a block").map(Block)
    }

    pub(super) fn temporary(&mut self) -> Parsed<Value> {
        self.number('v', "a value (v0, v1 …)").map(Value)
    }

    fn terminator(&mut self, body: &mut Body<'a>) -> Parsed<Terminator> {
        Ok(match self.word("a terminator")? {
            "jump" => Terminator::Jump(self.edge(body)?),
            "br" => {
                let op = self.operator()?;
                let first = self.operand(body)?;
                self.mark(",")?;
                let args = [first, self.operand(body)?];
                self.mark("->")?;
                let edge = self.edge(body)?;
                self.mark(",")?;
                Terminator::Branch { op, args, edges: [edge, self.edge(body)?] }
            }
            "switch" => self.switch(body)?,
            "ret" if matches!(self.peek(), Token::Newline | Token::End) => Terminator::Return(None),
            "ret" => Terminator::Return(Some(self.operand(body)?)),
            _ => Terminator::Unreachable,
        })
    }

    /// `v3, 5 -> b1, b2, b1 else b4`
    fn switch(&mut self, body: &mut Body<'a>) -> Parsed<Terminator> {
        let value = self.operand(body)?;
        self.mark(",")?;
        let &Token::Int(base) = self.peek() else { return self.expected("a number") };
        self.next();
        self.mark("->")?;
        let mut places = vec![self.edge(body)?];
        while self.eat_mark(",") {
            places.push(self.edge(body)?);
        }
        if !self.eat(&Token::Word("else")) {
            return self.expected("else");
        }
        let mut edges = vec![self.edge(body)?];
        let mut table = Vec::with_capacity(places.len());
        for place in places {
            let known = edges.iter().position(|edge| *edge == place);
            let number = known.unwrap_or_else(|| {
                edges.push(place);
                edges.len() - 1
            });
            match u8::try_from(number) {
                Ok(number) => table.push(number),
                Err(_) => return self.error("a switch has no more than 256 different edges"),
            }
        }
        Ok(Terminator::Switch(Box::new(Switch { value, base, table, edges })))
    }

    fn operator(&mut self) -> Parsed<Op> {
        let span = self.span();
        let name = self.word("an operator")?;
        match Op::from_name(name) {
            Some(op) => Ok(op),
            None => self.error_at(span, format!("there is no operator {name}")),
        }
    }

    fn instruction(
        &mut self,
        body: &mut Body<'a>,
        block: Block,
        loc: Loc,
        assigns: bool,
    ) -> Parsed<()> {
        let span = self.span();
        let result = if assigns { Some(self.result(body)?) } else { None };
        let op = self.operator()?;
        let inst = body.function.insts.next_key();
        if let Some((value, stated)) = result
            && value.0 & VARIABLE == 0
        {
            let ty = match (stated, op.info().result) {
                (Some(ty), _) | (None, ResultKind::Is(ty)) => ty,
                _ => {
                    let message = format!("the type of {value} must be told: {value}: int = …");
                    return self.error_at(span, message);
                }
            };
            body.define(value, ValueData { ty, def: ValueDef::Inst(inst) });
        }
        let (imm, args) = self.arguments(body, op)?;
        let args = body.function.pool.list(&args);
        let result = result.map(|(value, _)| value);
        body.function.insts.push(InstData { op, args, result, loc, imm });
        body.function.blocks[block].insts.push(inst);
        Ok(())
    }

    /// `v3: int =`, `v3 =` or `n =`
    fn result(&mut self, body: &mut Body<'a>) -> Parsed<(Value, Option<Type>)> {
        let name = self.peek();
        let value = match name {
            Token::Word(word) if numbered(word, 'v').is_some() => self.temporary()?,
            Token::Word(word) => match body.variables.get(word) {
                Some(number) => {
                    self.next();
                    Value(VARIABLE | number)
                }
                None => return self.error(format!("{word} is not a variable of this function")),
            },
            _ => return self.expected("a result"),
        };
        if value.0 & VARIABLE != 0 && *self.peek() == Token::Mark(":") {
            return self.error("the type of a variable stands where it is declared");
        }
        let ty = if self.eat_mark(":") { Some(self.ty()?) } else { None };
        self.mark("=")?;
        Ok((value, ty))
    }

    /// What follows the operator: what the `imm` refers to, and the operands.
    fn arguments(&mut self, body: &mut Body<'a>, op: Op) -> Parsed<(u64, Vec<Value>)> {
        let info = op.info();
        let mut args = Vec::new();
        let imm = if info.imm { self.imm(info.imm_kind)? } else { 0 };
        let ends = |parser: &Self| matches!(parser.peek(), Token::Newline | Token::End);
        if info.params.is_none() {
            if !info.imm && *self.peek() != Token::Mark("(") {
                args.push(self.operand(body)?);
            }
            args.extend(self.list(|parser| parser.operand(body))?);
        } else if !ends(self) {
            if info.imm {
                self.mark(",")?;
            }
            args.extend(self.operands(body)?);
        }
        Ok((imm, args))
    }
}

impl Body<'_> {
    /// Notes a temporary's definition; of several the first counts.
    fn define(&mut self, value: Value, data: ValueData) {
        if self.temporaries.len() <= value.index() {
            self.temporaries.resize(value.index() + 1, None);
        }
        self.temporaries[value.index()].get_or_insert(data);
    }

    /// Lays out the values and puts them in place of the provisional ones.
    fn finish(self) -> Function {
        let mut function = self.function;
        let mut variables = self.declared.into_iter();
        let mut constants = self.constants.iter();
        for temporary in self.temporaries {
            if let Some(data) = temporary {
                function.values.push(data);
            } else if let Some((name, ty, span)) = variables.next() {
                function.add_variable(own_name(name), ty, span);
            } else if let Some(&constant) = constants.next() {
                function.constant(constant);
            } else {
                add_dead_value(&mut function);
            }
        }
        for (name, ty, span) in variables {
            function.add_variable(own_name(name), ty, span);
        }
        let constants: Vec<Value> =
            self.constants.iter().map(|&constant| function.constant(constant)).collect();
        let variables: Vec<Value> = function.variables.values().map(|v| v.value).collect();
        let place = |value: Value| match value.0 {
            n if n & CONSTANT != 0 => constants[(n & !CONSTANT) as usize],
            n if n & VARIABLE != 0 => variables[(n & !VARIABLE) as usize],
            _ => value,
        };
        for inst in function.insts.keys() {
            function.args_mut(inst).iter_mut().for_each(|v| *v = place(*v));
            let result = &mut function.insts[inst].result;
            *result = result.map(place);
        }
        for data in function.blocks.values_mut() {
            data.terminator.map_uses(place);
        }
        function
    }
}

/// A value for a number that the text does not use: the result of an instruction in no block.
fn add_dead_value(function: &mut Function) {
    let inst: Inst = function.insts.next_key();
    let value = function.values.push(ValueData { ty: Type::Int, def: ValueDef::Inst(inst) });
    let args = crate::entity::List::EMPTY;
    function.insts.push(InstData { op: Op::Copy, args, result: Some(value), loc: Loc(0), imm: 0 });
}
