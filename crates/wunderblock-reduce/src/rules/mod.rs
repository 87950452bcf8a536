//! Rules about the output of tools, as data: a pattern and a class for each sort of line.
//!
//! The tables are in `rules/`, with a file for each kind of text and a section for each tool. The first pattern that
//! matches a line decides its class. A pattern is compiled when a line that has the features it needs ([`needs`]) is
//! read, because an output needs only a few of the 370 patterns.

mod lines;
mod needs;
mod table;

use crate::part::PartOfList;
use std::sync::OnceLock;

use crate::kind::Kind;
use crate::text::severity::LogLevel;
use table::{Pattern, ToolTable};

pub(crate) use lines::{LineParts, LineRules};

/// The class of a line in the output of a build tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildLine {
    /// A message of a compiler or linter, with or without its place.
    Diagnostic(LogLevel),
    /// The place of the diagnostic above: `  --> src/a.rs:1:2`.
    Place,
    /// The file of the diagnostics below.
    File,
    /// The source that a diagnostic is about, and the signs drawn under it.
    Code,
    /// Notes, help, candidates.
    Note,
    /// A line that introduces the next diagnostic: `In file included from a.c:1:`.
    Lead,
    /// The start of a step of a build: `#12 [4/9] RUN make`.
    Step,
    /// A count or the final status of a tool.
    Total,
    /// Progress without problems: `Compiling x`, `[12/340] Building`.
    Progress,
}

/// The class of a line in the output of a test runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestLine {
    Passed,
    /// Several cases on one line, none of which failed: `....s..  [ 40%]`.
    Dots,
    Skipped,
    Failed,
    /// The start of a case. Its result follows later.
    Started,
    /// A file, module or suite, or the frame of the run.
    Suite,
    /// The heading of one failure's details.
    Details,
    /// The heading of the text that a test printed.
    Captured,
    /// Counts and the final status.
    Total,
}

/// The class of a line in the output of a listing tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordLine {
    /// A record, or a line of a record.
    Record,
    /// A line that is shown if it differs from the previous line of its pattern.
    Once,
    /// A line that is shown only the first time it occurs.
    First,
    /// A line that is not shown.
    Drop,
}

/// The class of a line in the output of an infrastructure tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InfraLine {
    Total,
    Error,
    /// The start of the lines of a resource.
    Block,
    /// The end of the lines of a resource.
    End,
    /// A change of a value.
    Vital,
    /// A line of a block or a difference.
    Detail,
    /// A result: something was changed.
    Changed,
    /// A result: something was already as it should be.
    Ok,
    Retry,
    /// A statement that occurs once and stays.
    Said,
    /// A heading for the lines below it.
    Head,
    /// A row of a table, or an event.
    Row,
    /// The start or continuation of a step.
    Progress,
    /// The end of a step.
    Done,
}

/// A tool, and the rules for the lines that it prints.
#[derive(Debug)]
pub(crate) struct KnownTool<C> {
    pub(crate) name: &'static str,
    /// Description of what is left out of the tool's records.
    pub(crate) left_out: &'static str,
    /// Minimum number of cues, minimum share of matching lines (in per cent), and the vote for the tool.
    pub(crate) takes: [usize; 3],
    pub(crate) rules: LineRules<C>,
    runs: &'static [&'static str],
}

impl<C> KnownTool<C> {
    /// Returns whether a report was printed by one of the tool's commands.
    pub(crate) fn runs(&self, report: &str) -> bool {
        self.runs.iter().any(|own| is_of(report, own))
    }
}

/// The tools of a kind, and the cues by which each is recognised.
#[derive(Debug)]
pub(crate) struct ToolSet<C> {
    pub(crate) tools: Vec<KnownTool<C>>,
    pub(crate) cues: LineRules<usize>,
}

/// Returns whether the words of a command begin with the words of another.
fn is_of(report: &str, own: &str) -> bool {
    report.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A file of tables.
struct TableFile {
    text: &'static str,
    tools: OnceLock<Vec<ToolTable<'static>>>,
}

impl TableFile {
    const fn new(text: &'static str) -> Self {
        Self { text, tools: OnceLock::new() }
    }

    fn tools(&'static self) -> &'static [ToolTable<'static>] {
        self.tools.get_or_init(|| table::tools(self.text))
    }

    /// Returns the rules of all tools in the file.
    fn rules<C: Copy>(&'static self, classes: &[(&str, C)]) -> LineRules<C> {
        LineRules::of(
            self.tools()
                .iter()
                .flat_map(|tool| &tool.patterns)
                .filter_map(|pattern| classed(pattern, classes)),
        )
    }

    /// Returns the tools in the file, each with its own rules.
    fn tool_set<C: Copy>(&'static self, classes: &[(&str, C)]) -> ToolSet<C> {
        let tables = self.tools().part(1..);
        let is_cue = |pattern: &&Pattern<'_>| pattern.class == "cue";
        let cues = tables.iter().enumerate().flat_map(|(nth, tool)| {
            tool.patterns.iter().filter(is_cue).map(move |pattern| (nth, pattern.regex.clone()))
        });
        let tool = |tool: &'static ToolTable<'static>| KnownTool {
            name: tool.name,
            left_out: tool.says,
            takes: tool.takes,
            rules: LineRules::of(tool.patterns.iter().filter_map(|pattern| classed(pattern, classes))),
            runs: &tool.runs,
        };
        ToolSet { cues: LineRules::of(cues), tools: tables.iter().map(tool).collect() }
    }
}

/// Returns a pattern and its class, if the class is in `classes`.
fn classed<C: Copy>(pattern: &Pattern<'_>, classes: &[(&str, C)]) -> Option<(C, String)> {
    let (_, class) = classes.iter().find(|(name, _)| *name == pattern.class)?;
    Some((*class, pattern.regex.clone()))
}

static BUILD: TableFile = TableFile::new(include_str!("../../rules/build.rules"));
static TESTS: TableFile = TableFile::new(include_str!("../../rules/tests.rules"));
static RECORDS: TableFile = TableFile::new(include_str!("../../rules/records.rules"));
static TRACE: TableFile = TableFile::new(include_str!("../../rules/trace.rules"));
static INFRA: TableFile = TableFile::new(include_str!("../../rules/infra.rules"));

/// Returns the kind of a command's output, if its tool prints no other kind.
pub(crate) fn kind_of(report: &str) -> Option<Kind> {
    let runs = |file: &'static TableFile| {
        file.tools().iter().any(|tool| tool.runs.iter().any(|own| is_of(report, own)))
    };
    let kinds =
        [(&TESTS, Kind::Tests), (&RECORDS, Kind::Listing), (&BUILD, Kind::Build), (&INFRA, Kind::Infra)];
    kinds.into_iter().find(|(file, _)| runs(file)).map(|(_, kind)| kind)
}

/// Returns the rules of compilers, linters and build tools.
pub(crate) fn build() -> &'static LineRules<BuildLine> {
    static RULES: OnceLock<LineRules<BuildLine>> = OnceLock::new();
    RULES.get_or_init(|| BUILD.rules(&BUILD_CLASSES))
}

/// Returns the rules of test runners.
pub(crate) fn tests() -> &'static LineRules<TestLine> {
    static RULES: OnceLock<LineRules<TestLine>> = OnceLock::new();
    RULES.get_or_init(|| TESTS.rules(&TEST_CLASSES))
}

/// Returns the tools that list records.
pub(crate) fn records() -> &'static ToolSet<RecordLine> {
    static TOOLS: OnceLock<ToolSet<RecordLine>> = OnceLock::new();
    TOOLS.get_or_init(|| RECORDS.tool_set(&RECORD_CLASSES))
}

/// Returns the tools that manage infrastructure.
pub(crate) fn infra() -> &'static ToolSet<InfraLine> {
    static TOOLS: OnceLock<ToolSet<InfraLine>> = OnceLock::new();
    TOOLS.get_or_init(|| INFRA.tool_set(&INFRA_CLASSES))
}

/// Returns the rules for frames of a trace, and for lines that only look like frames.
pub(crate) fn frames() -> &'static LineRules<bool> {
    static RULES: OnceLock<LineRules<bool>> = OnceLock::new();
    RULES.get_or_init(|| TRACE.rules(&[("none", false), ("frame", true)]))
}

/// Returns the rules for lines that name an exception or its cause.
pub(crate) fn heads() -> &'static LineRules<()> {
    static RULES: OnceLock<LineRules<()>> = OnceLock::new();
    RULES.get_or_init(|| TRACE.rules(&[("head", ())]))
}

const RECORD_CLASSES: [(&str, RecordLine); 4] = [
    ("record", RecordLine::Record),
    ("once", RecordLine::Once),
    ("first", RecordLine::First),
    ("drop", RecordLine::Drop),
];

const INFRA_CLASSES: [(&str, InfraLine); 14] = [
    ("total", InfraLine::Total),
    ("error", InfraLine::Error),
    ("block", InfraLine::Block),
    ("end", InfraLine::End),
    ("vital", InfraLine::Vital),
    ("detail", InfraLine::Detail),
    ("changed", InfraLine::Changed),
    ("ok", InfraLine::Ok),
    ("retry", InfraLine::Retry),
    ("said", InfraLine::Said),
    ("head", InfraLine::Head),
    ("row", InfraLine::Row),
    ("progress", InfraLine::Progress),
    ("done", InfraLine::Done),
];

const BUILD_CLASSES: [(&str, BuildLine); 10] = [
    ("error", BuildLine::Diagnostic(LogLevel::Error)),
    ("warning", BuildLine::Diagnostic(LogLevel::Warning)),
    ("place", BuildLine::Place),
    ("file", BuildLine::File),
    ("code", BuildLine::Code),
    ("note", BuildLine::Note),
    ("lead", BuildLine::Lead),
    ("step", BuildLine::Step),
    ("total", BuildLine::Total),
    ("progress", BuildLine::Progress),
];

const TEST_CLASSES: [(&str, TestLine); 9] = [
    ("passed", TestLine::Passed),
    ("dots", TestLine::Dots),
    ("skipped", TestLine::Skipped),
    ("failed", TestLine::Failed),
    ("started", TestLine::Started),
    ("suite", TestLine::Suite),
    ("details", TestLine::Details),
    ("captured", TestLine::Captured),
    ("total", TestLine::Total),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid_and_has_a_class() {
        fn names<C>(classes: &[(&'static str, C)]) -> Vec<&'static str> {
            classes.iter().map(|(name, _)| *name).collect()
        }
        let files = [
            (&BUILD, names(&BUILD_CLASSES)),
            (&TESTS, names(&TEST_CLASSES)),
            (&RECORDS, names(&RECORD_CLASSES)),
            (&INFRA, names(&INFRA_CLASSES)),
            (&TRACE, vec!["frame", "none", "head"]),
        ];
        for (file, classes) in files {
            for Pattern { class, regex } in file.tools().iter().flat_map(|tool| &tool.patterns) {
                assert!(*class == "cue" || classes.contains(class), "{class}");
                regex::bytes::RegexBuilder::new(regex).unicode(false).build().unwrap();
            }
        }
        assert!(build().class("error: no").is_some() && super::tests().class("PASS").is_some());
    }

    /// Each pattern is compiled only for lines that have the features it needs. This test tries all patterns on all
    /// lines.
    #[test]
    fn no_pattern_needs_too_much() {
        let corpus = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus")).unwrap();
        let inputs =
            corpus.map(|entry| entry.unwrap().path()).filter(|path| path.extension().unwrap() == "in");
        let text: Vec<String> =
            inputs.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect();
        let examples = [include_str!("../../rules/build.lines"), include_str!("../../rules/tests.lines")];
        let examples =
            examples.iter().flat_map(|lines| lines.lines()).filter_map(|case| case.split_once('|'));
        let mut lines: Vec<&str> = text.iter().flat_map(|text| text.lines()).collect();
        lines.extend(examples.map(|(_, line)| line));
        for file in [&BUILD, &TESTS, &RECORDS, &INFRA, &TRACE] {
            for tool in file.tools() {
                let patterns: Vec<&str> =
                    tool.patterns.iter().map(|pattern| pattern.regex.as_str()).collect();
                let all = regex::bytes::RegexSetBuilder::new(&patterns).unicode(false).build().unwrap();
                let numbered = patterns.iter().enumerate().map(|(at, pattern)| (at, (*pattern).to_owned()));
                let rules = LineRules::of(numbered);
                for line in &lines {
                    let first = all.matches(line.as_bytes()).iter().next();
                    assert_eq!(rules.class(line), first, "{}: {line}", tool.name);
                }
            }
        }
    }

    /// Returns the lines of an example table for which the class differs from the one stated in the table.
    fn wrong<C: Copy + PartialEq + std::fmt::Debug>(
        lines: &str,
        classes: &[(&str, C)],
        class: impl Fn(&str) -> Option<C>,
    ) -> Vec<String> {
        let named = |name: &str| classes.iter().find(|(known, _)| *known == name).map(|(_, class)| *class);
        let cases = lines.lines().filter_map(|case| case.split_once('|'));
        let wrong = cases.filter(|(name, line)| class(line) != named(name));
        wrong.map(|(name, line)| format!("{line}: {:?}, not {name}", class(line))).collect()
    }

    #[test]
    fn lines_of_many_tools_are_classified() {
        let lines = include_str!("../../rules/build.lines");
        let found = wrong(lines, &BUILD_CLASSES, |line| build().stated_class(line));
        assert!(found.is_empty(), "{}", found.join("\n"));
        let lines = include_str!("../../rules/tests.lines");
        let found = wrong(lines, &TEST_CLASSES, |line| super::tests().class(line));
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
