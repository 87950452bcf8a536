//! Limits the number of values that a function takes, and the number of tuples among them. A tuple counts as its
//! elements, so tuples cannot hide values.

use crate::tokens::{Token, production};
use crate::{all, refuse, root};

/// Maximum number of values that a function takes, without `self`.
const MAX_VALUES: usize = 5;

/// Maximum number of functions with a tuple parameter: of public functions, and of all functions. The first part of a
/// path that matches decides.
const MAX_TUPLES: [(&str, usize, usize); 2] = [("crates/wunderblock/", 0, 17), ("", 0, 9)];

#[test]
fn functions_take_few_values() {
    let mut broken = Vec::new();
    for (path, text) in all() {
        let path = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        for Function { name, line, values, .. } in functions(&production(&text)) {
            if values > MAX_VALUES {
                broken.push(format!("{path}:{line}: {name} takes {values} values; at most {MAX_VALUES}"));
            }
        }
    }
    refuse(&broken);
}

/// A reader of `fn f((a, b): (A, B))` finds out what belongs together only by counting. Values that belong together
/// are a type with a name, and others are separate parameters.
#[test]
fn few_functions_take_tuples() {
    let mut found = MAX_TUPLES.map(|_| (Vec::new(), Vec::new()));
    for (path, text) in all() {
        let path = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        let Some(part) = MAX_TUPLES.iter().position(|(part, ..)| path.starts_with(part)) else { continue };
        for function in functions(&production(&text)).iter().filter(|function| function.has_tuple) {
            let place = format!("{path}:{}: {} takes a tuple", function.line, function.name);
            if function.is_public {
                found[part].0.push(place.clone());
            }
            found[part].1.push(place);
        }
    }
    let mut broken = Vec::new();
    for ((part, max_public, max), (public, all)) in MAX_TUPLES.into_iter().zip(found) {
        for (which, max, found) in [("public functions", max_public, public), ("functions", max, all)] {
            if found.len() > max {
                broken.push(format!("{part}: {} {which} take a tuple; at most {max}", found.len()));
                broken.extend(found);
            }
        }
    }
    refuse(&broken);
}

/// What the signature of a function shows.
struct Function<'t> {
    name: &'t str,
    line: usize,
    /// Number of values it takes.
    values: usize,
    /// Whether a parameter is a tuple, or is taken apart as one.
    has_tuple: bool,
    is_public: bool,
}

/// Returns the functions of a file.
fn functions<'t>(tokens: &[Token<'t>]) -> Vec<Function<'t>> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "fn") {
        let Some(name) = tokens.get(at + 1).filter(|name| name.is_word()) else { continue };
        let rest = &tokens[at + 2..];
        let generics = if rest[0].text == "<" { closed(rest) } else { 0 };
        let rest = &rest[generics..];
        let parameters = &rest[1..closed(rest) - 1];
        let parameters = parts(parameters, ",");
        found.push(Function {
            name: name.text,
            line: token.line,
            values: parameters.iter().map(|part| parameter(part)).sum(),
            has_tuple: parameters.iter().any(|part| is_tuple_parameter(part)),
            is_public: is_public(&tokens[..at]),
        });
    }
    found
}

/// Returns whether a function with these tokens before it is visible outside its crate.
fn is_public(before: &[Token<'_>]) -> bool {
    let is_qualifier = |token: &&Token<'_>| matches!(token.text, "const" | "async" | "unsafe");
    before.iter().rev().find(|token| !is_qualifier(token)).is_some_and(|token| token.text == "pub")
}

/// Returns whether a parameter is a tuple, or is taken apart as one.
fn is_tuple_parameter(tokens: &[Token<'_>]) -> bool {
    match parts(tokens, ":").as_slice() {
        [name, ..] if name.len() < tokens.len() => {
            is_tuple(without_reference(name)) || is_tuple(without_reference(&tokens[name.len() + 1..]))
        }
        _ => false,
    }
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
    let tokens = without_reference(tokens);
    match tokens {
        [_, inner @ .., _] if is_tuple(tokens) => parts(inner, ",").into_iter().map(values).sum(),
        _ => 1,
    }
}

fn without_reference<'p, 't>(tokens: &'p [Token<'t>]) -> &'p [Token<'t>] {
    let is_reference =
        |token: &&Token<'_>| token.text == "&" || token.text == "mut" || token.text.starts_with('\'');
    &tokens[tokens.iter().take_while(is_reference).count()..]
}

/// Returns whether a type or a pattern is a tuple: brackets with a comma of their own.
fn is_tuple(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [first, inner @ .., _] if first.text == "(" && closed(tokens) == tokens.len() => {
            parts(inner, ",").first().is_some_and(|element| element.len() < inner.len())
        }
        _ => false,
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
        functions(&production(text)).iter().map(|function| (function.name, function.values)).collect();
    assert_eq!(found, [("none", 0), ("two", 2), ("five", 5), ("one", 1)]);
}

#[test]
fn tuples_are_found_in_patterns_and_types() {
    let text = "
        pub const fn pattern(&self, (a, b): Pair) {}
        pub(crate) fn type_of_one(pair: &'a mut (u8, u8)) {}
        fn of_one_element(pair: ((u8, u8),)) {}
        async fn taken_apart(&(a, b): &Pair) {}
        pub async fn none(unit: (), each: &(dyn Fn(u8, u8) + Send), map: &[(u8, u8)]) -> (u8, u8) {}
    ";
    let found: Vec<(&str, bool, bool)> = functions(&production(text))
        .iter()
        .map(|function| (function.name, function.has_tuple, function.is_public))
        .collect();
    let expected = [
        ("pattern", true, true),
        ("type_of_one", true, false),
        ("of_one_element", true, false),
        ("taken_apart", true, false),
        ("none", false, true),
    ];
    assert_eq!(found, expected);
}
