//! All mistakes in the keys and values of a policy file, each with its line.

use super::finding::PolicyFinding;
use super::lines::Lines;
use super::probe::{DO, Part, Wanted, accepts, below, home, required, spoken, wanted};
use super::suggestion::{quoted, shortened, suggestion};
use serde::Deserialize;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

/// Finds the keys and values of a file that the types of a policy reject, and the keys that are missing.
pub(super) fn mistakes(document: &DeTable<'_>, lines: &Lines) -> Vec<PolicyFinding> {
    let mut walk = Walk { lines, findings: Vec::new() };
    if let Wanted::Table(keys) = wanted(&[]) {
        walk.table(document, &keys, &[], None);
    }
    walk.findings
}

struct Walk<'w> {
    lines: &'w Lines,
    findings: Vec<PolicyFinding>,
}

impl Walk<'_> {
    fn find(&mut self, line: Option<usize>, path: &[Part<'_>], what: impl Into<String>) {
        self.findings.push(PolicyFinding::error(line, spoken(path), what));
    }

    fn table(&mut self, table: &DeTable<'_>, keys: &[String], path: &[Part<'_>], line: Option<usize>) {
        for (name, value) in table {
            let (at, typed) = (self.lines.at(&name.span()), name.get_ref().as_ref());
            if keys.iter().any(|key| key == typed) {
                self.value(value, &below(path, Part::Key(typed)), at);
                continue;
            }
            let what = match home(typed) {
                Some(home) => format!("unknown key here; it belongs in `{home}`"),
                None => format!("unknown key{}", suggestion(typed, keys)),
            };
            self.find(Some(at), &below(path, Part::Key(&shortened(typed))), what);
        }
        for key in required(path).iter().filter(|key| !table.contains_key(key.as_str())) {
            self.missing(line, &below(path, Part::Key(key)));
        }
    }

    fn missing(&mut self, line: Option<usize>, path: &[Part<'_>]) {
        let what = match wanted(path) {
            Wanted::Word(words) => format!("this key is missing; expected one of {}", quoted(&words)),
            _ => "this key is missing".to_owned(),
        };
        self.find(line, path, what);
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &[Part<'_>], line: usize) {
        let is_nested = value.get_ref().is_table() || value.get_ref().is_array();
        match (value.get_ref(), is_nested.then(|| wanted(path))) {
            (DeValue::Table(table), Some(Wanted::Table(keys))) => self.table(table, &keys, path, Some(line)),
            (DeValue::Array(elements), Some(Wanted::Tables)) => self.elements(elements, path),
            // Not where a table is wanted, because Serde would take the elements of a list for a table's values.
            (_, None | Some(Wanted::Words(_))) if plain(value).is_some_and(|value| accepts(path, value)) => {}
            _ => self.find(Some(line), path, mismatch(value.get_ref(), &wanted(path), path)),
        }
    }

    fn elements(&mut self, elements: &[Spanned<DeValue<'_>>], path: &[Part<'_>]) {
        let are_steps = matches!(path, [Part::Key("step")]);
        for (index, element) in elements.iter().enumerate() {
            let at = |step| below(path, Part::Element(index + 1, step));
            let line = self.lines.at(&element.span());
            let Some(table) = element.get_ref().as_table() else {
                let what = format!("found {}, expected a table", described(element.get_ref()));
                self.find(Some(line), &at(None), what);
                continue;
            };
            let step = table.get(DO).and_then(|step| step.get_ref().as_str()).filter(|_| are_steps);
            // A step whose kind is unknown has no known keys.
            match (wanted(&at(step)), table.get_key_value(DO)) {
                (Wanted::Table(keys), _) => self.table(table, &keys, &at(step), Some(line)),
                (_, Some((name, value))) => {
                    self.value(value, &below(&at(None), Part::Key(DO)), self.lines.at(&name.span()));
                }
                (_, None) => self.missing(Some(line), &below(&at(None), Part::Key(DO))),
            }
        }
    }
}

/// Returns a value without its place; `None` for a number that TOML cannot represent.
fn plain(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    Value::deserialize(ValueDeserializer::from(value.clone())).ok()
}

/// Describes why a value is rejected: what it is, and what its type accepts.
fn mismatch(value: &DeValue<'_>, wanted: &Wanted, path: &[Part<'_>]) -> String {
    let should = match wanted {
        Wanted::Word(words) => match value.as_str() {
            Some(word) => return format!("unknown value `{}`{}", shortened(word), suggestion(word, words)),
            None => format!("one of {}", quoted(words)),
        },
        Wanted::Words(words) => {
            let wrong = |element: &&DeValue<'_>| !words.iter().any(|word| element.as_str() == Some(word));
            let mut elements = value.as_array().into_iter().flatten().map(|element| element.get_ref());
            match elements.find(wrong) {
                Some(element) => return mismatch(element, &Wanted::Word(words.clone()), path),
                None => format!("a list of {}", quoted(words)),
            }
        }
        Wanted::Table(_) => format!("a table: write `[{}]` before its keys", spoken(path)),
        Wanted::Tables => format!("a list of tables: write `[[{}]]` before the keys of each", spoken(path)),
        Wanted::Text => "a text in quotation marks".to_owned(),
        Wanted::Flag => "`true` or `false`".to_owned(),
        Wanted::Ratio => match number(value) {
            // Larger than a ratio can be, so it is probably a percentage.
            Some(number) if (65.0..=100.0).contains(&number) => {
                format!("a ratio; {number} % is written {}", number / 100.0)
            }
            _ => "a ratio such as 0.92".to_owned(),
        },
        Wanted::Count(most) if value.is_integer() => format!("a whole number from 0 to {most}"),
        Wanted::Count(_) => "a whole number".to_owned(),
    };
    format!("found {}, expected {should}", described(value))
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(number) => number.to_string().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// Describes a value in a few words.
fn described(value: &DeValue<'_>) -> String {
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
