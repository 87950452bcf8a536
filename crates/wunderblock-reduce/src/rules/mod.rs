//! What tools print, as data: for each sort of line a pattern, and what such a line is.
//!
//! The tables are in `rules/`, a file for each kind of text, a section for each tool. The first pattern that matches a
//! line decides. Patterns are compiled when the first text of a kind is read: 140 of them take 0.7 ms, and 300 lines
//! are classified in 40 µs.

mod table;
mod words;

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::kind::Kind;
use crate::severity::LogLevel;
use table::{Pattern, ToolTable};

pub(crate) use words::WordList;

/// What a line of a build tool's output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildLine {
    /// A message of a compiler or linter, with or without its place.
    Diagnostic(LogLevel),
    /// The place of the diagnostic above: `  --> src/a.rs:1:2`.
    Place,
    /// The file of the diagnostics below.
    File,
    /// The source that a diagnostic is about, with what is drawn under it.
    Code,
    /// Notes, help, candidates.
    Note,
    /// It leads to the diagnostic after it: `In file included from a.c:1:`.
    Lead,
    /// A step of a build begins: `#12 [4/9] RUN make`.
    Step,
    /// A tool's count or final status.
    Total,
    /// All goes well: `Compiling x`, `[12/340] Building`.
    Progress,
}

/// What a line of a test runner's output says of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestLine {
    Passed,
    /// Several cases on one line, all of them well: `....s..  [ 40%]`.
    Dots,
    Skipped,
    Failed,
    /// A case begins; its result follows later.
    Started,
    /// A file, module or suite, and the run's frame.
    Suite,
    /// The heading of one failure's details.
    Details,
    /// The heading of what a test printed.
    Captured,
    /// Counts and the final status.
    Total,
}

/// What a line of a listing tool's output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordLine {
    /// A record, or a line of one.
    Record,
    /// It is shown where it differs from the one before.
    Once,
    /// It is shown the first time it comes.
    First,
    /// It is not shown.
    Drop,
    /// It tells whose output this is.
    Cue,
}

/// A tool that lists records.
#[derive(Debug)]
pub(crate) struct RecordTool {
    pub(crate) name: &'static str,
    /// What is left out of its records.
    pub(crate) left_out: &'static str,
    pub(crate) rules: LineRules<RecordLine>,
    pub(crate) cues: LineRules<RecordLine>,
    runs: Vec<&'static str>,
}

impl RecordTool {
    /// Whether a report is of one of its commands.
    pub(crate) fn runs(&self, report: &str) -> bool {
        self.runs.iter().any(|own| is_of(report, own))
    }
}

/// Whether a command's words begin with those of another.
fn is_of(report: &str, own: &str) -> bool {
    report.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The kind of what a command prints, where its tool prints nothing else.
pub(crate) fn kind_of(report: &str) -> Option<Kind> {
    let runs =
        |table: &str| table::tools(table).iter().any(|tool| tool.runs.iter().any(|own| is_of(report, own)));
    match () {
        () if runs(TESTS) => Some(Kind::Tests),
        () if runs(RECORDS) => Some(Kind::Listing),
        () if runs(BUILD) => Some(Kind::Build),
        () => None,
    }
}

/// The patterns of a kind of text, in order.
#[derive(Debug)]
pub(crate) struct LineRules<C> {
    set: RegexSet,
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

const BUILD: &str = include_str!("../../rules/build.rules");
const TESTS: &str = include_str!("../../rules/tests.rules");
const RECORDS: &str = include_str!("../../rules/records.rules");

/// The rules of compilers, linters and build tools.
pub(crate) fn build() -> &'static LineRules<BuildLine> {
    static RULES: OnceLock<LineRules<BuildLine>> = OnceLock::new();
    RULES.get_or_init(|| LineRules::of(table::patterns(BUILD).collect(), build_class))
}

/// The rules of test runners.
pub(crate) fn tests() -> &'static LineRules<TestLine> {
    static RULES: OnceLock<LineRules<TestLine>> = OnceLock::new();
    RULES.get_or_init(|| LineRules::of(table::patterns(TESTS).collect(), test_class))
}

/// The tools that list records.
pub(crate) fn records() -> &'static [RecordTool] {
    static TOOLS: OnceLock<Vec<RecordTool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let tool = |tool: ToolTable<'static>| {
            let is_cue = |pattern: &Pattern<'_>| pattern.class == "cue";
            let (cues, rules) = tool.patterns.into_iter().partition(is_cue);
            RecordTool {
                name: tool.name,
                left_out: tool.says,
                rules: LineRules::of(rules, record_class),
                cues: LineRules::of(cues, record_class),
                runs: tool.runs,
            }
        };
        table::tools(RECORDS).into_iter().skip(1).map(tool).collect()
    })
}

fn record_class(name: &str) -> Option<RecordLine> {
    Some(match name {
        "record" => RecordLine::Record,
        "once" => RecordLine::Once,
        "first" => RecordLine::First,
        "drop" => RecordLine::Drop,
        "cue" => RecordLine::Cue,
        _ => return None,
    })
}

fn build_class(name: &str) -> Option<BuildLine> {
    Some(match name {
        "error" => BuildLine::Diagnostic(LogLevel::Error),
        "warning" => BuildLine::Diagnostic(LogLevel::Warning),
        "place" => BuildLine::Place,
        "file" => BuildLine::File,
        "code" => BuildLine::Code,
        "note" => BuildLine::Note,
        "lead" => BuildLine::Lead,
        "step" => BuildLine::Step,
        "total" => BuildLine::Total,
        "progress" => BuildLine::Progress,
        _ => return None,
    })
}

fn test_class(name: &str) -> Option<TestLine> {
    Some(match name {
        "passed" => TestLine::Passed,
        "dots" => TestLine::Dots,
        "skipped" => TestLine::Skipped,
        "failed" => TestLine::Failed,
        "started" => TestLine::Started,
        "suite" => TestLine::Suite,
        "details" => TestLine::Details,
        "captured" => TestLine::Captured,
        "total" => TestLine::Total,
        _ => return None,
    })
}

impl<C: Copy> LineRules<C> {
    /// Rules of these patterns. One that is invalid is left out, and a test finds it.
    fn of(patterns: Vec<Pattern<'_>>, named: fn(&str) -> Option<C>) -> Self {
        let rule = |pattern: Pattern<'_>| {
            let class = named(pattern.class)?;
            Some(LineRule { class, pattern: pattern.regex, captures: OnceLock::new() })
        };
        let rules: Vec<LineRule<C>> = patterns.into_iter().filter_map(rule).collect();
        match RegexSetBuilder::new(rules.iter().map(|rule| &rule.pattern)).unicode(false).build() {
            Ok(set) => Self { set, rules },
            Err(_) => Self { set: RegexSet::empty(), rules: Vec::new() },
        }
    }

    /// The class of a line, given without its time.
    pub(crate) fn class(&self, line: &str) -> Option<C> {
        self.rule(line).map(|rule| rule.class)
    }

    /// The number of the pattern that a line matches, its class, and its parts.
    pub(crate) fn read<'t>(&self, line: &'t str) -> Option<(usize, C, LineParts<'t>)> {
        let number = self.set.matches(line.as_bytes()).iter().next()?;
        let rule = self.rules.get(number)?;
        Some((number, rule.class, rule.parts(line)))
    }

    /// The parts of a line; none are named in a line that no pattern matches.
    pub(crate) fn parts<'t>(&self, line: &'t str) -> LineParts<'t> {
        self.rule(line).map(|rule| rule.parts(line)).unwrap_or_default()
    }

    fn rule(&self, line: &str) -> Option<&LineRule<C>> {
        let first = self.set.matches(line.as_bytes()).iter().next()?;
        self.rules.get(first)
    }
}

impl LineRules<BuildLine> {
    /// The class of a line, its severity as the line states it.
    pub(crate) fn stated_class(&self, line: &str) -> Option<BuildLine> {
        let rule = self.rule(line)?;
        Some(match rule.class {
            BuildLine::Diagnostic(_) if rule.parts(line).severity.starts_with(['w', 'W']) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid_and_has_a_class() {
        for table in [BUILD, TESTS, RECORDS] {
            for pattern in table::patterns(table) {
                RegexBuilder::new(&pattern.regex).unicode(false).build().unwrap();
                let class = pattern.class;
                let known = build_class(class).is_some() || test_class(class).is_some();
                assert!(known || record_class(class).is_some(), "{class}");
            }
        }
        assert!(!build().set.is_empty() && !super::tests().set.is_empty());
    }

    /// The lines of a table of examples whose class is another than it says.
    fn wrong<C: PartialEq + std::fmt::Debug>(
        lines: &str,
        named: fn(&str) -> Option<C>,
        class: impl Fn(&str) -> Option<C>,
    ) -> Vec<String> {
        let cases = lines.lines().filter_map(|case| case.split_once('|'));
        let wrong = cases.filter(|(name, line)| class(line) != named(name));
        wrong.map(|(name, line)| format!("{line}: {:?}, not {name}", class(line))).collect()
    }

    #[test]
    fn lines_of_many_tools_are_classified() {
        let lines = include_str!("../../rules/build.lines");
        let found = wrong(lines, build_class, |line| build().stated_class(line));
        assert!(found.is_empty(), "{}", found.join("\n"));
        let lines = include_str!("../../rules/tests.lines");
        let found = wrong(lines, test_class, |line| super::tests().class(line));
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
