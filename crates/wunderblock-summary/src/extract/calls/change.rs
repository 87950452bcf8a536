//! Texts that a call writes, and texts that it replaces.

use super::act::fields;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use wunderblock_core::literal::{Literal, LiteralKind, literals};
use wunderblock_reduce::defined_name;

/// Maximum number of added names that are kept: the first ones in a call, or the newest ones in a file.
pub(super) const ADDED_MAX: usize = 24;
/// Number of added names that the line of a file lists, counted from the newest. The others are spare.
pub(in crate::extract) const ADDED_LISTED: usize = 10;
/// Maximum number of bytes in a name.
const NAME_MAX: usize = 60;
/// Names that occur in many files.
const EVERYDAY: [&str; 8] = ["main", "new", "init", "__init__", "fmt", "from", "default", "test"];

/// Texts of a change, from the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct WrittenText {
    /// Texts that the change replaces.
    pub(super) over: Vec<String>,
    /// Texts that the change writes.
    pub(in crate::extract) written: Vec<String>,
}

impl WrittenText {
    /// Collects the texts of all arguments, at any depth. Arguments that hold replaced text have names that begin
    /// with `old`, whereas a patch marks its replaced lines.
    pub(in crate::extract) fn of_call(input: &str) -> Self {
        let mut change = Self::default();
        fields(input).into_iter().for_each(|(name, value)| change.take(&name, value));
        change
    }

    fn take(&mut self, name: &str, value: &RawValue) {
        if let Ok(text) = serde_json::from_str::<String>(value.get()) {
            self.read(name, text);
        } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            items.into_iter().for_each(|item| self.take(name, item));
        } else {
            fields(value.get()).into_iter().for_each(|(name, value)| self.take(&name, value));
        }
    }

    fn read(&mut self, name: &str, text: String) {
        if name.starts_with("old") {
            self.over.push(text);
        } else if text.lines().any(|line| line.starts_with("@@") || line.starts_with("*** ")) {
            let marked = |mark: &str| {
                text.lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>().join("\n")
            };
            self.over.push(marked("-"));
            self.written.push(marked("+"));
        } else {
            self.written.push(text);
        }
    }

    /// Returns the names that the written texts have and the replaced texts lack: first, in order, those that they
    /// define, then the most frequent of those that are new to the session, as `is_known` tells.
    pub(in crate::extract) fn adds(
        &self,
        is_rewrite: bool,
        is_known: impl Fn(&Literal<'_>) -> bool,
    ) -> Vec<String> {
        let old = defined(&self.over);
        let over: HashSet<u64> =
            self.over.iter().flat_map(|text| identifiers(text)).map(|one| one.key()).collect();
        let mut coined: Vec<(usize, &str)> = Vec::new();
        let mut places: HashMap<u64, usize> = HashMap::new();
        for name in self.written.iter().flat_map(|text| identifiers(text)) {
            let place = *places.entry(name.key()).or_insert(coined.len());
            match coined.get_mut(place) {
                Some((count, _)) => *count += 1,
                None if over.contains(&name.key()) || is_known(&name) => coined.push((0, "")),
                None => coined.push((1, name.text)),
            }
        }
        coined.retain(|(_, name)| !name.is_empty());
        coined.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let mut names: Vec<String> = Vec::new();
        let coined = coined.into_iter().map(|(_, name)| name.to_owned());
        let is_new = |name: &String| {
            let is_old = || literals(name).next().is_some_and(|name| is_known(&name));
            !old.contains(name) && (!is_rewrite || !is_old())
        };
        for name in defined(&self.written).into_iter().filter(is_new).chain(coined) {
            let is_new = !names.contains(&name) && !EVERYDAY.contains(&name.as_str());
            if is_new && names.len() < ADDED_MAX {
                names.push(name);
            }
        }
        names
    }

    /// Returns the names that the replaced texts have and the written texts lack.
    pub(in crate::extract) fn removes(&self) -> Vec<String> {
        let names = |texts: &[String]| -> HashSet<String> {
            let used = texts.iter().flat_map(|text| identifiers(text)).map(|name| name.text.to_owned());
            used.chain(defined(texts)).collect()
        };
        let written = names(&self.written);
        names(&self.over).into_iter().filter(|name| !written.contains(name)).collect()
    }
}

/// Returns the names that texts define, in order.
fn defined(texts: &[String]) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter_map(|line| defined_name(line.trim_start())).map(str::to_owned).collect()
}

/// Returns the keys of the identifiers in a file's text.
pub(in crate::extract) fn coins(text: &str) -> impl Iterator<Item = u64> {
    identifiers(text).map(|name| name.key())
}

/// Returns the names in a program's text that are worth repeating.
fn identifiers(text: &str) -> impl Iterator<Item = Literal<'_>> {
    let is_name = |literal: &Literal<'_>| {
        let is_member = literal.text.contains('.') && !literal.text.contains(char::is_uppercase);
        literal.kind == LiteralKind::Identifier
            && literal.is_entity()
            && !literal.text.starts_with('-')
            && !is_member
    };
    literals(text).filter(is_name).filter(|name| name.text.len() <= NAME_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_removes_what_it_does_not_write_again() {
        let input = json!({"path": "a.py", "old_string": "def parse(text):\n    return read_all(text)",
            "new_string": "def parse(text):\n    return text"});
        assert_eq!(WrittenText::of_call(&input.to_string()).removes(), ["read_all"]);
    }

    #[test]
    fn a_change_defines_what_it_did_not_replace() {
        let cases = [
            (
                json!({"path": "a.ts", "oldText": "export function load(a) {", "newText":
                    "export function load(a, b) {\n  if (a) {\n  }\n}\n\nasync function watch() {\n"}),
                vec!["watch"],
            ),
            (
                json!({"file_path": "a.rs", "content":
                    "use std::fmt;\n\npub(crate) struct Grouped(u64);\n\nimpl Grouped {\n    pub const fn of(n: u64) -> Self {\n"}),
                vec!["Grouped", "of"],
            ),
            (
                json!({"edits": [{"old_string": "x = 1", "new_string": "def parse(text):\n    return text"}]}),
                vec!["parse"],
            ),
            (
                json!({"patch": "*** Update File: a.py\n@@\n-def one():\n+def one(a):\n+class Two:"}),
                vec!["Two"],
            ),
            (
                json!({"file_path": "a.md", "content": "The type of errors is told.\n- type errors are gone"}),
                vec![],
            ),
        ];
        for (input, names) in cases {
            let is_known = |name: &Literal<'_>| name.text == "std::fmt";
            assert_eq!(WrittenText::of_call(&input.to_string()).adds(false, is_known), names, "{input}");
        }
        assert_eq!(WrittenText::of_call("not json"), WrittenText::default());
    }
}
