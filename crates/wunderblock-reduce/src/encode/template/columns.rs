//! Finds lines that differ only in their values, and what differs in each of their words.

use crate::part::{PartOfList, PartOfText};
use std::collections::HashMap;
use std::ops::Range;

use crate::encode::token_estimate::estimate_tokens;
use crate::result::mark::OPEN;
use crate::text::lines::NewlineSplit;
use crate::text::template::{self, LineTemplates};

/// Maximum words of a line. Lines with more words have no template.
const MAX_WORDS: usize = 120;
/// Minimum number of lines in a template.
const MIN_LINES: u32 = 3;
/// Minimum number of tokens saved by each row of a template without values. Below this minimum, the lines are easier
/// to read unchanged.
const MIN_BARE_GAIN: usize = 5;
/// Number of a line without a template.
const NONE: u32 = u32::MAX;

/// A word of a line: the start of the separator before it, and its own span.
pub(super) struct LineWord {
    sep: usize,
    span: Range<usize>,
}

impl LineWord {
    fn before<'t>(&self, line: &'t str) -> &'t str {
        line.part(self.sep..self.span.start)
    }

    fn of<'t>(&self, line: &'t str) -> &'t str {
        line.part(self.span.clone())
    }
}

/// The bytes that separate words, one bit per byte value.
const SEPARATORS: u128 = {
    let mut bits = 0;
    let mut bytes = b" \t\r,;=|&?\"'<>()[]{}".as_slice();
    while let [byte, rest @ ..] = bytes {
        bits |= 1u128 << *byte;
        bytes = rest;
    }
    bits
};

/// Returns whether a byte separates words.
fn separates(byte: u8) -> bool {
    byte.is_ascii() && SEPARATORS >> byte & 1 == 1
}

pub(super) fn split_words(line: &str, words: &mut Vec<LineWord>) {
    words.clear();
    let bytes = line.as_bytes();
    let mut sep = 0;
    while let Some(start) =
        bytes.iter().skip(sep).position(|byte| !separates(*byte)).map(|length| sep + length)
    {
        let length = bytes.iter().skip(start).position(|byte| separates(*byte));
        let end = length.map_or(bytes.len(), |length| start + length);
        words.push(LineWord { sep, span: start..end });
        sep = end;
    }
}

/// Returns the text after the last word.
fn text_after<'t>(line: &'t str, words: &[LineWord]) -> &'t str {
    line.part(words.last().map_or(0, |word| word.span.end)..)
}

/// The words at one position in all lines of a template.
#[derive(Clone, Debug)]
struct TemplateColumn<'t> {
    sep: &'t str,
    first: &'t str,
    differs: bool,
    /// Whether the number of spaces before the word differs.
    loose: bool,
    /// Number of bytes that all words share at their start. `suffix` is the number of bytes that the words share at
    /// their end.
    prefix: usize,
    suffix: usize,
    shortest: usize,
}

impl<'t> TemplateColumn<'t> {
    fn new(line: &'t str, word: &LineWord) -> Self {
        let first = word.of(line);
        let length = first.len();
        let sep = word.before(line);
        Self { sep, first, differs: false, loose: false, prefix: length, suffix: length, shortest: length }
    }

    fn learn(&mut self, sep: &str, word: &str) {
        // Separators at the same position in a template differ only in their number of spaces.
        self.loose |= sep.len() != self.sep.len();
        if word == self.first {
            return;
        }
        self.differs = true;
        self.shortest = self.shortest.min(word.len());
        let (first, word) = (self.first.as_bytes(), word.as_bytes());
        self.prefix = first.iter().zip(word).take(self.prefix).take_while(|(a, b)| a == b).count();
        let ends = first.iter().rev().zip(word.iter().rev());
        self.suffix = ends.take(self.suffix).take_while(|(a, b)| a == b).count();
    }

    /// Decides which part of the words belongs to the template. No number or character is cut in two.
    fn settle(&mut self) {
        (self.prefix, self.suffix) = trim_common(self.first, self.prefix, self.suffix);
        // In the shortest word, the common start and end would overlap, so only one of them is used.
        if self.prefix + self.suffix >= self.shortest {
            (self.prefix, self.suffix) = (if self.prefix < self.shortest { self.prefix } else { 0 }, 0);
        }
    }

    /// Returns the value in the word of a line.
    fn value<'l>(&self, line: &'l str, word: &LineWord) -> Option<&'l str> {
        if self.loose {
            return line.get(word.sep + 1..word.span.end);
        }
        line.get(word.span.start + self.prefix..word.span.end.checked_sub(self.suffix)?)
    }
}

/// Returns the lengths of the common start and end of values, shortened so that no number or character is cut in two.
fn trim_common(first: &str, prefix: usize, suffix: usize) -> (usize, usize) {
    let common = first.part(..first.floor_char_boundary(prefix));
    // A name in a path stays whole, so a path is cut only after a slash.
    if first.contains('/') {
        return (common.rfind('/').map_or(0, |slash| slash + 1), 0);
    }
    let head = common.trim_end_matches(|c: char| c.is_ascii_digit());
    // Letters before digits may belong to the same hexadecimal number.
    let head =
        if head.len() < common.len() { head.trim_end_matches(|c: char| c.is_ascii_hexdigit()) } else { head };
    let tail = first.part(first.ceil_char_boundary(first.len() - suffix)..);
    let end = tail.trim_start_matches(|c: char| c.is_ascii_digit());
    let end =
        if end.len() < tail.len() { end.trim_start_matches(|c: char| c.is_ascii_hexdigit()) } else { end };
    // A word is not cut either: A word is hard to read if it is cut, for example `foun` of `found`.
    let cuts_word = |at: usize| {
        first.part(..at).ends_with(char::is_alphabetic) && first.part(at..).starts_with(char::is_alphabetic)
    };
    let head = if cuts_word(head.len()) { head.trim_end_matches(char::is_alphabetic) } else { head };
    let end =
        if cuts_word(first.len() - end.len()) { end.trim_start_matches(char::is_alphabetic) } else { end };
    (head.len(), end.len())
}

/// A template, with a column for each word of its lines.
#[derive(Debug)]
pub(super) struct ColumnTemplate<'t> {
    columns: Vec<TemplateColumn<'t>>,
    /// The text after the last word.
    tail: &'t str,
    example: &'t str,
    lines: u32,
}

impl<'t> ColumnTemplate<'t> {
    fn new(line: &'t str, words: &[LineWord]) -> Self {
        let columns = words.iter().map(|word| TemplateColumn::new(line, word)).collect();
        Self { columns, tail: text_after(line, words), example: line, lines: 0 }
    }

    fn learn(&mut self, line: &str, words: &[LineWord]) {
        self.lines += 1;
        for (column, word) in self.columns.iter_mut().zip(words) {
            column.learn(word.before(line), word.of(line));
        }
    }

    /// Returns the template as it is written.
    pub(super) fn header(&self) -> String {
        let mut out = String::new();
        let said = |text: &str, out: &mut String| out.push_str(&text.replace('{', "{{"));
        for column in &self.columns {
            said(if column.loose { " " } else { column.sep }, &mut out);
            let end = column.first.len() - column.suffix;
            match (column.loose, column.differs) {
                (true, _) => out.push_str("{ }"),
                (false, false) => said(column.first, &mut out),
                (false, true) => {
                    said(column.first.part(..column.prefix), &mut out);
                    out.push_str("{}");
                    said(column.first.part(end..), &mut out);
                }
            }
        }
        said(self.tail, &mut out);
        out
    }

    /// Returns the values of a line.
    pub(super) fn values<'l>(&self, line: &'l str, words: &[LineWord]) -> Vec<&'l str> {
        let fields = self.columns.iter().zip(words).filter(|(column, _)| column.differs || column.loose);
        fields.filter_map(|(column, word)| column.value(line, word)).collect()
    }

    /// Returns the number of tokens that the template saves, or `None` if it saves none.
    fn gain(&self, words: &mut Vec<LineWord>) -> Option<usize> {
        split_words(self.example, words);
        let row = self.values(self.example, words).join(" ");
        let (once, each) = (estimate_tokens(self.example), estimate_tokens(&row));
        let min_gain = if each == 0 { MIN_BARE_GAIN } else { 1 };
        let saved = once.checked_sub(each + 1).filter(|saved| *saved >= min_gain)?;
        (saved * (self.lines as usize - 1)).checked_sub(once + 4).filter(|gain| *gain > 0)
    }
}

/// The templates that save tokens, and the template of each line.
pub(super) struct LineColumns<'t> {
    pub(super) templates: Vec<ColumnTemplate<'t>>,
    of: Vec<u32>,
}

impl<'t> LineColumns<'t> {
    /// Returns the best templates of a text, at most `limit`, in the order of their first lines. Returns `None` if
    /// the templates beyond the limit would save more: a text with a few templates among unchanged lines is hard to
    /// read and hardly shorter.
    pub(super) fn of(lines: &NewlineSplit<'t>, limit: usize) -> Option<Self> {
        let mut words = Vec::new();
        let (mut of, counts) = group_lines(lines, &mut words);
        let mut shapes: Vec<(u32, u32)> = counts.into_iter().map(|count| (count, NONE)).collect();
        let mut all: Vec<ColumnTemplate<'t>> = Vec::new();
        for (line, shape) in lines.iter().zip(&mut of) {
            // The number of a line without a shape is `NONE`, which is outside the list.
            let known = shapes.get_mut(*shape as usize).filter(|(count, _)| *count >= MIN_LINES);
            let Some((_, number)) = known else {
                *shape = NONE;
                continue;
            };
            split_words(line, &mut words);
            if *number == NONE {
                *number = all.len() as u32;
                all.push(ColumnTemplate::new(line, &words));
            }
            *shape = *number;
            if let Some(template) = all.item_mut(*number as usize) {
                template.learn(line, &words);
            }
        }
        all.iter_mut().flat_map(|template| &mut template.columns).for_each(TemplateColumn::settle);
        let gains = all.iter().enumerate();
        let mut gains: Vec<(usize, usize)> =
            gains.filter_map(|(at, template)| Some((template.gain(&mut words)?, at))).collect();
        gains.sort_unstable_by_key(|(gain, at)| (std::cmp::Reverse(*gain), *at));
        let beyond = gains.split_off(gains.len().min(limit));
        let saved = |gains: &[(usize, usize)]| gains.iter().map(|(gain, _)| gain).sum::<usize>();
        if saved(&beyond) > saved(&gains) {
            return None;
        }
        let mut became = vec![NONE; all.len()];
        gains.iter().for_each(|(_, at)| became.item_mut(*at).into_iter().for_each(|now| *now = 0));
        let kept = became.iter_mut().filter(|now| **now != NONE);
        (0..).zip(kept).for_each(|(number, now)| *now = number);
        of.iter_mut().for_each(|shape| *shape = became.get(*shape as usize).copied().unwrap_or(NONE));
        let mut stays = became.iter().map(|now| *now != NONE);
        all.retain(|_| stays.next().unwrap_or(false));
        Some(Self { templates: all, of })
    }

    /// Returns the template of a line, if it has one.
    pub(super) fn of_line(&self, line: usize) -> Option<usize> {
        self.of.item(line).filter(|of| **of != NONE).map(|of| *of as usize)
    }

    /// Returns the range from the first line with a template to the last.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        let first = self.of.iter().position(|of| *of != NONE)?;
        Some(first..self.of.iter().rposition(|of| *of != NONE)? + 1)
    }
}

/// Returns the shape of each line, and the number of lines of each shape. Lines of one template have the same shape
/// if they have the same separators, whatever the number of spaces.
fn group_lines(lines: &NewlineSplit<'_>, words: &mut Vec<LineWord>) -> (Vec<u32>, Vec<u32>) {
    let mut templates = LineTemplates::default();
    let learnt: Vec<u32> = lines.iter().enumerate().map(|(at, line)| templates.learn(at, line, 0)).collect();
    let mut shapes: HashMap<u64, u32> = HashMap::new();
    let mut counts = Vec::new();
    let of = lines.iter().zip(learnt).map(|(line, template)| {
        split_words(line, words);
        if words.is_empty()
            || words.len() > MAX_WORDS
            || memchr::memmem::find(line.as_bytes(), OPEN.as_bytes()).is_some()
        {
            return NONE;
        }
        let start = template::hash(text_after(line, words).as_bytes())
            ^ u64::from(templates.settled(template, MIN_LINES));
        let key = words.iter().map(|word| word.before(line)).fold(start, |key, sep| {
            let spaces = !sep.is_empty() && sep.bytes().all(|byte| byte == b' ');
            template::mix_hash(key, template::hash(if spaces { b" " } else { sep.as_bytes() }))
        });
        let shape = *shapes.entry(key).or_insert_with(|| {
            counts.push(0);
            counts.len() as u32 - 1
        });
        counts.item_mut(shape as usize).into_iter().for_each(|count| *count += 1);
        shape
    });
    (of.collect(), counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_values_have_in_common_does_not_cut_numbers() {
        for (first, prefix, suffix, expected) in [
            ("blk_-160", 6, 0, (5, 0)),
            ("10.250.19.1", 8, 0, (7, 0)),
            ("0x14e1de63a", 6, 0, (2, 0)),
            ("12ms", 0, 3, (0, 2)),
            ("found", 1, 1, (0, 0)),
        ] {
            assert_eq!(trim_common(first, prefix, suffix), expected, "{first}");
        }
    }
}
