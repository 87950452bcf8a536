//! Patterns of lines, and the parts that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::BuildLine;
use super::needs::{self, BytePairs};
use crate::severity::LogLevel;

/// The patterns of a kind of text, in order.
#[derive(Debug)]
pub(crate) struct LineRules<C> {
    rules: Vec<LineRule<C>>,
    /// Made when the first line is read.
    index: OnceLock<RuleIndex>,
}

/// One pattern, and what it says of a line.
#[derive(Debug)]
struct LineRule<C> {
    class: C,
    pattern: String,
    /// Compiled when the first line is read that has what the pattern needs.
    regex: OnceLock<Option<Regex>>,
}

/// What lines need for each rule, by what they start with.
#[derive(Debug, Default)]
struct RuleIndex {
    /// In the order of the rules, which may have several ways to match.
    ways: Vec<(usize, BytePairs)>,
    starts: BTreeMap<u8, Vec<usize>>,
    /// The ways of a line that starts with another byte.
    others: Vec<usize>,
}

impl RuleIndex {
    fn of<'p>(patterns: impl Iterator<Item = &'p str>) -> Self {
        let needs: Vec<_> = patterns
            .enumerate()
            .flat_map(|(rule, pattern)| needs::needs_of(pattern).into_iter().map(move |needs| (rule, needs)))
            .collect();
        let from = |start: Option<u8>| {
            let ways = needs.iter().enumerate();
            let fits = ways.filter(move |(_, (_, needs))| needs.start.is_none() || needs.start == start);
            fits.map(|(way, _)| way).collect::<Vec<usize>>()
        };
        let starts: BTreeSet<u8> = needs.iter().filter_map(|(_, needs)| needs.start).collect();
        Self {
            starts: starts.into_iter().map(|start| (start, from(Some(start)))).collect(),
            others: from(None),
            ways: needs.into_iter().map(|(rule, needs)| (rule, needs.pairs)).collect(),
        }
    }

    /// The rules that a line may match, in order; one may stand there twice.
    fn candidates(&self, line: &str) -> impl Iterator<Item = usize> {
        let pairs = BytePairs::of(line);
        let start = needs::start_of(line);
        let ways = start.and_then(|start| self.starts.get(&start)).unwrap_or(&self.others);
        let ways = ways.iter().filter_map(|way| self.ways.get(*way));
        ways.filter(move |(_, wanted)| pairs.include(wanted)).map(|(rule, _)| *rule)
    }
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
        let rule = |(class, pattern)| LineRule { class, pattern, regex: OnceLock::new() };
        Self { rules: patterns.into_iter().map(rule).collect(), index: OnceLock::new() }
    }

    /// The number of the first pattern that a line matches. One that is invalid matches none, and a test finds it.
    fn number(&self, line: &str) -> Option<usize> {
        let index = || RuleIndex::of(self.rules.iter().map(|rule| rule.pattern.as_str()));
        let mut failed = None;
        self.index.get_or_init(index).candidates(line).find(|rule| {
            let matches = failed != Some(*rule)
                && self
                    .rules
                    .get(*rule)
                    .and_then(LineRule::regex)
                    .is_some_and(|regex| regex.is_match(line.as_bytes()));
            failed = Some(*rule);
            matches
        })
    }

    /// The class of a line, given without its time.
    pub(crate) fn class(&self, line: &str) -> Option<C> {
        self.rule(line).map(|rule| rule.class)
    }

    /// The number of the pattern that a line matches, its class, and its parts.
    pub(crate) fn read<'t>(&self, line: &'t str) -> Option<(usize, C, LineParts<'t>)> {
        let number = self.number(line)?;
        let rule = self.rules.get(number)?;
        Some((number, rule.class, rule.parts(line)))
    }

    /// The parts of a line; none are named in a line that no pattern matches.
    pub(crate) fn parts<'t>(&self, line: &'t str) -> LineParts<'t> {
        self.rule(line).map(|rule| rule.parts(line)).unwrap_or_default()
    }

    fn rule(&self, line: &str) -> Option<&LineRule<C>> {
        self.rules.get(self.number(line)?)
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
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| RegexBuilder::new(&self.pattern).unicode(false).build().ok()).as_ref()
    }

    fn parts<'t>(&self, line: &'t str) -> LineParts<'t> {
        let parts = self.regex().and_then(|regex| regex.captures(line.as_bytes()));
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
