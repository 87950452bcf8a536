//! Limits the number of methods of a type, over all files of its package: a type with more methods should be several
//! types.

use crate::modules::{ModuleFile, ModulePath, packages};
use crate::refuse;
use crate::tokens::Token;
use std::collections::BTreeMap;

/// Maximum number of methods in the inherent implementations of a type, including private ones.
const MAX_METHODS: usize = 40;

#[test]
fn types_have_few_methods() {
    let mut broken = Vec::new();
    for package in packages() {
        for ((name, module), count) in methods(&package.modules) {
            if count > MAX_METHODS {
                let (package, place) = (&package.name, module.join("::"));
                broken.push(format!("{package}: {place}::{name} has {count} methods; at most {MAX_METHODS}"));
            }
        }
    }
    refuse(&broken);
}

/// Returns the number of methods of each type, by name and module.
fn methods(files: &[ModuleFile]) -> BTreeMap<(String, ModulePath), usize> {
    let tokens: Vec<_> = files.iter().map(|file| (&file.module, &file.tokens)).collect();
    let mut defined: BTreeMap<&str, Vec<&ModulePath>> = BTreeMap::new();
    for (module, tokens) in &tokens {
        for part in tokens.windows(2).filter(|part| ["struct", "enum"].contains(&part[0].text)) {
            defined.entry(part[1].text).or_default().push(module);
        }
    }
    let mut counts = BTreeMap::new();
    for (module, tokens) in &tokens {
        for (name, count) in implementations(tokens) {
            // If several types have this name, the implementation belongs to the nearest one.
            let near = |other: &&&ModulePath| {
                let shared = other.iter().zip(module.iter()).take_while(|(a, b)| a == b).count();
                (shared, std::cmp::Reverse(other.len()))
            };
            let home = defined.get(name).and_then(|modules| modules.iter().max_by_key(near));
            let home = home.map_or_else(|| (*module).clone(), |home| (*home).clone());
            *counts.entry((name.to_owned(), home)).or_default() += count;
        }
    }
    counts
}

/// Returns the type of each inherent implementation, with its number of methods.
fn implementations<'t>(tokens: &[Token<'t>]) -> Vec<(&'t str, usize)> {
    let begins_item = |at: usize| at == 0 || ["}", ";", "]", "{", "unsafe"].contains(&tokens[at - 1].text);
    let impls = tokens.iter().enumerate().filter(|(at, token)| token.text == "impl" && begins_item(*at));
    impls.filter_map(|(at, _)| inherent(&tokens[at + 1..])).collect()
}

/// Returns the type of an implementation and its number of methods, or `None` for a trait's implementation.
fn inherent<'t>(tokens: &[Token<'t>]) -> Option<(&'t str, usize)> {
    let body = tokens.iter().position(|token| token.text == "{")?;
    let (mut angles, mut name) = (0, None);
    for token in &tokens[..body] {
        match token.text {
            "<" => angles += 1,
            ">" => angles -= 1,
            _ if angles > 0 => {}
            "for" => return None,
            "where" => break,
            word if token.is_word() => name = Some(word),
            _ => {}
        }
    }
    let (mut depth, mut count) = (0, 0);
    for (at, token) in tokens.iter().enumerate().skip(body) {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            "fn" if depth == 1 => count += usize::from(tokens[at + 1].is_word()),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    Some((name?, count))
}

#[test]
fn methods_are_counted_over_all_files() {
    let file = |module: &str, text: &'static str| ModuleFile {
        module: module.split_terminator("::").map(str::to_owned).collect(),
        path: String::new(),
        tokens: crate::tokens::production(text),
    };
    let files = [
        file(
            "",
            "pub struct A<T: B>(T); impl<T: B> A<T> where T: B { pub fn c(self) { fn d() {} } const fn e() {} }",
        ),
        file("f", "impl<T> super::A<T> { fn g(&self, h: fn(u8)) -> impl B { if self.i { } j } }"),
        file(
            "k",
            "struct A; impl A { fn l() {} } impl B for A { fn m() {} } #[cfg(test)] impl A { fn n() {} }",
        ),
        file("k::o", "impl A { async fn p() {} fn q(x: impl B) {} }"),
    ];
    let found: Vec<(String, String, usize)> =
        methods(&files).into_iter().map(|((name, module), count)| (name, module.join("::"), count)).collect();
    let name = || "A".to_owned();
    assert_eq!(found, [(name(), String::new(), 3), (name(), "k".to_owned(), 3)]);
}
