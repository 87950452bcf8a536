//! Texts that a call writes, and texts that it replaces.

use super::act::fields;
use serde_json::value::RawValue;
use wunderblock_reduce::defined_name;

/// Maximum number of defined names that are listed: the first ones in a call, or the newest ones in a file.
pub(super) const DEFINED_MAX: usize = 6;
/// Names that occur in many files.
const EVERYDAY: [&str; 8] = ["main", "new", "init", "__init__", "fmt", "from", "default", "test"];

/// Texts of a change, from the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenText {
    /// Texts that the change replaces.
    pub(super) over: Vec<String>,
    /// Texts that the change writes.
    pub(super) written: Vec<String>,
}

impl WrittenText {
    /// Collects the texts of all arguments, at any depth. Arguments that hold replaced text have names that begin
    /// with `old`, whereas a patch marks its replaced lines.
    pub(super) fn of_call(input: &str) -> Self {
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

    /// Returns, in order, the names that the written texts define but the replaced texts do not.
    pub(super) fn defines(&self) -> Vec<String> {
        let defined = |texts: &'_ [String]| -> Vec<String> {
            let lines = texts.iter().flat_map(|text| text.lines());
            lines.filter_map(|line| defined_name(line.trim_start())).map(str::to_owned).collect()
        };
        let old = defined(&self.over);
        let mut names: Vec<String> = Vec::new();
        for name in defined(&self.written) {
            let is_new = !old.contains(&name) && !names.contains(&name);
            if is_new && !EVERYDAY.contains(&name.as_str()) && names.len() < DEFINED_MAX {
                names.push(name);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            assert_eq!(WrittenText::of_call(&input.to_string()).defines(), names, "{input}");
        }
        assert_eq!(WrittenText::of_call("not json"), WrittenText::default());
    }
}
