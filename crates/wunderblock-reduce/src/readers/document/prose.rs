//! Sentences, and texts of no other kind.

mod rarity;
mod sentence;

use crate::part::PartOfText;
use std::collections::HashMap;
use std::ops::Range;

use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;

use super::blob;
use crate::readers::line::fingerprint;
use rarity::WordRarity;

/// Minimum size, in bytes, of a repeated paragraph that is left out. Shorter paragraphs may repeat for a reason (for
/// example, a closing bracket or a key).
const MIN_REPEAT_BYTES: usize = 80;
/// Minimum length of a run of equal lines.
const MIN_RUN: usize = 4;
/// Maximum length of a line that is not cut into sentences, in bytes.
const MAX_LINE_BYTES: usize = 200;
/// Maximum length of a sentence, in bytes. A longer sentence is cut into parts.
const MAX_SENTENCE_BYTES: usize = 1_000;
/// Minimum length of a line that a writer wrapped, in bytes.
const MIN_WRAPPED_BYTES: usize = 50;
/// Maximum number of bytes of wrapped lines that are joined into one span.
const MAX_JOINED_BYTES: usize = 400;

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut spans = Vec::with_capacity(lines.len());
    for paragraph in split_paragraphs(lines) {
        push_sentences(lines, paragraph, &mut spans);
    }
    add_rarity(lines.text(), &mut spans);
    fold_repeats(lines, &mut spans);
    blob::cut_runs(lines.text(), spans)
}

/// Returns the paragraphs between empty lines, each with the empty lines after it.
pub(super) fn split_paragraphs(lines: &TextLines<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, line) in lines.iter().enumerate() {
        let empty = line.trim().is_empty();
        if !empty && ended {
            found.push(start..at);
            start = at;
        }
        ended = empty;
    }
    if start < lines.len() {
        found.push(start..lines.len());
    }
    found
}

/// Adds the sentences of a paragraph as spans. Short lines that a writer wrapped are joined, and long lines are cut.
/// The first sentence scores highest, because it says what the paragraph is about.
pub(super) fn push_sentences(lines: &TextLines<'_>, paragraph: Range<usize>, spans: &mut Vec<LineSpan>) {
    let score = |first: bool| if first { 3_000 } else { 1_000 };
    let mut at = paragraph.start;
    while at < paragraph.end {
        let mut end = at + 1;
        while end < paragraph.end
            && is_wrapped(lines.get(end - 1), lines.get(end))
            && lines.spans(at..end).len() < MAX_JOINED_BYTES
        {
            end += 1;
        }
        let first = at == paragraph.start;
        let range = lines.spans(at..end);
        let text = lines.text().part(range.clone());
        let long = end == at + 1 && text.len() > MAX_LINE_BYTES;
        at = end;
        if !long {
            spans.push(LineSpan::new(range, Rank::Context).scored(score(first)));
            continue;
        }
        let (mut start, mut first) = (0, first);
        for end in sentence::sentence_ends(text) {
            let sentence = text.part(start..end);
            // A blob is cut later, as a whole.
            let is_blob = !blob::find_runs(sentence).is_empty();
            for cut in
                fingerprint::split_points(sentence, if is_blob { sentence.len() } else { MAX_SENTENCE_BYTES })
            {
                let part = range.start + start..range.start + end.min(start + cut);
                let from = spans.last().map_or(0, |span: &LineSpan| span.range().end).max(part.start);
                if from < part.end {
                    spans.push(LineSpan::new(from..part.end, Rank::Context).scored(score(first)));
                }
                first = false;
            }
            start = end;
        }
    }
}

/// Returns whether a sentence continues on the next line, as far as the ends of both lines show.
fn is_wrapped(line: &str, next: &str) -> bool {
    let ends_open = line
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || matches!(c, ',' | ')' | '`' | '_' | '*'));
    let begins = next
        .trim_start()
        .chars()
        .next()
        .is_some_and(|c| c.is_alphanumeric() || matches!(c, '(' | '`' | '_' | '*' | '[' | '"'));
    let indent = |line: &str| line.len() - line.trim_start().len();
    (MIN_WRAPPED_BYTES..=MAX_LINE_BYTES).contains(&line.len())
        && ends_open
        && begins
        && indent(line) == indent(next)
        && line != next
}

/// Adds to the score of each span the worth of its rare words, numbers, and names.
pub(super) fn add_rarity(text: &str, spans: &mut [LineSpan]) {
    let mut rarity = WordRarity::default();
    for span in spans.iter() {
        rarity.count(text.part(span.range()));
    }
    let all = spans.len();
    for (at, span) in spans.iter_mut().enumerate() {
        let worth = rarity.worth(text.part(span.range()));
        // The start and the end of a text are more informative than its middle.
        let place = if at * 20 < all {
            600
        } else if at * 20 >= all * 19 {
            300
        } else {
            0
        };
        span.score = span.score.saturating_add(worth).saturating_add(place);
    }
}

/// Ranks as filler any paragraph that has already occurred, and any of several equal lines in a row except the first
/// and the last.
pub(super) fn fold_repeats(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut gone: Vec<Range<usize>> = Vec::new();
    for paragraph in split_paragraphs(lines) {
        let range = lines.spans(paragraph);
        let text = lines.text().part(range.clone());
        if text.len() < MIN_REPEAT_BYTES {
            continue;
        }
        // Including the length makes it less likely that different texts with equal hashes are mistaken for each
        // other.
        let key = fingerprint::exact_hash(text) ^ text.trim().len() as u64;
        match seen.get(&key) {
            Some(_) => gone.push(range),
            None => {
                seen.insert(key, range.start);
            }
        }
    }
    let mut start = 0;
    for at in 1..=lines.len() {
        if at < lines.len() && lines.get(at) == lines.get(start) {
            continue;
        }
        if at - start >= MIN_RUN {
            gone.push(lines.spans(start + 1..at - 1));
        }
        start = at;
    }
    gone.sort_by_key(|range| range.start);
    let mut gone = gone.into_iter().peekable();
    for span in spans {
        while gone.peek().is_some_and(|range| range.end <= span.range().start) {
            gone.next();
        }
        let inside = gone
            .peek()
            .is_some_and(|range| range.start <= span.range().start && span.range().end <= range.end);
        if inside && span.rank <= Rank::Frame {
            (span.rank, span.score) = (Rank::Filler, 0);
            span.label = Some(Label::SaidBefore);
        }
    }
}

#[cfg(test)]
mod tests;
