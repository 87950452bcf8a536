//! The names that a call defines in a file: what its change brought in.

use super::act::argument_texts;
use regex::Regex;
use std::sync::LazyLock;

/// Names of one call that are kept: the first.
const NAMES_MAX: usize = 6;
/// A shorter name says nothing by itself, in bytes …
const NAME_MIN: usize = 3;
/// … and a longer one is a sentence.
const NAME_MAX: usize = 60;

/// A definition at the beginning of a line: behind its word, or as languages write methods that have none.
static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r"(?:export |default |pub(?:\([a-z]+\))? |async |unsafe |static |public |private |protected |abstract |final |readonly )*";
    let words = "fn|function|func|def|class|struct|enum|trait|interface|type|mod|macro_rules!";
    // A variable that nobody else sees is none, unless its name is that of a constant.
    let value = r"(?:(?:export |pub(?:\([a-z]+\))? )(?:const|let|var|static) +([A-Za-z_]\w*)|(?:const|static) +([A-Z][A-Z0-9_]+)) ?[:=]";
    Regex::new(&format!(
        r"(?m)^[ \t]*{before}(?:{words})\*? +([A-Za-z_]\w*)|^{value}|^[ \t]+{before}([A-Za-z_]\w*)\([^;=]*\)[^;=(]*\{{$"
    ))
    .ok()
});

/// What begins as a method without a word for it does, and is none.
const CONTROL: [&str; 9] =
    ["if", "for", "while", "switch", "catch", "return", "match", "constructor", "function"];
/// Names that every file may have.
const EVERYDAY: [&str; 4] = ["main", "test", "tests", "default"];

fn defined(text: &str) -> impl Iterator<Item = &str> {
    let found = DEFINITION.as_ref().map(|definition| definition.captures_iter(text));
    let names = found.into_iter().flatten().filter_map(|found| found.iter().skip(1).flatten().next());
    names.map(|name| name.as_str()).filter(|name| {
        (NAME_MIN..=NAME_MAX).contains(&name.len()) && !CONTROL.contains(name) && !EVERYDAY.contains(name)
    })
}

/// The names that the arguments of a call define and what it replaces does not, in order.
pub(super) fn added(input: &str) -> Vec<String> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    argument_texts(input, &mut |name, text| {
        if name.starts_with("old") {
            old.push(text);
        } else if text.contains("\n+") {
            // A patch has both, line by line.
            for line in text.lines() {
                if let Some(line) = line.strip_prefix('-') {
                    old.push(line.to_owned());
                } else if let Some(line) = line.strip_prefix('+') {
                    new.push(line.to_owned());
                }
            }
        } else {
            new.push(text);
        }
    });
    let mut names: Vec<String> = Vec::new();
    for name in new.iter().flat_map(|text| defined(text)) {
        let is_old = old.iter().flat_map(|text| defined(text)).any(|before| before == name);
        if !is_old && names.len() < NAMES_MAX && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_adds_what_it_defines_and_did_not_replace() {
        let cases: &[(serde_json::Value, &[&str])] = &[
            (
                serde_json::json!({"path": "a.ts", "oldText": "export function load(a) {", "newText":
                    "export function load(a, b) {\n  if (a) {\n  }\n}\n\nconst DEBOUNCE = 100;\nconst local = 1;\n  invalidate(): void {\n    const inner = 1;"}),
                &["DEBOUNCE", "invalidate"],
            ),
            (
                serde_json::json!({"file_path": "a.rs", "content":
                    "use std::fmt;\n\npub(crate) struct Grouped(u64);\n\nimpl Grouped {\n    pub const fn of(n: u64) -> Self {\nmod tests {\n"}),
                &["Grouped"],
            ),
            (
                serde_json::json!({"edits": [{"old_string": "x = 1", "new_string": "def parse(text):\n    return text"}]}),
                &["parse"],
            ),
            (
                serde_json::json!({"patch": "*** Update File: a.py\n@@\n-def one():\n+def one(a):\n+class Two:"}),
                &["Two"],
            ),
            (serde_json::json!({"command": "view", "path": "/a/b.py"}), &[]),
        ];
        for (input, names) in cases {
            assert_eq!(added(&input.to_string()), *names, "{input}");
        }
        assert_eq!(added("not json"), [""; 0]);
    }
}
