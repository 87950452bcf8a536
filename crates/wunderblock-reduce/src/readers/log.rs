//! Logs: every template stays visible, and repeats between its first and last line are left out.

use std::collections::HashMap;

use crate::part::PartOfList;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;
use crate::text::severity::{self, LineSeverity, LogLevel};
use crate::text::template::{LineTemplate, LineTemplates};

use super::line::{alike, timestamp};

/// Number of bytes at the start of a line within which a level makes that line the first one of a record.
const LEVEL_REACH: usize = 100;
/// Maximum number of lines of a template that stays whole.
const MAX_RARE: u32 = 3;
/// Maximum number of lines of a template whose lines stay with the record that they follow.
const MAX_FOLLOWING: u32 = 40;
/// Minimum number of measurements that can have outliers.
const MIN_MEASURED: f64 = 32.0;
/// Minimum number of lines of a template that counts as repeated in a sample.
const MIN_REPEATS: u32 = 5;
/// Maximum number of outliers of one template that are shown.
const MAX_OUTLIERS: u8 = 5;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    if sample.lines.len() < 3 {
        return 0;
    }
    let begun = sample.share(|line| timestamp::prefix_length(line) > 0);
    let dated = sample.share(is_head);
    // A record may have several lines: indented lines belong to the first line above them, which is never indented.
    let follows = dated + sample.share(|line| line.starts_with([' ', '\t']));
    let all = if dated >= 25 { dated.max(follows.min(100) * 9 / 10) } else { dated };
    let sure = if begun * 2 >= dated { 88 } else { 80 };
    all * sure / 100
}

/// Vote for a text whose only evidence is that its lines are alike.
pub(crate) const TEMPLATE_VOTE: u32 = 36;

/// Returns whether lines of words repeat with other values, in which case the text is a log, whatever program wrote
/// it. The vote is weak, so any kind with more evidence takes precedence. This check takes longer than the other
/// votes, so it is made last.
pub(crate) fn repeats_templates(sample: &LineSample<'_>) -> bool {
    let mut templates = LineTemplates::default();
    // Indented lines belong to the line above them.
    let said = sample.lines.iter().filter(|line| !line.starts_with([' ', '\t']) && !line.is_empty());
    let ids: Vec<Option<u32>> =
        said.enumerate().map(|(at, line)| has_words(line).then(|| templates.learn(at, line, 0))).collect();
    let common = |id: &&Option<u32>| {
        id.and_then(|id| templates.get(id)).is_some_and(|template| template.count >= MIN_REPEATS)
    };
    let share = ids.iter().filter(common).count() * 100 / ids.len().max(1);
    share >= 60 && ids.len() >= 20
}

/// Returns whether a line has at least two words, or one word and a value. Parts of a path do not count as words.
fn has_words(line: &str) -> bool {
    let word = |part: &&str| {
        let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        letters > 1 && part.as_bytes().get(letters).is_none_or(|after| b"(:=,;".contains(after))
    };
    let words = line.split_ascii_whitespace().filter(word).count();
    words >= 2 || words == 1 && line.contains([':', '=', '('])
}

/// Returns whether a record begins with a line: it has a time near its start, or a level before its message.
fn is_head(line: &str) -> bool {
    !line.starts_with([' ', '\t']) && (timestamp::has_time(line) || is_levelled(line))
}

fn is_levelled(line: &str) -> bool {
    let mut end = line.len().min(LEVEL_REACH);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    severity::read_line(line.get(..end).unwrap_or(line)).level.is_some()
}

/// A line of a log.
#[derive(Clone, Copy)]
struct LogEntry {
    template: u32,
    said: LineSeverity,
    head: bool,
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut spans = Vec::with_capacity(lines.len());
    rank_lines(lines, &mut |span| spans.push(span));
    spans
}

/// Returns the spans, joining those that a fold treats alike. If spans were not joined, a large log would take 52
/// bytes per line instead of 12.
pub(crate) fn spans_folded(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut spans: Vec<LineSpan> = Vec::new();
    rank_lines(lines, &mut |span| match spans.last_mut() {
        Some(last) if last.is_folded_with(&span) => last.extend(span.range().end),
        _ => spans.push(span),
    });
    spans
}

fn rank_lines(lines: &TextLines<'_>, take: &mut dyn FnMut(LineSpan)) {
    let mut templates = LineTemplates::default();
    let entries = parse_entries(lines, &mut templates);
    let mut outliers = LogOutliers::of(lines, &entries);
    let ids = entries.iter().map(|entry| Some(entry.template));
    let notes = alike::notes(lines, &templates, ids, |template| template.count > MAX_RARE);
    let mut stays = false;
    for (at, entry) in entries.iter().enumerate() {
        let mut span = LineSpan::new(lines.span(at), Rank::Filler);
        span.label = entry.said.label();
        let count = templates.get(entry.template).map_or(0, |template| {
            rank_line(&mut span, at, *entry, template, &notes);
            template.count
        });
        if lines.get(at).trim().is_empty() {
            span.rank = if stays { Rank::Context } else { Rank::Filler };
            span.set_note(None);
        } else if span.rank == Rank::Filler
            && (!entry.head && stays && count <= MAX_FOLLOWING || outliers.take(entry, lines.get(at)))
        {
            span.rank = Rank::Context;
            span.score = 30;
        }
        if entry.head {
            stays = span.rank > Rank::Filler;
        }
        if at == 0 || at + 1 == lines.len() {
            // The first and the last line of a log show the period that it covers.
            span.rank = span.rank.max(Rank::Frame);
            span.score = span.score.max(150);
        }
        take(span);
    }
}

fn parse_entries(lines: &TextLines<'_>, templates: &mut LineTemplates) -> Vec<LogEntry> {
    let sampled = lines.len().min(400);
    let heads = lines.iter().take(sampled).filter(|line| is_head(line)).count();
    // If most lines have neither time nor level, each line is its own record.
    let headed = heads * 4 >= sampled;
    let entry = |(at, line): (usize, &str)| {
        let said = severity::read_line(line);
        let head =
            !line.starts_with([' ', '\t']) && (!headed || said.level.is_some() || timestamp::has_time(line));
        let template = templates.learn(at, line, said.weight() as u8);
        LogEntry { template, said, head }
    };
    lines.iter().enumerate().map(entry).collect()
}

/// Returns the number with a unit at the end of a line: `in 12 ms`, `time: 0.25`, `"ms":12}`.
fn parse_measure(line: &str) -> Option<f32> {
    let text = line.trim_end_matches(['}', ')', ']', '"', ',', '.', ' ']);
    let number_end = text.len() - text.bytes().rev().take(8).position(|byte| byte.is_ascii_digit())?;
    let (head, span) = text.split_at_checked(number_end)?;
    let digits =
        head.bytes().rev().take(20).take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (key, number) = head.split_at_checked(head.len() - digits)?;
    let spans = ["ms", "us", "µs", "ns", "s", "sec", "seconds", "KB", "MB", "KiB", "MiB"];
    let keyed = || {
        let key = key.trim_end_matches([' ', ':', '=', '"']);
        key.len() < head.len() - digits
            && ["ms", "time", "duration", "latency", "elapsed", "took", "seconds"]
                .iter()
                .any(|name| key.ends_with(name))
    };
    if spans.contains(&span.trim()) || span.is_empty() && keyed() { number.parse().ok() } else { None }
}

/// Finds measurements that stand out in their template: more than three standard deviations above the mean.
struct LogOutliers {
    /// For each template, the limit above which a measurement stands out, and the number of such measurements that
    /// may still be shown.
    limits: Vec<(f64, u8)>,
}

impl LogOutliers {
    fn of(lines: &TextLines<'_>, entries: &[LogEntry]) -> Self {
        let mut sums: Vec<(f64, f64, f64)> = Vec::new();
        for (entry, line) in entries.iter().zip(lines.iter()) {
            let Some(measured) = parse_measure(line) else { continue };
            let at = entry.template as usize;
            if sums.len() <= at {
                sums.resize(at + 1, (0.0, 0.0, 0.0));
            }
            let Some((count, sum, squares)) = sums.item_mut(at) else { continue };
            let value = f64::from(measured);
            (*count, *sum, *squares) = (*count + 1.0, *sum + value, value.mul_add(value, *squares));
        }
        let limit = |(count, sum, squares): (f64, f64, f64)| {
            let mean = sum / count.max(1.0);
            let spread = (squares / count.max(1.0) - mean * mean).max(0.0).sqrt();
            if count < MIN_MEASURED { f64::INFINITY } else { 3.0f64.mul_add(spread, mean) }
        };
        Self { limits: sums.into_iter().map(|sums| (limit(sums), MAX_OUTLIERS)).collect() }
    }

    fn take(&mut self, entry: &LogEntry, line: &str) -> bool {
        // Templates after the last one with a measurement are not in the list.
        let Some((limit, left)) = self.limits.get_mut(entry.template as usize) else { return false };
        let may = *left > 0 && limit.is_finite();
        let out = may && parse_measure(line).is_some_and(|measured| f64::from(measured) > *limit);
        *left -= u8::from(out);
        out
    }
}

/// Ranks a line among the lines of its template.
fn rank_line(
    span: &mut LineSpan,
    at: usize,
    entry: LogEntry,
    template: &LineTemplate,
    notes: &HashMap<u32, String>,
) {
    let weight = entry.said.weight();
    let (first, last) = (template.first as usize == at, template.last as usize == at);
    let whole = template.count <= MAX_RARE;
    let example = match (first, last) {
        (true, _) => 60,
        (_, true) => 20,
        _ => 0,
    };
    span.score = example + weight as u16 * 100 + if whole { 10 } else { 0 };
    if !first && !last && !whole {
        span.score = weight as u16 * 10;
        return;
    }
    let heavy = weight > LogLevel::Info;
    // Among lines that follow a record, the first example is enough. Any other line stays if its record stays.
    if !entry.head && !heavy && !first && !whole {
        return;
    }
    span.rank = if heavy { Rank::Must } else { Rank::Frame };
    if first && !whole && (entry.head || heavy) {
        span.set_note(notes.get(&entry.template).map(|note| note.as_str().into()));
    }
}
