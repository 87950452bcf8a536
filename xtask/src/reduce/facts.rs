//! Finds the facts that a person reads an output for, with simple rules for each kind.
//!
//! A fact is a text that must be visible. The rules, in `xtask/reduce/facts.toml` and below, are independent of how
//! the readers choose text. The rules find what a person would note down while reading the output.

use crate::program::ChoreResult;
use regex::Regex;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_reduce::Kind;

/// A text that must be visible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OutputFact {
    pub(super) text: String,
    /// Whether the fact reports a failure.
    pub(super) error: bool,
}

impl OutputFact {
    /// Returns whether a text shows the fact.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.contains(&self.text)
    }
}

/// Maximum number of facts taken from one file. If there are more facts, an evenly spread sample is just as
/// informative.
const MAX_FACTS: usize = 2_000;

/// Rules for one kind, as the file contains them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindRules {
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    others: Vec<String>,
}

/// Rules for all kinds.
pub(super) struct FactRules {
    /// Rules by kind: a pattern, and whether it finds failures.
    lines: BTreeMap<String, Vec<(Regex, bool)>>,
    failure: Regex,
    value: Regex,
    controls: Regex,
}

impl FactRules {
    pub(super) fn read() -> ChoreResult<Self> {
        let kinds: BTreeMap<String, KindRules> = toml::from_str(include_str!("../../reduce/facts.toml"))?;
        let mut lines = BTreeMap::new();
        for (kind, KindRules { errors, others }) in kinds {
            Kind::named(&kind).ok_or_else(|| format!("rules for an unknown kind: `{kind}`"))?;
            let errors = errors.iter().map(|rule| (rule, true));
            let all = errors.chain(others.iter().map(|rule| (rule, false)));
            let all = all.map(|(rule, is_error)| Ok((Regex::new(rule)?, is_error)));
            lines.insert(kind, all.collect::<ChoreResult<_>>()?);
        }
        let failure =
            r"(?i)\b(?:error|fatal|failed|failure|exception|panic|denied|refused|timed? ?out|critical)\b";
        let value = r"(?:0x)?[0-9a-fA-F]{6,}|\d+(?:[.:,/-]\d+)*|\S*/\S+";
        Ok(Self {
            lines,
            failure: Regex::new(failure)?,
            value: Regex::new(value)?,
            controls: Regex::new("\x1b\\[[0-9;?]*[a-zA-Z]")?,
        })
    }

    /// Returns the facts of an output of this kind.
    pub(super) fn facts(&self, text: &str, kind: Kind) -> Vec<OutputFact> {
        let text = &*self.controls.replace_all(text, "");
        let mut found = BTreeSet::new();
        match kind {
            Kind::Json => self.json(text, &mut found),
            Kind::Log => self.log(text, &mut found),
            Kind::Search => search(text, &mut found),
            Kind::Listing => {
                self.table(text, &mut found);
                listing(text, &mut found);
            }
            Kind::Table => self.table(text, &mut found),
            Kind::Markdown => headings(text, &mut found),
            kind => {
                for (rule, is_error) in self.lines.get(kind.name()).into_iter().flatten() {
                    for part in text.lines().filter_map(|line| rule.captures(line)) {
                        let whole = part.get(1).or_else(|| part.get(0)).map_or("", |part| part.as_str());
                        add(&mut found, whole, *is_error);
                    }
                }
            }
        }
        let every = found.len().div_ceil(MAX_FACTS).max(1);
        found.into_iter().step_by(every).collect()
    }

    /// Returns the longest part of a line without values. Lines that differ only in their values share their longest
    /// part without values.
    fn wording<'t>(&self, line: &'t str) -> &'t str {
        self.value.split(line).max_by_key(|part| part.len()).unwrap_or(line).trim()
    }

    /// Finds each distinct failure by its wording, and the wordings that occur at most twice.
    fn log(&self, text: &str, found: &mut BTreeSet<OutputFact>) {
        let mut wordings: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines() {
            *wordings.entry(self.wording(line)).or_default() += 1;
        }
        for line in text.lines().filter(|line| self.failure.is_match(line)) {
            add(found, self.wording(line), true);
        }
        // A wording that occurs once or twice is unusual; a short one would match anywhere.
        for (wording, count) in wordings {
            if count <= 2 && wording.len() >= 12 {
                add(found, wording, false);
            }
        }
    }

    /// Finds the header, the rows that report a failure, and the largest number of each column.
    fn table(&self, text: &str, found: &mut BTreeSet<OutputFact>) {
        if let Some(header) = text.lines().find(|line| !line.trim().is_empty()) {
            add(found, header, false);
        }
        let mut largest: BTreeMap<usize, (f64, &str)> = BTreeMap::new();
        for line in text.lines() {
            if self.failure.is_match(line) {
                add(found, line, true);
            }
            for (column, cell) in line.split([',', '\t', '|']).enumerate() {
                let cell = cell.trim();
                if let Ok(number) = cell.parse::<f64>()
                    && largest.get(&column).is_none_or(|(known, _)| number > *known)
                {
                    largest.insert(column, (number, cell));
                }
            }
        }
        for (_, cell) in largest.into_values() {
            add(found, cell, false);
        }
    }

    /// Finds keys with at least 20 values, of which at most 12 are distinct, and the rare values of these keys. A value
    /// is rare if it occurs in at most 5 % of the cases.
    fn json(&self, text: &str, found: &mut BTreeSet<OutputFact>) {
        let mut documents = Vec::new();
        let stream = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        documents.extend(stream.map_while(Result::ok));
        let mut values: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let mut todo: Vec<(&str, &serde_json::Value)> =
            documents.iter().map(|document| ("", document)).collect();
        while let Some((key, value)) = todo.pop() {
            match value {
                serde_json::Value::Object(members) => {
                    todo.extend(members.iter().map(|(key, value)| (key.as_str(), value)));
                }
                serde_json::Value::Array(items) => todo.extend(items.iter().map(|item| (key, item))),
                serde_json::Value::String(text) if text.len() <= 60 => {
                    *values.entry(key.to_owned()).or_default().entry(text.clone()).or_default() += 1;
                }
                _ => {}
            }
        }
        for (key, counts) in values {
            let all: usize = counts.values().sum();
            // With few values in total, or with many distinct ones, no value stands out.
            if all < 20 || counts.len() > 12 {
                continue;
            }
            add(found, &key, false);
            for (value, count) in counts {
                if count * 20 <= all {
                    // The value in the form in which the document contains it.
                    let value = serde_json::Value::from(value).to_string();
                    let value = value.trim_matches('"');
                    add(found, value, self.failure.is_match(value));
                }
            }
        }
    }
}

fn add(found: &mut BTreeSet<OutputFact>, text: &str, error: bool) {
    let text = text.trim();
    if text.len() >= 2 {
        found.insert(OutputFact { text: text.to_owned(), error });
    }
}

/// Finds every file, and the first match in each.
fn search(text: &str, found: &mut BTreeSet<OutputFact>) {
    let mut paths: BTreeMap<&str, &str> = BTreeMap::new();
    let mut heading = "";
    for line in text.lines() {
        let (path, said) = line.split_once(':').unwrap_or((line, ""));
        // A context line of a match has `-` in place of the colons.
        let is_path =
            path.contains(['/', '.']) && !path.contains([' ', '\t', '"', '{']) && !path.ends_with('-');
        if is_path && said.is_empty() {
            heading = path;
            paths.entry(path).or_default();
        } else if is_path && path.parse::<u64>().is_err() {
            paths.entry(path).or_insert(said);
        } else if path.parse::<u64>().is_ok() && paths.get(heading) == Some(&"") {
            paths.insert(heading, said);
        }
    }
    for (path, said) in paths {
        add(found, path, false);
        let text = said.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        add(found, text.get(..80).unwrap_or(text), false);
    }
}

/// Finds the folders, entries in an unusual state, and the total.
fn listing(text: &str, found: &mut BTreeSet<OutputFact>) {
    for line in text.lines() {
        let folder = line.strip_suffix(':').filter(|path| path.contains('/') && !path.contains(": "));
        let odd = [" <defunct>", " Z ", "CrashLoop", "OOMKilled"].iter().any(|odd| line.contains(odd));
        if odd || line.starts_with("total ") || folder.is_some() {
            add(found, line, odd);
        }
    }
}

/// Finds every heading. A line that starts with `#` inside a code fence is not a heading.
fn headings(text: &str, found: &mut BTreeSet<OutputFact>) {
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let words = line.trim_start_matches('#');
        if !fenced && (1..=6).contains(&(line.len() - words.len())) && words.starts_with(' ') {
            add(found, words, false);
        }
    }
}
