//! Patterns of lines, and the parts that they name.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::BuildLine;
use super::needs::{self, LineFeatures, LineNeeds};
use crate::part::PartOfList;
use crate::text::severity::LogLevel;

/// The patterns for a kind of text, in order.
#[derive(Debug)]
pub(crate) struct LineRules<C> {
    rules: Vec<LineRule<C>>,
    /// The index is built when the first line is read.
    index: OnceLock<RuleIndex>,
}

/// One pattern, and the class of the lines that match it.
#[derive(Debug)]
struct LineRule<C> {
    class: C,
    pattern: String,
    /// Compiled on reading the first line that has the features the pattern needs.
    regex: OnceLock<Option<Regex>>,
}

/// For each rule, the features that a line must have to match it.
#[derive(Debug)]
struct RuleIndex(Vec<WayGroup>);

/// Ways to match that need the same first feature. One check rules out most groups.
#[derive(Debug)]
struct WayGroup {
    first: Option<u16>,
    /// Ways to match, each with the number of its rule.
    ways: Vec<(usize, LineNeeds)>,
}

impl RuleIndex {
    fn of<'p>(patterns: impl Iterator<Item = &'p str>) -> Self {
        let mut ways: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (rule, pattern) in patterns.enumerate() {
            for needs in needs::needs_of(pattern) {
                ways.entry(needs.first().copied()).or_default().push((rule, needs));
            }
        }
        Self(ways.into_iter().map(|(first, ways)| WayGroup { first, ways }).collect())
    }

    /// Returns the rules that a line may match, in order. A rule may occur twice.
    fn candidates(&self, line: &str) -> Vec<usize> {
        let features = LineFeatures::of(line);
        let mut rules = Vec::new();
        for WayGroup { first, ways } in &self.0 {
            if first.is_none_or(|first| features.has(first)) {
                let fits = ways.iter().filter(|(_, needs)| needs.iter().all(|need| features.has(*need)));
                rules.extend(fits.map(|(rule, _)| *rule));
            }
        }
        rules.sort_unstable();
        rules
    }
}

/// The parts of a line that its pattern names. Parts that the pattern does not name are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineParts<'t> {
    pub(crate) file: &'t str,
    pub(crate) line: &'t str,
    pub(crate) col: &'t str,
    pub(crate) severity: &'t str,
    pub(crate) code: &'t str,
    pub(crate) message: &'t str,
    pub(crate) label: &'t str,
    /// Text from the first of severity, code and message to the end of the line.
    pub(crate) said: &'t str,
    pub(crate) key: &'t str,
    pub(crate) item: &'t str,
    pub(crate) more: &'t str,
}

impl<C: Copy> LineRules<C> {
    /// Returns rules with these patterns.
    pub(super) fn of(patterns: impl IntoIterator<Item = (C, String)>) -> Self {
        let rule = |(class, pattern)| LineRule { class, pattern, regex: OnceLock::new() };
        Self { rules: patterns.into_iter().map(rule).collect(), index: OnceLock::new() }
    }

    /// Returns the number of the first pattern that a line matches. An invalid pattern matches no line, and makes a
    /// test fail.
    fn number(&self, line: &str) -> Option<usize> {
        let index = || RuleIndex::of(self.rules.iter().map(|rule| rule.pattern.as_str()));
        let mut failed = None;
        self.index.get_or_init(index).candidates(line).into_iter().find(|rule| {
            // A rule that occurs twice among the candidates is tried once.
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

    /// Returns the class of a line. The line must be given without its time.
    pub(crate) fn class(&self, line: &str) -> Option<C> {
        self.rule(line).map(|rule| rule.class)
    }

    /// Returns the number of the pattern that a line matches, the class of the line, and its parts.
    pub(crate) fn read<'t>(&self, line: &'t str) -> Option<(usize, C, LineParts<'t>)> {
        let number = self.number(line)?;
        let rule = self.rules.item(number)?;
        Some((number, rule.class, rule.parts(line)))
    }

    /// Returns the parts of a line. The parts are empty if no pattern matches.
    pub(crate) fn parts<'t>(&self, line: &'t str) -> LineParts<'t> {
        self.rule(line).map(|rule| rule.parts(line)).unwrap_or_default()
    }

    fn rule(&self, line: &str) -> Option<&LineRule<C>> {
        self.rules.item(self.number(line)?)
    }
}

impl LineRules<BuildLine> {
    /// Returns the class of a line, with the severity that the line states.
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
        let found = self.regex().and_then(|regex| Some((regex, regex.captures(line.as_bytes())?)));
        found.map(|(regex, found)| LineParts::of(line, regex, &found)).unwrap_or_default()
    }
}

impl<'t> LineParts<'t> {
    fn of(line: &'t str, regex: &Regex, found: &Captures<'_>) -> Self {
        let mut parts = Self::default();
        let mut said = line.len();
        for (name, part) in regex.capture_names().zip(found.iter()) {
            let (Some(name), Some(part)) = (name, part) else { continue };
            let own = match name {
                "file" => &mut parts.file,
                "line" => &mut parts.line,
                "col" => &mut parts.col,
                "severity" => &mut parts.severity,
                "code" => &mut parts.code,
                "message" => &mut parts.message,
                "label" => &mut parts.label,
                "key" => &mut parts.key,
                "item" => &mut parts.item,
                "more" => &mut parts.more,
                _ => continue,
            };
            *own = line.get(part.range()).unwrap_or("");
            said =
                if matches!(name, "severity" | "code" | "message") { said.min(part.start()) } else { said };
        }
        parts.said = line.get(said..).unwrap_or("");
        parts
    }
}
