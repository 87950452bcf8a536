//! Patterns of lines, and the parts that they name.

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::BuildLine;
use crate::part::PartOfList;
use crate::severity::LogLevel;

/// The patterns of a kind of text, in order.
#[derive(Debug)]
pub(crate) struct LineRules<C> {
    /// Compiled when the first line is read.
    set: OnceLock<RegexSet>,
    rules: Vec<LineRule<C>>,
}

/// One pattern, and what it says of a line.
#[derive(Debug)]
struct LineRule<C> {
    class: C,
    pattern: String,
    captures: OnceLock<Option<Regex>>,
}

/// The parts of a line that its pattern names; empty where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineParts<'t> {
    pub(crate) file: &'t str,
    pub(crate) line: &'t str,
    pub(crate) col: &'t str,
    pub(crate) severity: &'t str,
    pub(crate) code: &'t str,
    pub(crate) message: &'t str,
    pub(crate) label: &'t str,
    /// From the first of severity, code and message to the end of the line.
    pub(crate) said: &'t str,
    pub(crate) key: &'t str,
    pub(crate) item: &'t str,
    pub(crate) more: &'t str,
}

impl<C: Copy> LineRules<C> {
    /// Rules of these patterns.
    pub(super) fn of(patterns: impl IntoIterator<Item = (C, String)>) -> Self {
        let rule = |(class, pattern)| LineRule { class, pattern, captures: OnceLock::new() };
        Self { set: OnceLock::new(), rules: patterns.into_iter().map(rule).collect() }
    }

    /// The number of the first pattern that a line matches. Where one is invalid none does, and a test finds it.
    fn number(&self, line: &str) -> Option<usize> {
        let patterns = || self.rules.iter().map(|rule| &rule.pattern);
        let compile =
            || RegexSetBuilder::new(patterns()).unicode(false).build().unwrap_or_else(|_| RegexSet::empty());
        self.set.get_or_init(compile).matches(line.as_bytes()).iter().next()
    }

    /// The class of a line, given without its time.
    pub(crate) fn class(&self, line: &str) -> Option<C> {
        self.rule(line).map(|rule| rule.class)
    }

    /// The number of the pattern that a line matches, its class, and its parts.
    pub(crate) fn read<'t>(&self, line: &'t str) -> Option<(usize, C, LineParts<'t>)> {
        let number = self.number(line)?;
        let rule = self.rules.item(number)?;
        Some((number, rule.class, rule.parts(line)))
    }

    /// The parts of a line; none are named in a line that no pattern matches.
    pub(crate) fn parts<'t>(&self, line: &'t str) -> LineParts<'t> {
        self.rule(line).map(|rule| rule.parts(line)).unwrap_or_default()
    }

    fn rule(&self, line: &str) -> Option<&LineRule<C>> {
        self.rules.item(self.number(line)?)
    }
}

impl LineRules<BuildLine> {
    /// The class of a line, its severity as the line states it.
    pub(crate) fn stated_class(&self, line: &str) -> Option<BuildLine> {
        let rule = self.rule(line)?;
        Some(match rule.class {
            BuildLine::Diagnostic(LogLevel::Error)
                if rule.pattern.contains("|warning") && rule.parts(line).severity.starts_with(['w', 'W']) =>
            {
                BuildLine::Diagnostic(LogLevel::Warning)
            }
            class => class,
        })
    }
}

impl<C> LineRule<C> {
    fn parts<'t>(&self, line: &'t str) -> LineParts<'t> {
        let compile = || RegexBuilder::new(&self.pattern).unicode(false).build().ok();
        let found = self.captures.get_or_init(compile).as_ref();
        let parts = found.and_then(|regex| regex.captures(line.as_bytes()));
        parts.map(|found| LineParts::of(line, &found)).unwrap_or_default()
    }
}

impl<'t> LineParts<'t> {
    fn of(line: &'t str, found: &Captures<'_>) -> Self {
        let part = |name: &str| found.name(name).and_then(|part| line.get(part.range())).unwrap_or("");
        let starts =
            ["severity", "code", "message"].iter().filter_map(|name| Some(found.name(name)?.start()));
        let said = starts.min();
        Self {
            file: part("file"),
            line: part("line"),
            col: part("col"),
            severity: part("severity"),
            code: part("code"),
            message: part("message"),
            label: part("label"),
            said: said.and_then(|start| line.get(start..)).unwrap_or(""),
            key: part("key"),
            item: part("item"),
            more: part("more"),
        }
    }
}
