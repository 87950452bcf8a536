//! Tools that list records: each record is shown as an item under the parts that consecutive records have in common.

use std::collections::{HashMap, HashSet};

use crate::encode::estimate_tokens;
use crate::rules::{self, KnownTool, LineParts, RecordLine};
use crate::spans::shown::{self, ShownLevel, ShownPart};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

/// Minimum share of lines that match a pattern of a tool, in per cent.
const OWN_PERCENT: usize = 90;
/// Minimum number of lines needed to recognise a tool.
const MIN_LINES: usize = 12;
/// Number of lines at the start of a text within which a tool's cue must occur.
const CUE_LINES: usize = 12;
/// Maximum size of records, as a percentage of the text's tokens.
const WORTHWHILE_PERCENT: usize = 85;
/// Number of bytes after which a line of joined items is wrapped.
const LINE_BYTES: usize = 110;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    if recognise(&sample.lines).is_some() { 97 } else { 0 }
}

/// Returns the tool that printed most of the lines as its records.
fn recognise(lines: &[&str]) -> Option<&'static KnownTool<RecordLine>> {
    let said: Vec<&str> = lines.iter().copied().filter(|line| !line.is_empty()).collect();
    if said.len() < MIN_LINES {
        return None;
    }
    let known = rules::records();
    let cue = said.iter().take(CUE_LINES).find_map(|line| known.cues.class(line))?;
    let tool = known.tools.get(cue)?;
    let own = said.iter().filter(|line| tool.rules.class(line).is_some()).count();
    (own * 100 >= said.len() * OWN_PERCENT).then_some(tool)
}

/// Returns the spans of a text as records, if its tool is known and records are shorter than the lines.
pub(crate) fn spans(lines: &TextLines<'_>, command: Option<&str>) -> Option<Vec<LineSpan>> {
    let named = command.and_then(|command| rules::records().tools.iter().find(|tool| tool.runs(command)));
    let tool = named.or_else(|| recognise(&LineSample::of(lines.text()).lines))?;
    let mut writer = RecordWriter::default();
    for line in lines.iter() {
        writer.read(tool, line);
    }
    writer.end_run();
    let parts = writer.parts;
    let tokens: usize = parts.iter().map(|part| estimate_tokens(&part.text)).sum();
    if tokens * 100 > estimate_tokens(lines.text()) * WORTHWHILE_PERCENT {
        return None;
    }
    let told = format!("{}: {}", tool.name, tool.left_out);
    Some(shown::spans(0..lines.text().len(), &parts, &told).collect())
}

/// Records in the form in which they are shown, one line each.
#[derive(Default)]
struct RecordWriter<'t> {
    parts: Vec<ShownPart>,
    /// For each pattern whose lines are shown once, the last line shown.
    shown: HashMap<usize, &'t str>,
    firsts: HashSet<&'t str>,
    run: RecordRun<'t>,
}

/// Consecutive records of one pattern, grouped by their common parts.
#[derive(Default)]
struct RecordRun<'t> {
    pattern: usize,
    places: HashMap<&'t str, usize>,
    groups: Vec<(&'t str, Vec<String>)>,
}

impl<'t> RecordWriter<'t> {
    fn read(&mut self, tool: &KnownTool<RecordLine>, line: &'t str) {
        match tool.rules.read(line) {
            None => self.show(line),
            Some((_, RecordLine::Drop, _)) => {}
            Some((pattern, RecordLine::Once, parts)) => {
                if self.shown.insert(pattern, parts.item) != Some(parts.item) {
                    self.show(parts.item);
                }
            }
            Some((_, RecordLine::First, parts)) => {
                if self.firsts.insert(parts.item) {
                    self.show(&said(&parts));
                }
            }
            Some((_, RecordLine::Record, parts)) if parts.key.is_empty() => self.show(&said(&parts)),
            Some((pattern, RecordLine::Record, parts)) => {
                if self.run.pattern != pattern {
                    self.end_run();
                    self.run.pattern = pattern;
                }
                let RecordRun { places, groups, .. } = &mut self.run;
                let place = *places.entry(parts.key).or_insert(groups.len());
                match groups.get_mut(place) {
                    Some((_, items)) => items.push(said(&parts)),
                    None => groups.push((parts.key, vec![said(&parts)])),
                }
            }
        }
    }

    fn show(&mut self, line: &str) {
        self.end_run();
        self.push(line, ShownLevel::Alone, Rank::Frame, 0);
    }

    fn push(&mut self, line: &str, level: ShownLevel, rank: Rank, score: u16) {
        self.parts.push(ShownPart { text: format!("{}\n", line.trim_end()), level, rank, score });
    }

    /// Writes each key with its items, short items side by side. Within a budget, the first keys of each sort precede
    /// other keys, and the line with a key precedes further lines with its items.
    fn end_run(&mut self) {
        let mut sorts: HashMap<&str, u16> = HashMap::new();
        for (key, items) in std::mem::take(&mut self.run).groups {
            let sort = key.split_once(' ').map_or("", |(sort, _)| sort);
            let nth = sorts.entry(sort).and_modify(|nth| *nth = nth.saturating_add(1)).or_default();
            let (rank, score) = (Rank::Context, u16::MAX - *nth);
            // A single item in a folder is written as a path.
            let alone = items.len() == 1 && key.ends_with('/');
            let separator = if items.iter().any(|item| item.contains(' ')) { "  " } else { " " };
            let mut line = format!("{key}{}", if alone { "" } else { " " });
            let mut level = ShownLevel::Alone;
            for item in items {
                if line.len() + item.len() > LINE_BYTES && !line.trim().is_empty() {
                    self.push(&line, level, rank, score);
                    (line, level) = ("  ".to_owned(), ShownLevel::Detail);
                }
                line.push_str(&item);
                line.push_str(separator);
            }
            self.push(&line, level, rank, score);
        }
    }
}

/// Returns a record in the form in which it is shown.
fn said(parts: &LineParts<'_>) -> String {
    [parts.item, parts.more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
