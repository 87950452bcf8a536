//! Search results: every file stays visible, and matches are folded file by file.

mod search_line;

use crate::part::{PartOfList, PartOfText};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::{TextLines, TextPart};
use crate::text::sample::LineSample;

use super::line::fingerprint;
use super::short_gaps;
use search_line::{SearchLine, SearchRole, parse};

/// Maximum number of matches in a file that is shown whole.
const MAX_WHOLE: usize = 10;
/// Number of matches that stay at the start of a file with more matches. After the first matches, those with new
/// content and the last match stay.
const FIRST_MATCHES: usize = 4;
/// Maximum number of equal matches that stay.
const MAX_REPEATS: u32 = 3;
/// Number of bytes of a long line that stay. Minified files have matches of a megabyte.
const MAX_LINE_BYTES: usize = 320;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    // The output of `grep -c`: a number per file.
    if sample.lines.len() >= 3 && sample.share(is_count) >= 95 {
        return 95;
    }
    let records = sample.count(search_line::is_record);
    let said = sample.count(|line| !line.trim().is_empty());
    if records >= 3 && records * 10 >= said * 9 {
        return 96;
    }
    let mut seen = SearchSurvey::default();
    let heading = search_line::has_headings(&sample.lines);
    for text in &sample.lines {
        seen.take(parse(text, heading), text);
    }
    seen.vote(heading)
}

/// The common properties of the lines of a sample.
#[derive(Default)]
struct SearchSurvey<'t> {
    said: u32,
    found: u32,
    bare: u32,
    numbered: u32,
    rising: u32,
    falling: u32,
    diagnostics: u32,
    /// Number of texts that begin like a message after its place.
    worded: u32,
    last: HashMap<&'t str, (u64, bool)>,
    paths: HashMap<&'t str, u32>,
}

impl<'t> SearchSurvey<'t> {
    fn take(&mut self, found: SearchLine<'t>, text: &'t str) {
        if text.trim().is_empty() || text == "--" {
            return;
        }
        self.said += 1;
        let Some(role) = found.role else { return };
        if role == SearchRole::Path || role == SearchRole::Other {
            self.found += 1;
            // A heading starts another file, so line numbers may start again.
            self.last.remove("");
            return;
        }
        self.found += 1;
        *self.paths.entry(found.path).or_default() += 1;
        let Some(number) = found.number else {
            self.bare += 1;
            return;
        };
        self.numbered += 1;
        self.worded += u32::from(is_worded(found.text));
        let text = found.text.trim_start();
        self.diagnostics += u32::from(["error", "warning", "note", "fatal error"].iter().any(|word| {
            text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
                && text.get(word.len()..).is_some_and(|rest| rest.starts_with([':', ' ', '[']))
        }));
        // The results in a file have rising line numbers. One line may occur again with another column.
        match self.last.insert(found.path, (number, found.column)) {
            Some((before, _)) if number > before => self.rising += 1,
            Some((before, true)) if number == before => self.rising += 1,
            Some(_) => self.falling += 1,
            None => {}
        }
    }

    fn vote(&self, heading: bool) -> u32 {
        let share = self.found * 100 / self.said.max(1);
        if self.found < 3 || share < 60 || self.diagnostics * 5 > self.numbered {
            return 0;
        }
        // A compiler or linter writes its message one space after the place. Source code is indented differently.
        if self.numbered > 0 && self.worded * 100 >= self.numbered * 90 {
            return 0;
        }
        if self.falling * 10 > self.rising.max(1) {
            return 0;
        }
        // Without line numbers, only paths that occur repeatedly distinguish search results from a log.
        if self.bare * 2 > self.found {
            let again = self.paths.values().filter(|count| **count > 1).count();
            let plausible = self.paths.keys().filter(|path| path.contains('/')).count();
            let enough = plausible * 10 >= self.paths.len() * 9 && again * 3 >= self.paths.len();
            return if enough && share >= 90 { 72 } else { 0 };
        }
        match share {
            95.. => 94,
            85.. => 84,
            _ if heading => 62,
            _ => 50,
        }
    }
}

/// Returns whether a text has the form `src/a.rs:12` and contains nothing more.
fn is_count(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(path, count)| {
        path.contains(['/', '.'])
            && !path.contains([' ', ':', '"'])
            && !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns whether a text has the form ` message`: one space, then a word.
fn is_worded(text: &str) -> bool {
    text.strip_prefix(' ')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || "[*\'\"`".contains(c)))
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let heading = search_line::has_headings(&lines.iter().take(200).collect::<Vec<_>>());
    let rows: Vec<SearchRow> = lines.iter().map(|text| SearchRow::of(lines, parse(text, heading))).collect();
    let mut spans: Vec<LineSpan> = Vec::with_capacity(rows.len());
    let matches = rows.iter().filter(|row| row.is_match()).count();
    let mut judge = SearchRanker {
        lines,
        said: HashMap::new(),
        ranks: vec![(Rank::Context, 0); rows.len()],
        fold: matches > 2 * MAX_WHOLE,
    };
    for_each_file(&rows, |file| judge.file(&rows, file));
    for (at, (row, (rank, score))) in rows.iter().zip(judge.ranks).enumerate() {
        let label = match row.role {
            Some(SearchRole::Match) => Some(Label::Matches),
            _ => None,
        };
        let (rank, score) = match row.role {
            Some(SearchRole::Path) => (Rank::Must, u16::MAX),
            Some(SearchRole::Other) => (Rank::Frame, u16::MAX),
            None if lines.get(at).trim().is_empty() || lines.get(at) == "--" => (rank, score),
            None => (Rank::Context, 1),
            _ => (rank, score),
        };
        push_line(&mut spans, lines, LineSpan::new(lines.span(at), rank).scored(score).labelled(label));
    }
    short_gaps::close_short(&mut spans);
    spans
}

/// Adds the span of a line. Only the head of a long line keeps its rank.
fn push_line(spans: &mut Vec<LineSpan>, lines: &TextLines<'_>, span: LineSpan) {
    let range = span.range();
    if range.len() <= 2 * MAX_LINE_BYTES || span.rank == Rank::Filler {
        spans.push(span);
        return;
    }
    let text = lines.text().part(range.clone());
    let cut = range.start + fingerprint::truncate(text, MAX_LINE_BYTES).len();
    spans.push(span.with_range(range.start..cut));
    spans.push(LineSpan::new(cut..range.end, Rank::Filler));
}

/// The stored properties of a line. A row is small, because there are as many rows as lines.
struct SearchRow {
    role: Option<SearchRole>,
    /// Hash of the path that the line names, or 0 for none.
    path: u64,
    text: TextPart,
}

impl SearchRow {
    fn of(lines: &TextLines<'_>, found: SearchLine<'_>) -> Self {
        let path = if found.path.is_empty() { 0 } else { fingerprint::exact_hash(found.path).max(1) };
        Self { role: found.role, path, text: lines.place(found.text) }
    }

    fn is_match(&self) -> bool {
        self.role == Some(SearchRole::Match)
    }
}

/// Calls `see` with the rows of each file, in the order of the text. Rows of one path must be consecutive.
fn for_each_file(rows: &[SearchRow], mut see: impl FnMut(Range<usize>)) {
    let mut start = 0;
    let mut path: Option<u64> = None;
    for (at, row) in rows.iter().enumerate() {
        let other = match row.role {
            Some(SearchRole::Path) => true,
            Some(SearchRole::Match | SearchRole::Near) => {
                row.path != 0 && path.is_some_and(|path| path != row.path)
            }
            _ => false,
        };
        if other {
            see(start..at);
            start = at;
        }
        if matches!(row.role, Some(SearchRole::Path | SearchRole::Match | SearchRole::Near)) && row.path != 0
        {
            path = Some(row.path);
        }
    }
    see(start..rows.len());
}

struct SearchRanker<'l, 't> {
    lines: &'l TextLines<'t>,
    /// Number of times that each matching text was seen.
    said: HashMap<u64, u32>,
    ranks: Vec<(Rank, u16)>,
    /// Whether there are enough matches to fold.
    fold: bool,
}

impl SearchRanker<'_, '_> {
    fn file(&mut self, rows: &[SearchRow], file: Range<usize>) {
        let matches: Vec<(usize, &SearchRow)> =
            file.clone().zip(rows.part(file.clone())).filter(|(_, row)| row.is_match()).collect();
        let last = matches.len().saturating_sub(1);
        let mut novel = HashSet::new();
        // Matches with new content stay, up to a share that falls as the number of matches grows.
        let mut spare = 2 + matches.len() / 10;
        for (nth, (at, row)) in matches.iter().enumerate() {
            let text = self.lines.part(row.text);
            let said = self.said.entry(fingerprint::exact_hash(text)).or_default();
            *said += 1;
            let repeated = *said > MAX_REPEATS && self.fold;
            let new = novel.insert(fingerprint::masked_hash(text));
            let score = u16::MAX - u16::try_from(nth + 1).unwrap_or(u16::MAX);
            let rank = if nth == 0 {
                Rank::Must
            } else if nth == last {
                Rank::Frame
            } else if repeated {
                Rank::Filler
            } else if !self.fold || matches.len() <= MAX_WHOLE || nth < FIRST_MATCHES {
                Rank::Context
            } else if new && spare > 0 {
                spare -= 1;
                Rank::Context
            } else {
                Rank::Filler
            };
            self.ranks.item_mut(*at).into_iter().for_each(|slot| *slot = (rank, score));
        }
        self.surroundings(rows, file);
    }

    /// Ranks the lines around a match. The lines around a match stay or are left out together with it, but are worth
    /// less than any match.
    fn surroundings(&mut self, rows: &[SearchRow], file: Range<usize>) {
        // A line belongs to the matches of its block. A block ends at a line without a result, such as `--`.
        let mut start = file.start;
        for block in rows.part(file).split_inclusive(|row| row.role.is_none()) {
            let ranks = self.ranks.part_mut(start..start + block.len());
            start += block.len();
            let any = block.iter().any(SearchRow::is_match);
            let stays = |(row, (rank, _)): (&SearchRow, &(Rank, u16))| row.is_match() && *rank > Rank::Filler;
            let kept = block.iter().zip(&*ranks).any(stays);
            let rank = if any && !kept { Rank::Filler } else { Rank::Context };
            for (_, slot) in block.iter().zip(ranks).filter(|(row, _)| !row.is_match()) {
                *slot = (rank, u16::from(kept) * 2);
            }
        }
    }
}

#[cfg(test)]
mod tests;
