//! Limits the number of values that a function takes. A tuple counts as its elements, so tuples cannot hide values.

use crate::tokens::{Token, production};
use crate::{all, refuse, root};

/// Maximum number of values that a function takes, without `self`.
const MAX_VALUES: usize = 5;

#[test]
fn functions_take_few_values() {
    let mut broken = Vec::new();
    for (path, text) in all() {
        let path = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        for (name, line, values) in functions(&production(&text)) {
            if values > MAX_VALUES {
                broken.push(format!("{path}:{line}: {name} takes {values} values; at most {MAX_VALUES}"));
            }
        }
    }
    refuse(&broken);
}

/// Returns each function with its line and the number of values it takes.
fn functions<'t>(tokens: &[Token<'t>]) -> Vec<(&'t str, usize, usize)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "fn") {
        let Some(name) = tokens.get(at + 1).filter(|name| name.is_word()) else { continue };
        let rest = &tokens[at + 2..];
        let generics = if rest[0].text == "<" { closed(rest) } else { 0 };
        let rest = &rest[generics..];
        let parameters = &rest[1..closed(rest) - 1];
        found.push((name.text, token.line, parts(parameters, ",").iter().map(|part| parameter(part)).sum()));
    }
    found
}

/// Returns the number of tokens up to and including the bracket that closes the first one.
fn closed(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += deeper(token);
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn deeper(token: &Token<'_>) -> i32 {
    match token.text {
        "(" | "[" | "{" | "<" => 1,
        ")" | "]" | "}" | ">" => -1,
        _ => 0,
    }
}

/// Splits tokens at a sign outside brackets, and drops an empty part at the end.
fn parts<'p, 't>(tokens: &'p [Token<'t>], sign: &str) -> Vec<&'p [Token<'t>]> {
    let (mut found, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        depth += deeper(token);
        if depth == 0 && token.text == sign {
            found.push(&tokens[begin..at]);
            begin = at + 1;
        }
    }
    if begin < tokens.len() {
        found.push(&tokens[begin..]);
    }
    found
}

/// Returns the number of values of one parameter.
fn parameter(tokens: &[Token<'_>]) -> usize {
    match parts(tokens, ":").as_slice() {
        // `self`, or an unnamed parameter of a trait's function.
        [bare] => usize::from(bare.iter().all(|token| token.text != "self")),
        [name, ..] if name.iter().any(|token| token.text == "self") => 0,
        [name, ..] => values(&tokens[name.len() + 1..]),
        [] => 0,
    }
}

/// Returns the number of values of a type: one, or the sum over a tuple's elements.
fn values(tokens: &[Token<'_>]) -> usize {
    let is_reference =
        |token: &&Token<'_>| token.text == "&" || token.text == "mut" || token.text.starts_with('\'');
    let tokens = &tokens[tokens.iter().take_while(is_reference).count()..];
    let is_tuple = tokens.first().is_some_and(|first| first.text == "(") && closed(tokens) == tokens.len();
    match tokens {
        [_, inner @ .., _] if is_tuple => parts(inner, ",").into_iter().map(values).sum::<usize>().max(1),
        _ => 1,
    }
}

#[test]
fn a_tuple_counts_by_its_elements() {
    let text = "
        fn none(&'a mut self) {}
        fn two<F: Fn(u8, u8) -> (u8, u8)>(self: Box<Self>, each: F, map: &HashMap<u8, (u8, u8)>,) {}
        fn five(#[allow(unused)] (a, b): (u8, [u8; 2]), (c, (d, e)): &(u8, (u8, u8))) -> (u8, u8) {}
        fn one(each: &(dyn Fn(u8, u8) + Send)) { let f: fn(u8, u8) = g; }
    ";
    let found: Vec<(&str, usize)> =
        functions(&production(text)).into_iter().map(|(name, _, values)| (name, values)).collect();
    assert_eq!(found, [("none", 0), ("two", 2), ("five", 5), ("one", 1)]);
}
