//! Bril tokens to tree.
//!
//! A chumsky grammar over the token slice in the manner of Toy's: a rule is chosen by its first
//! token and then never fails; what is missing is reported and stood for, and an instruction that
//! can't be read is left out up to its `;`. Linear time.
//!
//! A file's text → [`Program`] and what was wrong with it.

use super::ast::{Code, Function, Import, Inst, Literal, Name, Program, Type};
use super::lexer::{Token, lex};
use crate::source::{Diagnostic, Interner, Sources, Span, Symbol};
use chumsky::error::EmptyErr;
use chumsky::input::{Checkpoint, Cursor, InputRef};
use chumsky::inspector::Inspector;
use chumsky::primitive::custom;
use chumsky::{Parser, extra};
use smallvec::SmallVec;

type In<'s> = &'s [Token];
type Extra<'s> = extra::Full<EmptyErr, State<'s>, ()>;
type Ref<'s, 'p> = InputRef<'s, 'p, In<'s>, Extra<'s>>;

/// The deepest nesting of `ptr<…>`.
const DEEPEST: usize = 1_000;

/// What the rules share.
struct State<'s> {
    tokens: &'s [Token],
    text: &'s str,
    base: u32,
    spans: &'s [Span],
    words: Words,
    diagnostics: Vec<Diagnostic>,
    /// The token at which something was reported last.
    quiet: Option<usize>,
}

/// Words that mean something where they stand, but are reserved nowhere.
struct Words {
    constant: Symbol,
    yes: Symbol,
    no: Symbol,
    from: Symbol,
    import: Symbol,
    alias: Symbol,
}

impl<'s> Inspector<'s, In<'s>> for State<'s> {
    type Checkpoint = ();
    fn on_token(&mut self, _: &Token) {}
    fn on_save<'p>(&self, _: &Cursor<'s, 'p, In<'s>>) -> Self::Checkpoint {}
    fn on_rewind<'p>(&mut self, _: &Checkpoint<'s, 'p, In<'s>, Self::Checkpoint>) {}
}

/// Parses the file of `sources` whose text begins at `base`.
pub fn parse(sources: &Sources, base: u32, interner: &mut Interner) -> (Program, Vec<Diagnostic>) {
    let text = sources.locate(base).0.text.as_str();
    let lexed = lex(text, base, interner);
    let words = Words {
        constant: interner.intern("const"),
        yes: interner.intern("true"),
        no: interner.intern("false"),
        from: interner.intern("from"),
        import: interner.intern("import"),
        alias: interner.intern("as"),
    };
    let (spans, diagnostics) = (&lexed.spans, lexed.diagnostics);
    let mut state =
        State { tokens: &lexed.tokens, text, base, spans, words, diagnostics, quiet: None };
    let rule = custom::<_, In<'_>, _, Extra<'_>>(program);
    let program = rule.parse_with_state(lexed.tokens.as_slice(), &mut state).into_output();
    let mut diagnostics = state.diagnostics;
    diagnostics.sort_by_key(Diagnostic::span);
    (program.unwrap_or_default(), diagnostics)
}

fn peek(inp: &mut Ref<'_, '_>) -> Token {
    inp.peek().unwrap_or(Token::Eof)
}

fn at(inp: &Ref<'_, '_>) -> usize {
    *inp.cursor().inner()
}

/// The place of the next token.
fn here(inp: &mut Ref<'_, '_>) -> Span {
    let at = at(inp);
    let state = inp.state();
    let end = state.base + state.text.len() as u32;
    state.spans.get(at).copied().unwrap_or(Span::new(end, end))
}

/// The place from `start` to the end of the token before the next.
fn since(inp: &mut Ref<'_, '_>, start: Span) -> Span {
    let at = at(inp);
    let last = at.checked_sub(1).map_or(start, |last| inp.state().spans[last]);
    start.to(last)
}

fn take(inp: &mut Ref<'_, '_>, token: Token) -> bool {
    let is = peek(inp) == token;
    if is {
        inp.skip();
    }
    is
}

/// Reports that something else is wanted at the next token, once for each token.
fn wanted(inp: &mut Ref<'_, '_>, what: &str) {
    let (place, span, token) = (at(inp), here(inp), peek(inp));
    let state = inp.state();
    if state.quiet == Some(place) || token == Token::Error {
        state.quiet = Some(place);
        return;
    }
    state.quiet = Some(place);
    let found = match token {
        Token::Eof => "the end of the file".to_owned(),
        _ => {
            let from = (span.start - state.base) as usize;
            format!("`{}`", &state.text[from..from + (span.end - span.start) as usize])
        }
    };
    let message = format!("expected {what}, found {found}");
    let label = format!("expected {what}");
    state.diagnostics.push(Diagnostic::error("E0702", span, message, label));
}

fn expect(inp: &mut Ref<'_, '_>, token: Token, what: &str) -> bool {
    let found = take(inp, token);
    if !found {
        wanted(inp, what);
    }
    found
}

fn ident(inp: &mut Ref<'_, '_>, what: &str) -> Option<Name> {
    let span = here(inp);
    match peek(inp) {
        Token::Ident(symbol) => {
            inp.skip();
            Some(Name { symbol, span })
        }
        _ => {
            wanted(inp, what);
            None
        }
    }
}

fn func(inp: &mut Ref<'_, '_>) -> Option<Name> {
    let span = here(inp);
    match peek(inp) {
        Token::Func(symbol) => {
            inp.skip();
            Some(Name { symbol, span })
        }
        _ => {
            wanted(inp, "a function's name, such as `@main`");
            None
        }
    }
}

fn program(inp: &mut Ref<'_, '_>) -> Result<Program, EmptyErr> {
    let mut program = Program::default();
    loop {
        match peek(inp) {
            Token::Eof => return Ok(program),
            Token::Func(_) => program.functions.extend(function(inp)),
            Token::Ident(word) if word == inp.state().words.from => {
                program.imports.extend(import(inp));
            }
            _ => {
                wanted(inp, "a function");
                while !matches!(peek(inp), Token::Eof | Token::Func(_)) {
                    inp.skip();
                }
            }
        }
    }
}

/// `from "PATH" import (@NAME (as @NAME)?),* ;`
fn import(inp: &mut Ref<'_, '_>) -> Option<Import> {
    inp.skip();
    let span = here(inp);
    if !expect(inp, Token::Str, "a path in quotes") {
        skip_inst(inp);
        return None;
    }
    let state = inp.state();
    let from = (span.start - state.base) as usize;
    let path = state.text[from..from + (span.end - span.start) as usize].trim_matches('"').into();
    let mut functions = Vec::new();
    match ident(inp, "`import`") {
        Some(word) if word.symbol == inp.state().words.import => {}
        Some(word) => {
            let error = Diagnostic::error("E0702", word.span, "expected `import`", "");
            inp.state().diagnostics.push(error);
        }
        None => {}
    }
    while let Token::Func(_) = peek(inp) {
        let name = func(inp)?;
        let has_alias = matches!(peek(inp), Token::Ident(word) if word == inp.state().words.alias);
        let alias = if has_alias {
            inp.skip();
            func(inp)
        } else {
            None
        };
        functions.push((name, alias));
        if !take(inp, Token::Comma) {
            break;
        }
    }
    if !expect(inp, Token::Semi, "`,` or `;`") {
        skip_inst(inp);
    }
    Some(Import { path, span, functions })
}

/// `@name(a: int, …): int { … }`
fn function(inp: &mut Ref<'_, '_>) -> Option<Function> {
    let name = func(inp)?;
    let mut params = Vec::new();
    if take(inp, Token::LParen) {
        while let Token::Ident(_) = peek(inp) {
            let name = ident(inp, "a parameter")?;
            expect(inp, Token::Colon, "`:` and a type");
            match ty(inp) {
                Some(ty) => params.push((name, ty)),
                None => break,
            }
            if !take(inp, Token::Comma) {
                break;
            }
        }
        if !expect(inp, Token::RParen, "a parameter or `)`") {
            while !matches!(peek(inp), Token::Eof | Token::LBrace | Token::Func(_)) {
                inp.skip();
            }
        }
    }
    let result = if take(inp, Token::Colon) { ty(inp) } else { None };
    if !expect(inp, Token::LBrace, "`{`") {
        while !matches!(peek(inp), Token::Eof | Token::LBrace | Token::Func(_)) {
            inp.skip();
        }
        take(inp, Token::LBrace);
    }
    let mut body = Vec::new();
    loop {
        match peek(inp) {
            Token::RBrace => break,
            Token::Func(_) | Token::Eof => break,
            _ => body.extend(code(inp)),
        }
    }
    let end = here(inp);
    expect(inp, Token::RBrace, "an instruction or `}`");
    Some(Function { name, params, result, body, end })
}

/// `NAME`, `NAME<type>`
fn ty(inp: &mut Ref<'_, '_>) -> Option<Type> {
    let start = here(inp);
    let mut words = SmallVec::new();
    loop {
        words.push(ident(inp, "a type")?.symbol);
        if words.len() > DEEPEST {
            let span = since(inp, start);
            let error = Diagnostic::error("E0706", span, "this type is nested too deeply", "");
            inp.state().diagnostics.push(error);
            return None;
        }
        if !take(inp, Token::Less) {
            break;
        }
    }
    for _ in 1..words.len() {
        expect(inp, Token::Greater, "`>`");
    }
    Some(Type { words, span: since(inp, start) })
}

/// A label or an instruction; none where it can't be read.
fn code(inp: &mut Ref<'_, '_>) -> Option<Code> {
    let start = here(inp);
    match peek(inp) {
        Token::Label(symbol) => {
            inp.skip();
            expect(inp, Token::Colon, "`:` behind the label");
            Some(Code::Label(Name { symbol, span: start }))
        }
        Token::Ident(_) => {
            let first = ident(inp, "an instruction")?;
            let inst = match peek(inp) {
                Token::Colon | Token::Equals => value_inst(inp, first),
                _ => Some(operands(inp, None, None, first)),
            };
            let whole = inst.is_some() && expect(inp, Token::Semi, "an argument or `;`");
            let next = at(inp) + 1;
            let follows = inp.state().tokens.get(next).copied();
            let begins = matches!(peek(inp), Token::Ident(_) | Token::Label(_))
                && matches!(follows, Some(Token::Colon | Token::Equals));
            if !whole && !begins {
                skip_inst(inp);
            }
            let span = since(inp, start);
            inst.map(|inst| Code::Inst(Inst { span, ..inst }))
        }
        _ => {
            wanted(inp, "an instruction, a label or `}`");
            skip_inst(inp);
            None
        }
    }
}

/// What follows `dest`: `: type = op …`, where the type may be absent.
fn value_inst(inp: &mut Ref<'_, '_>, dest: Name) -> Option<Inst> {
    let ty = if take(inp, Token::Colon) { Some(ty(inp)?) } else { None };
    if !expect(inp, Token::Equals, "`=`") {
        return None;
    }
    let op = ident(inp, "an operation")?;
    if op.symbol == inp.state().words.constant {
        let value = Some(literal(inp)?);
        let empty = operands(inp, Some(dest), ty, op);
        return Some(Inst { value, ..empty });
    }
    Some(operands(inp, Some(dest), ty, op))
}

fn literal(inp: &mut Ref<'_, '_>) -> Option<(Literal, Span)> {
    let span = here(inp);
    let literal = match peek(inp) {
        Token::Int(value) => Literal::Int(value),
        Token::Float(value) => Literal::Float(value),
        Token::Char(value) => Literal::Char(value),
        Token::Ident(word) if word == inp.state().words.yes => Literal::Bool(true),
        Token::Ident(word) if word == inp.state().words.no => Literal::Bool(false),
        _ => {
            wanted(inp, "a constant");
            return None;
        }
    };
    inp.skip();
    Some((literal, span))
}

/// Arguments, functions and labels in any order.
fn operands(inp: &mut Ref<'_, '_>, dest: Option<Name>, ty: Option<Type>, op: Name) -> Inst {
    let (mut args, mut funcs, mut labels) = (SmallVec::new(), SmallVec::new(), SmallVec::new());
    loop {
        let span = here(inp);
        let next = at(inp) + 1;
        let follows = inp.state().tokens.get(next).copied();
        match peek(inp) {
            // The next instruction, where a `;` was forgotten.
            Token::Ident(_) | Token::Label(_)
                if matches!(follows, Some(Token::Colon | Token::Equals)) =>
            {
                break;
            }
            Token::Ident(symbol) => args.push(Name { symbol, span }),
            Token::Func(symbol) => funcs.push(Name { symbol, span }),
            Token::Label(symbol) => labels.push(Name { symbol, span }),
            _ => break,
        }
        inp.skip();
    }
    Inst { op, dest, ty, args, funcs, labels, value: None, span: op.span }
}

/// Goes on behind the next `;`, or before the `}` or the function that comes first.
fn skip_inst(inp: &mut Ref<'_, '_>) {
    loop {
        match peek(inp) {
            Token::Semi => return inp.skip(),
            Token::RBrace | Token::Eof => return,
            _ => inp.skip(),
        }
    }
}
