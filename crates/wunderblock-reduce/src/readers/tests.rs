//! Test runners: failing tests keep their name, place and message, totals stay, and passing tests are left out.

mod empty_lines;
mod junit;
mod message;
mod repeated_failures;

use std::collections::HashSet;
use std::ops::Range;

use crate::part::PartOfList;
use crate::result::label::Label;
use crate::rules::{self, BuildLine, TestLine};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;
use crate::text::severity::{self, LogLevel};
use crate::text::template::{self, LineTemplates};

use super::build::opens_page;
use super::line::build_line::strip_prefix;
use super::line::{alike, diagnostic, stack_frame};
use super::trace;
use message::{is_message, is_place};

/// Maximum number of skipped tests that are named.
const MAX_SKIPPED: usize = 12;
/// Maximum number of passed suites that are named.
const MAX_SUITES: usize = 8;
/// Maximum number of lines in a failure's message. Further lines of the message are context.
const MAX_MESSAGE_LINES: usize = 16;
/// Minimum number of consecutive lines that are left out because they have already been printed.
const MIN_REPEATED: usize = 4;
/// Minimum size, in bytes, of a shorter run of lines that is left out because it has already been printed.
const MIN_REPEATED_BYTES: usize = 160;
/// Maximum number of source lines below a frame.
const SOURCE_LINES: usize = 2;
/// Maximum number of lines without a class that share a template and all stay.
const MAX_WHOLE: u32 = 8;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    if junit::is_report(sample.text) {
        return 95;
    }
    let cases: Vec<Option<TestLine>> =
        sample.lines.iter().map(|line| rules::tests().class(strip_prefix(line))).collect();
    let some = cases.iter().flatten().count();
    let said = sample.lines.iter().filter(|line| !line.trim().is_empty()).count();
    if some < 2 {
        return 0;
    }
    let share = (some * 100 / said.max(1)) as u32;
    // A report within a page of words is a quote. A page of words begins before the report that it quotes.
    let first = cases.iter().position(Option::is_some).unwrap_or(0);
    if opens_page(&sample.lines, first) {
        return share / 3;
    }
    // A test run begins in a known form and ends with its totals. Tests may print anything between the beginning of a
    // run and its totals.
    let mut last = sample.text.trim_end().rsplit('\n').take(14);
    let ended = last
        .any(|line| rules::tests().class(strip_prefix(line.trim_end_matches('\r'))) == Some(TestLine::Total));
    let began = first < 60;
    match (began, ended) {
        (true, true) => 94.min(70 + share),
        (false, true) | (true, false) if share >= 10 => 88.min(55 + share),
        _ => share * 95 / 100,
    }
}

/// The section of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportSection {
    /// Cases, one after another.
    Run,
    /// The output of one failing test.
    Failure,
    /// The text that a test printed.
    Captured,
    /// The summary of warnings, durations, or coverage.
    Summary,
}

struct ReportReader<'l> {
    lines: &'l TextLines<'l>,
    spans: Vec<LineSpan>,
    section: ReportSection,
    /// Number of message lines read in the current failure.
    message: usize,
    /// Whether the next line still belongs to the message, as after `panicked at …:`.
    goes_on: bool,
    cases: Vec<Option<TestLine>>,
    /// Whether the current line is in the block in which TAP describes a passed test.
    passing: bool,
    passed: bool,
    /// The case that began last.
    begun: Option<usize>,
    skipped: Vec<usize>,
    /// Suites without failures.
    suites: Vec<usize>,
    others: Vec<usize>,
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    if junit::is_report(lines.text()) {
        return junit::spans(lines.text());
    }
    let mut reader = ReportReader {
        lines,
        spans: (0..lines.len()).map(|at| LineSpan::new(lines.span(at), Rank::Context)).collect(),
        section: ReportSection::Run,
        message: 0,
        goes_on: false,
        cases: lines.iter().map(|line| rules::tests().class(strip_prefix(line))).collect(),
        passing: false,
        passed: false,
        begun: None,
        skipped: Vec::new(),
        suites: Vec::new(),
        others: Vec::new(),
    };
    for at in 0..lines.len() {
        reader.read(at);
    }
    reader.documented();
    reader.names();
    reader.few_skipped();
    reader.headings();
    reader.many_suites();
    empty_lines::fold(lines, &mut reader.spans);
    reader.stacks();
    reader.sources();
    reader.seen_before();
    reader.fold_others();
    repeated_failures::fold_source(lines, &reader.cases, &mut reader.spans);
    reader.spans
}

impl ReportReader<'_> {
    fn read(&mut self, at: usize) {
        let line = strip_prefix(self.lines.get(at));
        match self.class(at) {
            Some(case) if !self.is_quoted(line, case) => self.case(at, line, case),
            _ => self.other(at, line),
        }
    }

    /// Returns whether a line is only quoted. In a section of text that a test printed, only lines that end the
    /// section count.
    fn is_quoted(&self, line: &str, case: TestLine) -> bool {
        match self.section {
            ReportSection::Captured => {
                !matches!(case, TestLine::Suite | TestLine::Details | TestLine::Captured | TestLine::Total)
                    && !line.starts_with("</")
                    && !line.starts_with("--- ")
            }
            _ => false,
        }
    }

    fn class(&self, at: usize) -> Option<TestLine> {
        self.cases.item(at).copied().flatten()
    }

    fn set(&mut self, at: usize, rank: Rank, score: u16, label: Option<Label>) {
        if let Some(span) = self.spans.item_mut(at) {
            span.rank = rank;
            span.score = score;
            span.label = label;
        }
    }

    fn case(&mut self, at: usize, line: &str, case: TestLine) {
        self.goes_on = false;
        self.passing = false;
        self.passed = case == TestLine::Passed;
        let ((rank, score), label, section) = match case {
            TestLine::Passed => ((Rank::Filler, 0), Some(Label::Passed), ReportSection::Run),
            TestLine::Dots | TestLine::Started => ((Rank::Filler, 0), None, ReportSection::Run),
            TestLine::Skipped => ((Rank::Filler, 5), Some(Label::Skipped), ReportSection::Run),
            TestLine::Failed => (
                (Rank::Must, 800),
                Some(Label::Failed),
                if line.starts_with("FAILED ") || line.starts_with("ERROR ") {
                    ReportSection::Summary
                } else {
                    ReportSection::Failure
                },
            ),
            TestLine::Details => ((Rank::Must, 700), Some(Label::Failed), ReportSection::Failure),
            TestLine::Captured => ((Rank::Context, 15), None, ReportSection::Captured),
            TestLine::Total => ((Rank::Must, 900), None, ReportSection::Run),
            TestLine::Suite => {
                let summary = ["warnings summary", "slowest", "coverage", "tests coverage", "PASSES"]
                    .iter()
                    .any(|name| line.contains(name));
                ((Rank::Frame, 50), None, if summary { ReportSection::Summary } else { ReportSection::Run })
            }
        };
        match case {
            TestLine::Skipped => self.skipped.push(at),
            TestLine::Started => self.begun = Some(at),
            TestLine::Suite if line.starts_with("PASS ") || line.starts_with("ok ") => self.suites.push(at),
            // In XML, the result of a case is within its element.
            TestLine::Failed if line.trim_start().starts_with('<') => {
                if let Some(begun) = self.begun.take() {
                    self.set(begun, rank, score, label);
                }
            }
            _ => {}
        }
        if section == ReportSection::Failure {
            self.message = 0;
        }
        self.section = section;
        self.set(at, rank, score, label);
    }

    fn other(&mut self, at: usize, line: &str) {
        if line.trim().is_empty() {
            self.goes_on = self.goes_on && self.message == 0;
            self.set(at, Rank::Context, 0, None);
            return;
        }
        if self.passing || self.passed && line.trim() == "---" {
            self.passing = line.trim() != "...";
            self.set(at, Rank::Filler, 0, None);
            return;
        }
        if rules::build().class(line) == Some(BuildLine::Progress) && self.section == ReportSection::Run {
            self.set(at, Rank::Filler, 0, None);
            return;
        }
        let (rank, score) = match self.section {
            ReportSection::Captured if line.starts_with("E   ") || is_place(line) => (Rank::Must, 500),
            ReportSection::Captured => (Rank::Context, 5),
            ReportSection::Summary => match severity::level_of(line) {
                Some(LogLevel::Error | LogLevel::Warning) => (Rank::Context, 60),
                _ => (Rank::Context, 8),
            },
            ReportSection::Failure | ReportSection::Run => self.failure_worth(line),
        };
        if rank < Rank::Must && self.section != ReportSection::Failure {
            self.others.push(at);
        }
        self.set(at, rank, score, None);
    }

    /// Ranks a line of a failure. The message and the place are worth most.
    fn failure_worth(&mut self, line: &str) -> (Rank, u16) {
        let text = line.trim_start();
        // A frame in the form that pytest writes, not a place with a message.
        if line.contains(": in ") && is_place(line) {
            return (Rank::Must, 610);
        }
        let part = rules::build().class(line);
        let opens = is_message(text, line)
            || matches!(part, Some(BuildLine::Diagnostic(_)))
            || stack_frame::is_head(line) && !text.starts_with("Traceback");
        if opens {
            self.goes_on =
                text.contains("panicked at") || text.starts_with("assertion") || text.ends_with(':');
        }
        if opens || self.goes_on {
            if text.starts_with("note:") || stack_frame::frame_owner(line).is_some() {
                self.goes_on = false;
                return (Rank::Context, 10);
            }
            self.message += 1;
            return match self.message {
                // pytest puts `E` before the exception that was raised. Other lines that look like a message weigh
                // less.
                0..=2 => (Rank::Must, if line.starts_with("E ") { 745 } else { 740 }),
                3..=6 => (Rank::Must, 690),
                7..=MAX_MESSAGE_LINES => (Rank::Must, 620),
                _ => (Rank::Context, 40),
            };
        }
        if is_place(line) || part == Some(BuildLine::Place) {
            return (Rank::Must, 735);
        }
        match part {
            Some(BuildLine::Total) => (Rank::Must, 650),
            Some(_) => (Rank::Context, 20),
            None if self.section == ReportSection::Failure => match severity::level_of(line) {
                Some(LogLevel::Error) => (Rank::Must, 450),
                _ => (Rank::Context, 25),
            },
            None => (Rank::Context, 10),
        }
    }

    /// Ranks the headings of failure details. A heading ranks after its message if failing tests are also named
    /// elsewhere, and before it otherwise. A row of letters names only a file.
    fn names(&mut self) {
        let is = |at: usize, case: TestLine| self.class(at) == Some(case);
        let row = |at: usize| {
            self.lines.get(at).trim_end().ends_with(['.', 'F', 'E', ']'])
                && !self.lines.get(at).contains("::")
        };
        let all = 0..self.lines.len();
        let rows: Vec<usize> = all.clone().filter(|at| is(*at, TestLine::Failed) && row(*at)).collect();
        let named = all.clone().filter(|at| is(*at, TestLine::Failed)).count() - rows.len();
        let details: Vec<usize> = all.filter(|at| is(*at, TestLine::Details)).collect();
        let twice = named >= details.len();
        let heading = if twice { 700 } else { 800 };
        for at in details.iter().filter(|_| twice) {
            self.set(*at, Rank::Must, heading, None);
        }
        for (at, score) in
            details.into_iter().map(|at| (at, heading)).chain(rows.into_iter().map(|at| (at, 660)))
        {
            if let Some(span) = self.spans.item_mut(at) {
                span.score = score;
            }
        }
    }

    /// Leaves out the names of passing tests that a documenting runner (`rspec -fd`) prints before it lists failures.
    fn documented(&mut self) {
        let told = |at: usize| {
            let line = self.lines.get(at).trim_end();
            line.ends_with(')') && line.contains(" (FAILED - ")
        };
        let end = (0..self.lines.len()).find(|at| {
            self.lines.get(*at).starts_with("Failures:") || self.lines.get(*at).starts_with("Pending:")
        });
        let Some(end) = end.filter(|end| (0..*end).any(told)) else { return };
        for at in 0..end {
            if self.class(at).is_none() && self.lines.get(at).starts_with(' ') {
                self.set(at, Rank::Filler, 0, None);
            }
        }
    }

    /// Keeps the names of skipped tests, if there are few.
    fn few_skipped(&mut self) {
        if self.skipped.len() <= MAX_SKIPPED {
            for at in std::mem::take(&mut self.skipped) {
                self.set(at, Rank::Context, 30, Some(Label::Skipped));
            }
        }
    }

    /// Leaves out suites without failures, if there are many.
    fn many_suites(&mut self) {
        let suites = std::mem::take(&mut self.suites);
        if suites.len() > MAX_SUITES {
            for at in suites {
                self.set(at, Rank::Filler, 10, Some(Label::SuitesPassed));
            }
        }
    }

    /// Leaves out a heading whose tests all pass, together with these tests. A file is left out as a suite.
    fn headings(&mut self) {
        let (mut failed, mut below) = (false, None);
        for at in (0..self.lines.len()).rev() {
            let line = strip_prefix(self.lines.get(at));
            let indent = line.len() - line.trim_start().len();
            match self.class(at) {
                Some(TestLine::Passed | TestLine::Skipped) => below = Some(indent),
                Some(TestLine::Failed | TestLine::Details) => (failed, below) = (true, None),
                Some(case) => {
                    let passed = case == TestLine::Suite && !failed && below.is_some();
                    self.suites.extend(Some(at).filter(|_| passed && line.trim_end().ends_with(':')));
                    (failed, below) = (false, None);
                }
                None => {
                    let heads = !failed && indent > 0 && below.is_some_and(|below| indent < below);
                    below = heads.then_some(indent);
                    if heads {
                        self.set(at, Rank::Filler, 0, None);
                    }
                }
            }
        }
    }

    /// Leaves out the frames of libraries in a failure.
    fn stacks(&mut self) {
        let (mut start, mut under): (Option<usize>, usize) = (None, 0);
        let mut stacks: Vec<Range<usize>> = Vec::new();
        for at in 0..=self.lines.len() {
            let line = self.lines.get(at);
            let framed = at < self.lines.len() && stack_frame::frame_owner(line).is_some();
            // A frame has one or two lines of source below it. A line of the runner itself is not part of a frame.
            under = if framed { 0 } else { under + 1 };
            let source = start.is_some()
                && under <= SOURCE_LINES
                && line.starts_with("    ")
                && self.class(at).is_none()
                && self.spans.item(at).is_some_and(|span| span.rank < Rank::Must);
            match (framed || source, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    stacks.push(from..at);
                    start = None;
                }
                _ => {}
            }
        }
        for stack in stacks.into_iter().filter(|stack| stack.len() > 3) {
            trace::shorten_frames(self.lines, stack, &mut self.spans);
        }
    }

    /// Leaves out the source that pytest prints around a frame, if the frame is in a library or has already been
    /// printed. The failing line, the exception that was raised, and the place stay.
    fn sources(&mut self) {
        let (mut seen, mut placed_at) = (HashSet::new(), HashSet::new());
        let (mut start, mut key) = (0, 0u64);
        for at in 0..self.lines.len() {
            let line = self.lines.get(at);
            let ruled = line.starts_with("_ _ _")
                || matches!(self.class(at), Some(TestLine::Details | TestLine::Suite | TestLine::Captured));
            if ruled {
                (start, key) = (at + 1, 0);
                if !line.starts_with("_ _ _") {
                    placed_at.clear();
                }
                continue;
            }
            let placed = diagnostic::place_length(line)
                .filter(|_| !line.starts_with(' '))
                .and_then(|end| line.get(end..));
            let Some(after) = placed.filter(|after| after.starts_with(':')) else {
                if line.starts_with("    ") {
                    key = key.rotate_left(11) ^ template::hash(line.as_bytes());
                }
                continue;
            };
            // In the short style, the place precedes its source. Only library frames and repeated frames are left
            // out.
            let library = stack_frame::is_library(line);
            let short = after.starts_with(": in ");
            let known = !seen.insert(key) && key != 0;
            if !short {
                let leave = library || known;
                self.source(start..at, if leave { Rank::Filler } else { Rank::Context });
            } else if library || !placed_at.insert(template::hash(line.as_bytes())) {
                let body = (at + 1..self.lines.len())
                    .take_while(|at| self.lines.get(*at).starts_with("    "))
                    .count();
                self.source(at + 1..at + 1 + body, Rank::Filler);
                self.set(at, Rank::Filler, 0, Some(Label::Frames));
            }
            (start, key) = (at + 1, 0);
        }
    }

    /// Assigns the given rank to lines of printed source. Other lines between the source lines (values, `>`, `E`)
    /// keep their rank.
    fn source(&mut self, range: Range<usize>, rank: Rank) {
        for at in range {
            let line = self.lines.get(at);
            let printed = line.starts_with("    ") || line.is_empty() && rank == Rank::Filler;
            if let Some(span) = self.spans.item_mut(at).filter(|span| printed && span.score < 700) {
                span.rank = rank;
                span.score = span.score.min(25);
            }
        }
    }

    /// Leaves out lines that have already been printed, if enough of them are consecutive.
    fn seen_before(&mut self) {
        let mut pairs = HashSet::new();
        let (mut before, mut start) = (0u64, 0);
        for at in 0..=self.lines.len() {
            let own = template::hash(self.lines.get(at).as_bytes());
            let plain = self.spans.get(at).is_some_and(|span| span.rank == Rank::Context);
            // A long line is recognised by itself, and a short line only together with the line before it.
            let alone = self.lines.get(at).len() >= MIN_REPEATED_BYTES;
            let known = !pairs.insert(if alone { own } else { before.rotate_left(1) ^ own });
            let seen = plain && known;
            before = own;
            if seen {
                continue;
            }
            let bytes = || self.lines.spans(start..at).len();
            if at >= start + MIN_REPEATED || at > start && bytes() >= MIN_REPEATED_BYTES {
                for span in self.spans.part_mut(start..at) {
                    span.rank = Rank::Filler;
                    span.label = Some(Label::SeenBefore);
                }
            }
            start = at + 1;
        }
    }

    /// Folds lines without a class. If many lines have the same template, the first and the last stay.
    fn fold_others(&mut self) {
        let mut templates = LineTemplates::default();
        let others = std::mem::take(&mut self.others);
        let mut ids: Vec<Option<u32>> = vec![None; self.lines.len()];
        for at in &others {
            let id = templates.learn(*at, strip_prefix(self.lines.get(*at)), 0);
            ids.item_mut(*at).into_iter().for_each(|slot| *slot = Some(id));
        }
        let notes =
            alike::notes(self.lines, &templates, ids.iter().copied(), |template| template.count > MAX_WHOLE);
        for (at, (id, span)) in ids.into_iter().zip(&mut self.spans).enumerate() {
            let Some((id, template)) = id.and_then(|id| Some((id, templates.get(id)?))) else { continue };
            if template.count <= MAX_WHOLE || span.rank != Rank::Context {
                continue;
            }
            if template.first as usize == at {
                span.set_note(notes.get(&id).map(|note| note.as_str().into()));
            } else if template.last as usize != at {
                span.rank = Rank::Filler;
            }
        }
    }
}
