//! Parses a policy file, completes it with the policy it extends, and checks the result.
//!
//! ```text
//! text ─ TOML ─ keys and kinds (all mistakes at once) ─ the file it extends, merged ─ Policy ─ Policy::faults
//! ```

use super::finding::{PolicyError, PolicyFinding};
use super::nearest::{quoted, shortened, suggestion};
use super::schema::{DOES, POLICY, PolicyKey, STEPS, ValueKind, home};
use crate::limits::MAX_POLICY;
use std::ops::Range;
use toml::Table;
use toml::de::{DeTable, DeValue};
use wunderblock_core::policy::{Policy, Severity};

/// A parsed policy, and warnings about its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The policy.
    pub policy: Policy,
    /// Findings that leave the policy usable but may not be intended.
    pub warnings: Vec<PolicyFinding>,
}

/// Policies that a file may extend: their names, and a lookup of their texts.
pub(super) struct Bases<'b> {
    pub(super) names: &'b [&'static str],
    pub(super) text: &'b dyn Fn(&str) -> Option<&'static str>,
}

/// Parses and checks a policy file.
pub(super) fn parse(text: &str, origin: &str, bases: &Bases<'_>) -> Result<Parsed, PolicyError> {
    let refused = |findings| PolicyError::new(origin, findings);
    let lines = Lines::of(text);
    if text.len() > MAX_POLICY {
        let what = format!("the file is too large: {} bytes, maximum {MAX_POLICY}", text.len());
        return Err(refused(vec![PolicyFinding::error(None, "", what)]));
    }
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| lines.at(&span));
        refused(vec![PolicyFinding::error(line, "", format!("invalid TOML: {}", error.message()))])
    })?;
    let mut walk = KeyCheck { lines: &lines, findings: Vec::new() };
    walk.table(document.get_ref(), POLICY, "", None);
    if !walk.findings.is_empty() {
        return Err(refused(walk.findings));
    }
    // The file is parsed a second time, because the document has line numbers but only a `Table` can be merged.
    let own: Table = toml::from_str(text)
        .map_err(|error| refused(vec![PolicyFinding::error(None, "", error.message().to_owned())]))?;
    let place = |key: &str| line_of(document.get_ref(), key, &lines);
    let whole = extended(own, bases, &mut Vec::new())
        .map_err(|what| refused(vec![PolicyFinding::error(place("extends"), "extends", what)]))?;
    let policy: Policy = whole.try_into().map_err(|error: toml::de::Error| {
        refused(vec![PolicyFinding::error(None, "", error.message().to_owned())])
    })?;
    let found = policy.faults().into_iter().map(|fault| PolicyFinding { line: place(&fault.key), fault });
    let (errors, warnings): (Vec<_>, Vec<_>) =
        found.partition(|finding| finding.fault.severity == Severity::Error);
    if errors.is_empty() { Ok(Parsed { policy, warnings }) } else { Err(refused(errors)) }
}

/// Merges a file into the policy it extends: tables are merged, and any other value replaces the corresponding value
/// of the base.
fn extended(mut own: Table, bases: &Bases<'_>, chain: &mut Vec<String>) -> Result<Table, String> {
    let Some(value) = own.remove("extends") else {
        return Ok(own);
    };
    let name = value.as_str().unwrap_or_default().to_owned();
    if chain.contains(&name) {
        return Err(format!("`{}` extends `{name}` again: a loop", chain.join("` extends `")));
    }
    let Some(text) = (bases.text)(&name) else {
        return Err(format!("unknown policy `{}`{}", shortened(&name), suggestion(&name, bases.names)));
    };
    let base: Table =
        toml::from_str(text).map_err(|error| format!("`{name}` cannot be read: {}", error.message()))?;
    chain.push(name);
    let mut base = extended(base, bases, chain)?;
    merge(&mut base, own);
    Ok(base)
}

fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => merge(below, above),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

/// Byte offsets of the line breaks of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, span: &Range<usize>) -> usize {
        self.0.partition_point(|newline| *newline < span.start) + 1
    }
}

/// Returns the line of a key in a text that is known to parse.
pub(super) fn line_of_key(text: &str, key: &str) -> Option<usize> {
    line_of(DeTable::parse(text).ok()?.get_ref(), key, &Lines::of(text))
}

/// Returns the line of a key such as `step.2.to`, or of the table that would contain it; `None` if the file has
/// neither.
fn line_of(document: &DeTable<'_>, key: &str, lines: &Lines) -> Option<usize> {
    let (mut line, mut table) = (None, document);
    let mut parts = key.split('.');
    while let Some(part) = parts.next() {
        let Some((name, value)) = table.get_key_value(part) else {
            return line;
        };
        line = Some(lines.at(&name.span()));
        let mut value = value.get_ref();
        if let Some(array) = value.as_array() {
            let number = parts.next().and_then(|number| number.parse::<usize>().ok());
            let Some(element) = number.and_then(|number| array.get(number.checked_sub(1)?)) else {
                return line;
            };
            line = Some(lines.at(&element.span()));
            value = element.get_ref();
        }
        let Some(inner) = value.as_table() else {
            return line;
        };
        table = inner;
    }
    line
}

/// A walk over a document that collects all mistakes in keys and in the kinds of their values.
struct KeyCheck<'w> {
    lines: &'w Lines,
    findings: Vec<PolicyFinding>,
}

impl KeyCheck<'_> {
    fn table(&mut self, table: &DeTable<'_>, keys: &[PolicyKey], path: &str, line: Option<usize>) {
        for (name, value) in table {
            let at = self.lines.at(&name.span());
            let typed = name.get_ref().as_ref();
            match keys.iter().find(|key| key.name == typed) {
                Some(key) => self.value(value.get_ref(), key.kind, &joined(path, typed), at),
                None => {
                    let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
                    let what = match home(typed) {
                        Some(home) => format!("unknown key here; it belongs in `{home}`"),
                        None => format!("unknown key{}", suggestion(typed, &known)),
                    };
                    self.findings.push(PolicyFinding::error(Some(at), joined(path, &shortened(typed)), what));
                }
            }
        }
        for key in keys.iter().filter(|key| key.is_required && !table.contains_key(key.name)) {
            let what = match key.kind {
                ValueKind::Word(words) => format!("this key is missing; expected one of {}", quoted(words)),
                _ => "this key is missing".to_owned(),
            };
            self.findings.push(PolicyFinding::error(line, joined(path, key.name), what));
        }
    }

    fn value(&mut self, value: &DeValue<'_>, kind: ValueKind, path: &str, line: usize) {
        let result = match (kind, value) {
            (ValueKind::Table(keys), DeValue::Table(table)) => {
                return self.table(table, keys, path, Some(line));
            }
            (ValueKind::Tables(_) | ValueKind::Steps, DeValue::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    let at = self.lines.at(&element.span());
                    self.element(element.get_ref(), kind, &format!("{path}.{}", index + 1), at);
                }
                return;
            }
            (ValueKind::Words(words), DeValue::Array(elements)) => {
                let wrong = elements.iter().find_map(|word| is_word(word.get_ref(), words).err());
                wrong.map_or(Ok(()), Err)
            }
            (ValueKind::Part, value) => is_part(value),
            (ValueKind::Count(most), value) => is_count(value, most),
            (ValueKind::Flag, DeValue::Boolean(_)) | (ValueKind::Text, DeValue::String(_)) => Ok(()),
            (ValueKind::Word(words), value) => is_word(value, words),
            (kind, value) => Err(mismatch(kind, value, path)),
        };
        if let Err(what) = result {
            self.findings.push(PolicyFinding::error(Some(line), path, what));
        }
    }

    fn element(&mut self, value: &DeValue<'_>, kind: ValueKind, path: &str, line: usize) {
        let Some(table) = value.as_table() else {
            let what = format!("found {}, expected a table", spoken(value));
            return self.findings.push(PolicyFinding::error(Some(line), path, what));
        };
        if let ValueKind::Tables(keys) = kind {
            return self.table(table, keys, path, Some(line));
        }
        let typed = table.get("do").map(|value| value.get_ref());
        let keys = STEPS.iter().find(|(name, _)| typed.and_then(DeValue::as_str) == Some(name));
        match (keys, typed) {
            (Some((_, keys)), _) => self.table(table, keys, path, Some(line)),
            (None, Some(value)) => {
                let what = is_word(value, DOES).err().unwrap_or_default();
                let line = line_of(table, "do", self.lines).unwrap_or(line);
                self.findings.push(PolicyFinding::error(Some(line), format!("{path}.do"), what));
            }
            (None, None) => {
                let what = format!("this key is missing; expected one of {}", quoted(DOES));
                self.findings.push(PolicyFinding::error(Some(line), format!("{path}.do"), what));
            }
        }
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn is_part(value: &DeValue<'_>) -> Result<(), String> {
    let number = match value {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        DeValue::Integer(_) => count(value).map(|count| f64::from(u16::try_from(count).unwrap_or(u16::MAX))),
        _ => return Err(format!("found {}, expected a ratio such as 0.92", spoken(value))),
    };
    match number {
        // The value is at most 65, because a ratio is stored in thousandths as `u16`. Larger values up to 100 are
        // probably percentages.
        Some(number) if (0.0..=65.0).contains(&number) => Ok(()),
        Some(number) if (65.0..=100.0).contains(&number) => Err(format!(
            "found {}, expected a ratio; {number} % is written {}",
            spoken(value),
            number / 100.0
        )),
        _ => Err(format!("found {}, expected a ratio such as 0.92", spoken(value))),
    }
}

fn is_count(value: &DeValue<'_>, most: u64) -> Result<(), String> {
    match (value, count(value)) {
        (_, Some(count)) if count <= most => Ok(()),
        (DeValue::Integer(_), _) => {
            Err(format!("found {}, expected a whole number from 0 to {most}", spoken(value)))
        }
        _ => Err(format!("found {}, expected a whole number", spoken(value))),
    }
}

fn count(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn is_word(value: &DeValue<'_>, words: &[&str]) -> Result<(), String> {
    match value.as_str() {
        Some(word) if words.contains(&word) => Ok(()),
        Some(word) => Err(format!("unknown value `{}`{}", shortened(word), suggestion(word, words))),
        None => Err(format!("found {}, expected one of {}", spoken(value), quoted(words))),
    }
}

fn mismatch(kind: ValueKind, value: &DeValue<'_>, path: &str) -> String {
    let should = match kind {
        ValueKind::Flag => "`true` or `false`".to_owned(),
        ValueKind::Text => "a text in quotation marks".to_owned(),
        ValueKind::Words(words) => format!("a list of {}", quoted(words)),
        ValueKind::Table(_) => format!("a table: write `[{path}]` before its keys"),
        ValueKind::Tables(_) | ValueKind::Steps => {
            format!("a list of tables: write `[[{path}]]` before the keys of each")
        }
        ValueKind::Part | ValueKind::Count(_) | ValueKind::Word(_) => "a value of another kind".to_owned(),
    };
    format!("found {}, expected {should}", spoken(value))
}

/// Describes a value in a few words.
fn spoken(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{}\"", shortened(text)),
        DeValue::Integer(number) => format!("`{}`", shortened(&number.to_string())),
        DeValue::Float(number) => format!("`{}`", shortened(number.as_str())),
        DeValue::Boolean(flag) => format!("`{flag}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn bases(name: &str) -> Option<&'static str> {
        match name {
            "base" => Some(
                "name = \"base\"\n[trigger]\ndown_to = 0.5\n[trigger.soft]\nfraction = 0.9\nmessages = 7\n[[step]]\n\
                 do = \"dedupe\"\n[[step]]\ndo = \"stub\"\n",
            ),
            "middle" => Some("name = \"middle\"\nextends = \"base\"\n[trigger.soft]\nmessages = 9\n"),
            "a" => Some("name = \"a\"\nextends = \"b\"\n"),
            "b" => Some("name = \"b\"\nextends = \"a\"\n"),
            _ => None,
        }
    }

    fn read(text: &str) -> Result<Parsed, PolicyError> {
        parse(text, "mine", &Bases { names: &["base", "middle", "a", "b"], text: &bases })
    }

    #[test]
    fn tables_are_merged_and_lists_replaced() {
        let parsed = read(
            "name = \"mine\"\nextends = \"middle\"\n[trigger.soft]\nfraction = 0.8\n[[step]]\ndo = \"summarise\"\n",
        );
        let expected = "name = \"mine\"\n[trigger]\ndown_to = 0.5\n[trigger.soft]\nfraction = 0.8\nmessages = 9\n\
                        [[step]]\ndo = \"summarise\"\n";
        assert_eq!(parsed.unwrap(), read(expected).unwrap());
        let about = read("name = \"mine\"\nextends = \"base\"\nabout = \"x\"\n").unwrap().policy;
        assert_eq!((about.steps.len(), about.trigger.soft.messages), (2, Some(7)));
    }

    #[test]
    fn a_loop_is_refused() {
        let error = read("name = \"mine\"\nextends = \"a\"\n").unwrap_err();
        assert_eq!(error.to_string(), "mine: line 2: extends: `a` extends `b` extends `a` again: a loop");
        let error = read("name = \"mine\"\nextends = \"mine\"\n").unwrap_err();
        let expected =
            "mine: line 2: extends: unknown policy `mine`; expected one of `base`, `middle`, `a`, `b`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_is_large_deep_or_wrong_many_times_is_refused_at_once() {
        let long = read(&"#".repeat(MAX_POLICY + 1)).unwrap_err();
        assert_eq!(long.to_string(), "mine: the file is too large: 65537 bytes, maximum 65536");
        let nested = read(&format!("name = {}", "[".repeat(MAX_POLICY - 7))).unwrap_err();
        assert_eq!(
            nested.to_string(),
            "mine: line 1: invalid TOML: cannot recurse further; max recursion depth met"
        );
        assert!(read(&format!("{} = 1", ["a"; 30_000].join("."))).is_err());
        let many: String = (0..5_000).map(|number| format!("k{number} = 1\n")).collect();
        let many = read(&many).unwrap_err();
        assert_eq!(many.findings.len(), 5_001);
        assert!(many.to_string().ends_with("\n  … and 4981 more"), "{many}");
    }
}
