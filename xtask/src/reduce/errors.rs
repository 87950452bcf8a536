//! Finds the lines of an output that report a failure, and checks whether a shorter text shows them.
//!
//! The rules are in `xtask/reduce/errors.toml`. Source code that a tool shows (code frames, changed lines) and names
//! that contain a word for a failure are not failures.

use crate::program::ChoreResult;
use regex::Regex;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_reduce::Kind;

/// The rules as the file contains them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorPatterns {
    failure: String,
    none: String,
    frame: Vec<String>,
    place: String,
    value: String,
    without: Vec<String>,
}

/// Rules that detect error lines.
pub(super) struct ErrorRules {
    failure: Regex,
    /// Counts of zero failures, which are removed before a line is judged.
    none: Regex,
    frame: Vec<Regex>,
    /// The place before a diagnostic. The first group of the match is the line number.
    place: Regex,
    value: Regex,
    /// Kinds whose lines are source code, sentences or names, and therefore never error lines.
    without: Vec<String>,
}

/// Numbers of visible error lines and of their visible templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VisibleErrors {
    /// Number of visible lines, and of all distinct lines.
    pub(super) lines: (usize, usize),
    /// Number of templates with a visible line, and of all templates.
    pub(super) templates: (usize, usize),
}

impl VisibleErrors {
    pub(super) fn add(&mut self, other: Self) {
        let sum = |one: (usize, usize), two: (usize, usize)| (one.0 + two.0, one.1 + two.1);
        self.lines = sum(self.lines, other.lines);
        self.templates = sum(self.templates, other.templates);
    }
}

impl ErrorRules {
    pub(super) fn read() -> ChoreResult<Self> {
        let rules: ErrorPatterns = toml::from_str(include_str!("../../reduce/errors.toml"))?;
        let frame = rules.frame.iter().map(|rule| Regex::new(rule)).collect::<Result<_, _>>()?;
        Ok(Self {
            failure: Regex::new(&rules.failure)?,
            none: Regex::new(&rules.none)?,
            frame,
            place: Regex::new(&rules.place)?,
            value: Regex::new(&rules.value)?,
            without: rules.without,
        })
    }

    /// Returns the distinct error lines of an output.
    pub(super) fn lines<'t>(&self, text: &'t str, kind: Kind) -> BTreeSet<&'t str> {
        if self.without.iter().any(|without| without == kind.name()) {
            return BTreeSet::new();
        }
        let is_error = |line: &&str| {
            !self.frame.iter().any(|frame| frame.is_match(line))
                && self.failure.is_match(&self.none.replace_all(line, ""))
        };
        text.lines().map(str::trim_end).filter(is_error).map(str::trim_start).collect()
    }

    /// Returns how many of the lines a text shows.
    pub(super) fn visible(&self, lines: &BTreeSet<&str>, shown: &str) -> VisibleErrors {
        let mut templates: BTreeMap<String, bool> = BTreeMap::new();
        let mut seen = 0;
        for line in lines {
            let visible = self.is_visible(line, shown);
            seen += usize::from(visible);
            *templates.entry(self.value.replace_all(line, "#").into_owned()).or_default() |= visible;
        }
        let visible = templates.values().filter(|visible| **visible).count();
        VisibleErrors { lines: (seen, lines.len()), templates: (visible, templates.len()) }
    }

    /// Returns whether a text shows a line, or, as in grouped diagnostics, its message and line number.
    fn is_visible(&self, line: &str, shown: &str) -> bool {
        shown.contains(line)
            || self.place.captures(line).is_some_and(|place| {
                let message = place.get(0).and_then(|place| line.get(place.end()..));
                let number = place.get(1).map_or("", |number| number.as_str());
                message.is_some_and(|message| !message.is_empty() && shown.contains(message))
                    && shown.contains(number)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_names_and_zero_counts_are_not_errors() {
        let rules = ErrorRules::read().unwrap();
        let text = "ERROR card declined\nTypeError: no room\n12 passed, 0 failed\n12 |  return error;\n\
                    +    raise error\nsrc/error_words.rs\n-rw-r--r-- 1 ann error.log\ntest a ... FAILED\n";
        let found: Vec<&str> = rules.lines(text, Kind::Build).into_iter().collect();
        assert_eq!(found, ["ERROR card declined", "TypeError: no room", "test a ... FAILED"]);
        assert!(rules.lines(text, Kind::Code).is_empty());
    }

    #[test]
    fn a_grouped_diagnostic_is_visible() {
        let rules = ErrorRules::read().unwrap();
        let text =
            "a.ts(3,7): error TS1: no room\na.ts(9,7): error TS1: no room\nb.ts(4,1): error TS2: late\n";
        let lines = rules.lines(text, Kind::Build);
        let seen = rules.visible(&lines, "error TS1: no room\n  a.ts 3,7 9,7\n");
        assert_eq!(seen, VisibleErrors { lines: (2, 3), templates: (1, 2) });
    }
}
