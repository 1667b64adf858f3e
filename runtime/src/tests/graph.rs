//! Random object graphs, changed at random, against a model in Rust's own memory. For as many seconds
//! as `TOYJIT_FUZZ_SECONDS` says.

use std::collections::{HashMap, HashSet};

use arbtest::arbitrary::{Result, Unstructured};

use super::{config, runtime};
use crate::layout::Slot;
use crate::runtime::Runtime;
use crate::types::{TypeInfo, array_type};

/// What the model knows of an object; references are indices of the model's objects.
#[derive(Clone, Debug)]
enum Shadow {
    Str(Vec<u8>),
    /// Kind and elements.
    Array(Slot, Vec<Word>),
    /// Type and fields.
    Struct(u32, Vec<Word>),
    Closure(u32, u64, Vec<Word>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    Plain(u64),
    Ref(Option<usize>),
}

/// A heap and its model. `held[i]` is the model's object that root `i` refers to.
struct World {
    runtime: Runtime,
    objects: Vec<Shadow>,
    held: Vec<Option<usize>>,
    globals: Vec<u32>,
    structs: Vec<(u32, Vec<Slot>)>,
    closure: u32,
}

const ROOTS: usize = 12;
const GLOBALS: usize = 4;

impl World {
    fn new(stress: bool) -> Self {
        let (mut runtime, _) = runtime(config(stress));
        let mut structs = Vec::new();
        let layouts: [&[Slot]; 5] = [
            &[],
            &[Slot::Ref],
            &[Slot::Int, Slot::Ref, Slot::Ref],
            &[Slot::Float, Slot::Bool],
            &[Slot::Ref; 40],
        ];
        for layout in layouts {
            let fields = layout.iter().map(|&slot| ("f".to_owned(), slot)).collect();
            let id = runtime.register_type(TypeInfo::Struct { name: "S".into(), fields });
            structs.push((id, layout.to_vec()));
        }
        let captures = vec![Slot::Ref, Slot::Int, Slot::Ref];
        let closure = TypeInfo::Closure { name: None, function: 1, captures };
        let closure = runtime.register_type(closure);
        let globals = (0..GLOBALS)
            .map(|_| {
                runtime.declare_global(Slot::Int).unwrap();
                runtime.declare_global(Slot::Ref).unwrap()
            })
            .collect();
        for _ in 0..ROOTS {
            runtime.roots.push(0);
        }
        let held = vec![None; ROOTS + GLOBALS];
        Self { runtime, objects: Vec::new(), held, globals, structs, closure }
    }

    fn address(&self, root: usize) -> u64 {
        match root.checked_sub(ROOTS) {
            None => self.runtime.roots.get(root),
            Some(global) => self.runtime.global(self.globals[global]),
        }
    }

    fn hold(&mut self, root: usize, address: u64, object: Option<usize>) {
        self.held[root] = object;
        match root.checked_sub(ROOTS) {
            None => self.runtime.roots.set(root, address),
            Some(global) => self.runtime.set_global(self.globals[global], address),
        }
    }

    fn any_word(&self, u: &mut Unstructured<'_>, slot: Slot) -> Result<(u64, Word)> {
        Ok(match slot {
            Slot::Ref => {
                let root = u.choose_index(self.held.len())?;
                (self.address(root), Word::Ref(self.held[root]))
            }
            Slot::Bool => {
                let bit = u64::from(u.arbitrary::<bool>()?);
                (bit, Word::Plain(bit))
            }
            Slot::Byte => {
                let byte = u64::from(u.arbitrary::<u8>()?);
                (byte, Word::Plain(byte))
            }
            Slot::Int | Slot::Float => {
                let word = u.arbitrary()?;
                (word, Word::Plain(word))
            }
        })
    }

    fn any_words(&self, u: &mut Unstructured<'_>, slots: &[Slot]) -> Result<(Vec<u64>, Vec<Word>)> {
        let pairs: Result<Vec<_>> = slots.iter().map(|&slot| self.any_word(u, slot)).collect();
        Ok(pairs?.into_iter().unzip())
    }

    /// One random step.
    fn step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let root = u.choose_index(self.held.len())?;
        match u.int_in_range(0..=11)? {
            0 => {
                let bytes = vec![u.arbitrary()?; Self::any_len(u, 20_000)?];
                let address = self.runtime.new_str(&bytes).unwrap();
                self.add(root, address, Shadow::Str(bytes));
            }
            1 | 2 => {
                let (id, slots) = u.choose(&self.structs)?.clone();
                let (words, shadow) = self.any_words(u, &slots)?;
                let address = self.runtime.alloc_struct(id, &words).unwrap();
                self.add(root, address, Shadow::Struct(id, shadow));
            }
            3 => {
                let (words, shadow) = self.any_words(u, &[Slot::Ref, Slot::Int, Slot::Ref])?;
                let code = u.arbitrary()?;
                let address = self.runtime.alloc_closure(self.closure, code, &words).unwrap();
                self.add(root, address, Shadow::Closure(self.closure, code, shadow));
            }
            4 => {
                let slot = *u.choose(&Slot::ALL)?;
                let (word, shadow) = self.any_word(u, slot)?;
                let len = Self::any_len(u, 3000)?;
                let address = self.runtime.array_fill(slot, word, len as i64).unwrap();
                self.add(root, address, Shadow::Array(slot, vec![shadow; len]));
            }
            5 => {
                self.hold(root, 0, None);
            }
            6 => {
                let other = u.choose_index(self.held.len())?;
                self.hold(root, self.address(other), self.held[other]);
            }
            7 if u.ratio(1, 8)? => {
                let full = u.arbitrary()?;
                self.runtime.collect(full).unwrap();
            }
            _ => self.change(u, root)?,
        }
        Ok(())
    }

    fn any_len(u: &mut Unstructured<'_>, large: usize) -> Result<usize> {
        if u.ratio(1, 10)? { u.int_in_range(0..=large) } else { u.int_in_range(0..=12) }
    }

    fn add(&mut self, root: usize, address: u64, shadow: Shadow) {
        self.objects.push(shadow);
        self.hold(root, address, Some(self.objects.len() - 1));
    }

    /// Changes the object that a root holds, or follows one of its references.
    fn change(&mut self, u: &mut Unstructured<'_>, root: usize) -> Result<()> {
        let Some(object) = self.held[root] else { return Ok(()) };
        let address = self.address(root);
        match self.objects[object].clone() {
            Shadow::Struct(id, words) if !words.is_empty() => {
                let index = u.choose_index(words.len())?;
                let info = self.runtime.types.info(id).clone();
                let TypeInfo::Struct { fields, .. } = info else { unreachable!() };
                if let (Word::Ref(to), true) = (words[index], u.arbitrary()?) {
                    self.hold(root, self.runtime.field(address, index as u32), to);
                    return Ok(());
                }
                let (word, shadow) = self.any_word(u, fields[index].1)?;
                self.runtime.set_field(address, index as u32, word);
                let Shadow::Struct(_, words) = &mut self.objects[object] else { unreachable!() };
                words[index] = shadow;
            }
            Shadow::Closure(_, _, words) => {
                let Word::Ref(to) = words[2] else { unreachable!() };
                self.hold(root, self.runtime.capture(address, 2), to);
            }
            Shadow::Array(slot, words) => {
                let what = u.int_in_range(0..=5)?;
                if what < 3 || words.is_empty() {
                    let (word, shadow) = self.any_word(u, slot)?;
                    self.runtime.array_push(address, word).unwrap();
                    self.elements(object).push(shadow);
                } else if what == 3 {
                    let word = self.runtime.array_pop(address).unwrap();
                    let shadow = self.elements(object).pop().unwrap();
                    match shadow {
                        Word::Plain(plain) => assert_eq!(plain, word),
                        Word::Ref(to) => self.hold(root, word, to),
                    }
                } else if what == 4 {
                    let index = u.choose_index(words.len())?;
                    let (word, shadow) = self.any_word(u, slot)?;
                    self.runtime.array_set(address, index as i64, word).unwrap();
                    self.elements(object)[index] = shadow;
                } else {
                    let from = u.int_in_range(0..=words.len())?;
                    let to = u.int_in_range(from..=words.len())?;
                    let new = self.runtime.array_slice(address, from as i64, to as i64).unwrap();
                    self.add(root, new, Shadow::Array(slot, words[from..to].to_vec()));
                }
            }
            Shadow::Str(bytes) => {
                let to = u.int_in_range(0..=bytes.len())?;
                let new = self.runtime.str_slice(address, 0, to as i64).unwrap();
                self.add(root, new, Shadow::Str(bytes[..to].to_vec()));
            }
            Shadow::Struct(..) => {}
        }
        Ok(())
    }

    fn elements(&mut self, object: usize) -> &mut Vec<Word> {
        let Shadow::Array(_, words) = &mut self.objects[object] else { unreachable!() };
        words
    }

    /// Compares everything that can be reached with the model.
    fn check(&self) {
        let mut seen: HashMap<usize, u64> = HashMap::new();
        let mut todo: Vec<(Option<usize>, u64)> =
            (0..self.held.len()).map(|root| (self.held[root], self.address(root))).collect();
        while let Some((object, address)) = todo.pop() {
            let Some(object) = object else {
                assert_eq!(address, 0);
                continue;
            };
            if let Some(&before) = seen.get(&object) {
                assert_eq!(before, address, "one object at two places");
                continue;
            }
            seen.insert(object, address);
            let runtime = &self.runtime;
            let mut same = |shadow: Word, word: u64| match shadow {
                Word::Plain(plain) => assert_eq!(plain, word),
                Word::Ref(to) => todo.push((to, word)),
            };
            match &self.objects[object] {
                Shadow::Str(bytes) => assert_eq!(runtime.str_bytes(address), &bytes[..]),
                Shadow::Array(slot, words) => {
                    assert_eq!(runtime.type_of(address), array_type(*slot));
                    assert_eq!(runtime.array_len(address), words.len() as u64);
                    for (i, &shadow) in words.iter().enumerate() {
                        same(shadow, runtime.array_get(address, i as i64).unwrap());
                    }
                }
                Shadow::Struct(id, words) => {
                    assert_eq!(runtime.type_of(address), *id);
                    for (i, &shadow) in words.iter().enumerate() {
                        same(shadow, runtime.field(address, i as u32));
                    }
                }
                Shadow::Closure(id, code, words) => {
                    assert_eq!(runtime.type_of(address), *id);
                    assert_eq!(runtime.code_of(address), *code);
                    for (i, &shadow) in words.iter().enumerate() {
                        same(shadow, runtime.capture(address, i as u32));
                    }
                }
            }
        }
        // Strings may be shared: they have no identity.
        let own =
            seen.iter().filter(|(object, _)| !matches!(self.objects[**object], Shadow::Str(_)));
        let own: Vec<u64> = own.map(|(_, &address)| address).collect();
        let places: HashSet<u64> = own.iter().copied().collect();
        assert_eq!(places.len(), own.len(), "two objects at one place");
    }
}

fn random_graphs(stress: bool, seconds: u64, steps_between_checks: usize) {
    let budget = std::env::var("TOYJIT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    arbtest::arbtest(|u| {
        let mut world = World::new(stress);
        let mut steps = 0;
        while !u.is_empty() && steps < 3000 {
            world.step(u)?;
            steps += 1;
            if steps % steps_between_checks == 0 {
                world.check();
            }
        }
        world.check();
        Ok(())
    })
    .size_min(1 << 12)
    .size_max(1 << 17)
    .budget_ms(1000 * budget.unwrap_or(seconds));
}

#[test]
fn graphs_agree_with_the_model() {
    random_graphs(false, 1, 500);
}

#[test]
fn graphs_agree_with_the_model_under_stress() {
    random_graphs(true, 2, 200);
}
