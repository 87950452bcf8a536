//! Limits type names that several types share: such a name tells a reader little.

use crate::modules::packages;
use crate::tokens::Token;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum share of type names that are defined in more than one module, in percent.
const MAX_SHARED: usize = 8;

#[test]
fn few_type_names_are_defined_twice() {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in packages().iter().flat_map(|package| &package.modules) {
        for name in type_names(&module.tokens) {
            files.entry(name.to_owned()).or_default().insert(module.path.clone());
        }
    }
    if let Some(told) = too_many(&files) {
        panic!("\n{told}");
    }
}

/// Returns a list of the names defined in several files if they exceed the limit.
fn too_many(files: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let shared: Vec<_> = files.iter().filter(|(_, files)| files.len() > 1).collect();
    if shared.len() * 100 <= MAX_SHARED * files.len() {
        return None;
    }
    let mut lines = vec![format!(
        "{} of {} type names ({:.1} %) are defined in more than one module; at most {MAX_SHARED} %",
        shared.len(),
        files.len(),
        shared.len() as f64 * 100.0 / files.len() as f64
    )];
    for (name, files) in shared {
        lines.push(format!("  {name}: {}", files.iter().cloned().collect::<Vec<_>>().join(", ")));
    }
    Some(lines.join("\n"))
}

/// Returns the types and traits that a file defines. An associated type in an implementation or a trait does not
/// count, because it has no separate name.
fn type_names<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let mut found = Vec::new();
    // Whether each open brace belongs to an implementation or a trait.
    let mut braces: Vec<bool> = Vec::new();
    let mut is_associating = false;
    for (at, token) in tokens.iter().enumerate() {
        let name = tokens.get(at + 1).filter(|next| next.is_word()).map(|next| next.text);
        match token.text {
            "{" => braces.push(std::mem::take(&mut is_associating)),
            "}" => drop(braces.pop()),
            ";" => is_associating = false,
            "impl" => is_associating = true,
            "trait" => {
                is_associating = true;
                found.extend(name);
            }
            "struct" | "enum" => found.extend(name),
            "type" if braces.last() != Some(&true) => found.extend(name),
            _ => {}
        }
    }
    found
}

#[test]
fn types_that_are_defined_are_found() {
    let text = "
        pub struct A<T>(T); enum B { C { d: u8 } }
        trait E { type F; fn g(x: impl Fn() -> u8); }
        impl<T> E for A<T> { type F = u8; fn g(x: impl Fn() -> u8) { struct H; } }
        type I = fn(u8); mod j { pub(crate) type K = u8; }
        #[cfg(test)] mod tests { struct L; }
    ";
    assert_eq!(type_names(&crate::tokens::production(text)), ["A", "B", "E", "H", "I", "K"]);
}

#[test]
fn names_above_the_limit_are_listed() {
    let one = |file: &str| BTreeSet::from([file.to_owned()]);
    let mut files: BTreeMap<String, BTreeSet<String>> =
        (0..23).map(|number| (format!("T{number}"), one("a.rs"))).collect();
    for number in 0..2 {
        files.insert(format!("U{number}"), BTreeSet::from(["a.rs".to_owned(), "b.rs".to_owned()]));
    }
    assert_eq!(too_many(&files), None, "2 of 25 are 8 %");
    files.remove("T0");
    let told = too_many(&files).expect("2 of 24 are more");
    assert!(told.contains("2 of 24 type names (8.3 %)") && told.contains("U0: a.rs, b.rs"), "{told}");
}
