//! Asks the types of a policy what they accept, by deserializing policies that have one value each.
//!
//! Serde stops at the first mistake of a file, and within a step it loses the place. A value that is alone in its
//! policy has no neighbours, so what is rejected is this value. The keys and words that error messages list come from
//! the same answers: no list of them exists beside the types.

use super::kinds;
use std::sync::LazyLock;
use toml::{Table, Value};
use wunderblock_core::policy::Policy;

/// Key of a file that names the policy it extends. The file's reader removes it before Serde reads the rest.
pub(super) const EXTENDS: &str = "extends";
/// Key of a step that decides which other keys it has.
pub(super) const DO: &str = "do";
/// A key and a word that no policy has.
const UNKNOWN: &str = "?";

/// Part of the path to a value: a key of a table, or an element of a list by its number, counted from 1. An element
/// that is a step has the value of its `do`.
#[derive(Clone, Copy)]
pub(super) enum Part<'p> {
    Key(&'p str),
    Element(usize, Option<&'p str>),
}

/// Returns the path with one more part.
pub(super) fn below<'p>(path: &[Part<'p>], part: Part<'p>) -> Vec<Part<'p>> {
    [path, &[part]].concat()
}

/// Returns a path as error messages have it, such as `step.2.to`.
pub(super) fn spoken(path: &[Part<'_>]) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Key(key) => (*key).to_owned(),
        Part::Element(number, _) => number.to_string(),
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

/// Kind of value that the type at a path accepts. Lists are lists of tables, or of some words.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A table with these keys.
    Table(Vec<String>),
    Tables,
    Word(Vec<String>),
    Words(Vec<String>),
    Text,
    Flag,
    /// A part or a multiple of a whole, such as 0.92 or 2.
    Ratio,
    /// A whole number from 0 to this maximum.
    Count(u64),
}

/// Result of deserializing a policy that has one value.
enum Answer {
    /// The type accepts the value, or accepts it with this key.
    Accepted(Option<String>),
    /// The value has a key other than these.
    UnknownKey(Vec<String>),
    /// The value has a word other than these.
    UnknownWord(Vec<String>),
    Rejected,
}

/// Deserializes a policy that has this value and a name. With a name, the key that Serde misses is one of the value's.
fn ask(path: &[Part<'_>], value: Value) -> Answer {
    if let [Part::Key(EXTENDS), below @ ..] = path {
        let is_text = below.is_empty() && value.is_str();
        return if is_text { Answer::Accepted(None) } else { Answer::Rejected };
    }
    let mut policy = path.iter().rev().fold(value, |mut inner, part| match part {
        Part::Key(key) => Value::Table(Table::from_iter([((*key).to_owned(), inner)])),
        Part::Element(_, step) => {
            if let (Value::Table(table), Some(step)) = (&mut inner, step) {
                table.insert(DO.to_owned(), Value::from(*step));
            }
            Value::Array(vec![inner])
        }
    });
    if let (Value::Table(root), [_, ..]) = (&mut policy, path) {
        root.entry("name").or_insert_with(|| Value::from(UNKNOWN));
    }
    let error = match policy.try_into::<Policy>() {
        Ok(policy) => {
            return kinds::known_instead(&policy).map_or(Answer::Accepted(None), Answer::UnknownWord);
        }
        Err(error) => error,
    };
    // Serde's words are "unknown field `?`, expected one of `a`, `b`". Lists are taken from probes only, whose own
    // words contain no backtick.
    let mut quoted = error.message().split('`').skip(1).step_by(2).map(str::to_owned);
    let first = quoted.next();
    match error.message().split('`').next() {
        Some("missing field ") => Answer::Accepted(first),
        Some("unknown field ") => Answer::UnknownKey(quoted.collect()),
        Some("unknown variant ") => Answer::UnknownWord(quoted.collect()),
        _ => Answer::Rejected,
    }
}

/// Returns whether the type at the path accepts the value.
pub(super) fn accepts(path: &[Part<'_>], value: Value) -> bool {
    matches!(ask(path, value), Answer::Accepted(_))
}

/// Returns the kind of value that the type at the path accepts.
pub(super) fn wanted(path: &[Part<'_>]) -> Wanted {
    if let Answer::UnknownKey(mut keys) = ask(&below(path, Part::Key(UNKNOWN)), Value::from(0)) {
        match path.last() {
            None => keys.insert(keys.len().min(2), EXTENDS.to_owned()),
            Some(Part::Element(_, Some(_))) => keys.insert(0, DO.to_owned()),
            Some(_) => {}
        }
        return Wanted::Table(keys);
    }
    if let Answer::UnknownWord(words) = ask(path, Value::from(UNKNOWN)) {
        return Wanted::Word(words);
    }
    if let Answer::UnknownWord(words) = ask(path, Value::from(vec![UNKNOWN])) {
        return Wanted::Words(words);
    }
    let samples = [
        (Value::from(UNKNOWN), Wanted::Text),
        (Value::from(vec![Table::new()]), Wanted::Tables),
        (Value::from(true), Wanted::Flag),
        (Value::from(0.5), Wanted::Ratio),
        (Value::from(i64::MAX), Wanted::Count(i64::MAX.unsigned_abs())),
        (Value::from(u32::MAX), Wanted::Count(u32::MAX.into())),
    ];
    let fitting = samples.into_iter().find(|(sample, _)| accepts(path, sample.clone()));
    fitting.map_or(Wanted::Count(u16::MAX.into()), |(_, wanted)| wanted)
}

/// Returns the keys that a table at the path must have.
pub(super) fn required(path: &[Part<'_>]) -> Vec<String> {
    let (mut table, mut keys) = (Table::new(), Vec::new());
    while let Answer::Accepted(Some(key)) = ask(path, Value::Table(table.clone())) {
        let value = match wanted(&below(path, Part::Key(&key))) {
            Wanted::Text => Value::from(UNKNOWN),
            Wanted::Words(_) => Value::Array(Vec::new()),
            _ => Value::from(1),
        };
        table.insert(key.clone(), value);
        keys.push(key);
    }
    keys
}

/// Every table of a policy that is not in a list: its path, and its keys.
static TABLES: LazyLock<Vec<(String, Vec<String>)>> = LazyLock::new(|| {
    let mut tables = Vec::new();
    collect(&[], &mut tables);
    tables
});

fn collect(path: &[Part<'_>], tables: &mut Vec<(String, Vec<String>)>) {
    if let Wanted::Table(keys) = wanted(path) {
        for key in &keys {
            collect(&below(path, Part::Key(key)), tables);
        }
        tables.push((spoken(path), keys));
    }
}

/// Returns the path of the table that has a key of this name, if only one table below the file's own has it. For keys
/// of both levels, such as `fraction`, returns `trigger.soft`, because the levels have the same keys.
pub(super) fn home(name: &str) -> Option<&'static str> {
    let has = |(path, keys): &&(String, Vec<String>)| !path.is_empty() && keys.iter().any(|key| key == name);
    let homes: Vec<&str> = TABLES.iter().filter(has).map(|(path, _)| path.as_str()).collect();
    match homes.as_slice() {
        [home] | [home @ "trigger.soft", "trigger.hard"] => Some(home),
        _ => None,
    }
}
