//! Needs of a call: the paths and ids in its arguments, and the text it replaces.

use crate::show::simulate::reading::names::{EntityNames, Name};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::LazyLock;
use wunderblock_core::literal::{LiteralKind, literals};

/// Number of calls examined after a compaction.
pub(in crate::show::simulate) const CALLS: usize = 3;
/// Minimum bytes of a line. Very short lines occur in any file.
const LINE_MIN: usize = 4;

/// Names of arguments; `needs.toml` describes each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentNames {
    replaced: Vec<String>,
    patches: Vec<String>,
    ids: Vec<String>,
}

// Tests check that the embedded file can be parsed.
static ARGUMENTS: LazyLock<ArgumentNames> =
    LazyLock::new(|| toml::from_str(include_str!("needs.toml")).unwrap_or_default());

/// Keys found in the arguments of a call.
#[derive(Default)]
struct ArgumentNeeds {
    named: Vec<Vec<u64>>,
    lines: Vec<Vec<u64>>,
}

/// Returns the needs of a call. Each need is a set of keys: one key for a path or an id, one per line for a text.
pub(in crate::show::simulate) fn needs(input: &str) -> Vec<Vec<u64>> {
    let mut found = ArgumentNeeds::default();
    read(input, &mut found);
    let mut all: Vec<Vec<u64>> = found.named.into_iter().chain(found.lines).collect();
    all.retain(|keys| !keys.is_empty());
    all.sort_unstable();
    all.dedup();
    all
}

fn read(input: &str, found: &mut ArgumentNeeds) {
    match serde_json::from_str::<Value>(input) {
        Ok(Value::Object(fields)) => fields.iter().for_each(|(name, value)| look(name, value, found)),
        Ok(value) => look("input", &value, found),
        Err(_) => look("input", &Value::String(input.to_owned()), found),
    }
}

fn look(name: &str, value: &Value, found: &mut ArgumentNeeds) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| look(name, value, found)),
        Value::Array(values) => values.iter().for_each(|value| look(name, value, found)),
        Value::String(text) => {
            let is = |names: &[String]| names.iter().any(|known| known == name);
            if is(&ARGUMENTS.replaced) {
                found.lines.push(each(text.lines()));
                return;
            }
            let is_id = ARGUMENTS.ids.iter().any(|end| name.ends_with(end.as_str()));
            let named = literals(text).filter(|literal| literal.is_entity());
            let named = named.filter(|it| is_id || matches!(it.kind, LiteralKind::Path | LiteralKind::Id));
            found.named.extend(named.map(|literal| vec![literal.key()]));
            if is(&ARGUMENTS.patches) && text.contains("*** Begin Patch") {
                found.lines.push(each(text.lines().filter_map(|line| line.strip_prefix(['-', ' ']))));
            }
        }
        _ => {}
    }
}

/// Returns the keys of the lines that a call replaces.
pub(in crate::show::simulate) fn replaced(input: &str) -> Vec<u64> {
    let mut found = ArgumentNeeds::default();
    read(input, &mut found);
    found.lines.into_iter().flatten().collect()
}

fn each<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<u64> {
    let mut keys: Vec<u64> = lines.filter_map(line_key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Returns the key of a line without surrounding whitespace; `None` for a line without content.
fn line_key(line: &str) -> Option<u64> {
    let line = line.trim();
    if line.len() < LINE_MIN || !line.contains(char::is_alphanumeric) {
        return None;
    }
    let hash = blake3::hash(line.as_bytes());
    let bytes: [u8; 8] = std::array::from_fn(|at| hash.as_bytes().get(at).copied().unwrap_or_default());
    Some(u64::from_le_bytes(bytes))
}

/// Adds the keys of those lines of a text that some call replaces. A line number before a line is ignored. The
/// strings of a call's arguments are compared unescaped.
pub(in crate::show::simulate) fn lines(text: &str, wanted: &HashSet<u64>, into: &mut Vec<u64>) {
    if wanted.is_empty() {
        return;
    }
    if text.starts_with('{')
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        return strings(&value, wanted, into);
    }
    for line in text.lines() {
        let bare = numbered(line);
        let keys = [line_key(line), bare.and_then(line_key)];
        into.extend(keys.into_iter().flatten().filter(|key| wanted.contains(key)));
    }
}

fn strings(value: &Value, wanted: &HashSet<u64>, into: &mut Vec<u64>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| strings(value, wanted, into)),
        Value::Array(values) => values.iter().for_each(|value| strings(value, wanted, into)),
        Value::String(text) => {
            into.extend(text.lines().filter_map(line_key).filter(|key| wanted.contains(key)));
        }
        _ => {}
    }
}

/// Returns a line without the number that a tool for showing files puts before it: `  12→`, `12:`, `12|`, a tab.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['→', ':', '|', '\t', '-'])
}

/// Needs of a call, by number.
pub(in crate::show::simulate) struct CallNeeds {
    /// Index of the event with the call.
    pub(in crate::show::simulate) event: usize,
    /// Needs of the call: each is the set of names of one thing.
    pub(in crate::show::simulate) items: Vec<Box<[Name]>>,
}

impl CallNeeds {
    /// Numbers the needs of a call. Names that the session mentions nowhere else get numbers, too.
    pub(in crate::show::simulate) fn new(event: usize, keys: &[Vec<u64>], names: &mut EntityNames) -> Self {
        Self { event, items: keys.iter().map(|keys| names.intern(keys)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> u64 {
        literals(text).next().map(|literal| literal.key()).unwrap_or_default()
    }

    #[test]
    fn a_call_needs_its_paths_its_ids_and_the_text_it_replaces() {
        let edit = r#"{"file_path":"src/a.rs","old_string":"fn one() {\n}\nfn two()","new_string":"x"}"#;
        let found = needs(edit);
        assert!(found.contains(&vec![key("src/a.rs")]), "{found:?}");
        let replaced = each("fn one() {\nfn two()".lines());
        assert_eq!(replaced.len(), 2, "a brace says nothing");
        assert!(found.contains(&replaced));
        let booking = needs(r#"{"reservation_id":"gift_card_7480005","note":"plain_words"}"#);
        assert_eq!(booking, [vec![key("gift_card_7480005")]], "only what is an id");
        let patch = needs("*** Begin Patch\n*** Update File: src/b.rs\n-old line\n+new line\n*** End Patch");
        assert!(patch.contains(&each("old line".lines())) && patch.contains(&vec![key("src/b.rs")]));
    }

    #[test]
    fn lines_are_found_behind_numbers_and_in_arguments() {
        let wanted: HashSet<u64> = each("let x = 1;\nlet y = 2;".lines()).into_iter().collect();
        for text in [
            "    let x = 1;\nlet y = 2;",
            "   11→    let x = 1;\n12:let y = 2;",
            r#"{"new_string":"let x = 1;\n  let y = 2;"}"#,
        ] {
            let mut found = Vec::new();
            lines(text, &wanted, &mut found);
            assert_eq!(found.into_iter().collect::<HashSet<u64>>(), wanted, "{text}");
        }
    }
}
