//! Text without words: base64, hexadecimal, minified code, or dumps of bytes.

use crate::part::{PartOfList, PartOfText};
use std::borrow::Cow;
use std::ops::Range;

use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use crate::readers::line::fingerprint;

/// Minimum length, in bytes, of a run without a space that cannot be a word.
const MIN_RUN_BYTES: usize = 300;
/// Number of bytes that stay at the start of a run.
const HEAD_BYTES: usize = 64;
/// Number of bytes that stay at the end of a run.
const TAIL_BYTES: usize = 24;
/// Maximum number of parts into which the rest of a run is cut.
const MAX_PARTS: usize = 64;
/// Minimum length of a line of minified code, in bytes. Nobody writes a line of this length by hand.
const MIN_MINIFIED_BYTES: usize = 1_000;
/// Number of wrapped lines that stay at the start of a blob. One more line stays at the end.
const WRAPPED_LINES: usize = 4;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let said = sample.count(|line| !line.trim().is_empty());
    if said == 0 {
        return 0;
    }
    let dumped = sample.share(is_dump);
    let wrapped = sample.share(is_wrapped);
    let digits = sample.share(|line| line.bytes().any(|byte| byte.is_ascii_digit()));
    if said >= 4 && (dumped >= 90 || (wrapped >= 90 && digits >= 10)) {
        return 92;
    }
    let head = fingerprint::truncate(sample.text, 16 * 1024);
    let long: usize = find_runs(head).iter().map(ExactSizeIterator::len).sum();
    if long * 10 >= head.len() * 8 {
        return 85;
    }
    let dense = head.split('\n').filter(|line| is_minified(line)).map(str::len).sum::<usize>();
    if dense * 10 >= head.len() * 9 { 58 } else { 0 }
}

/// Returns whether a line is code without line breaks: long, with few spaces and many signs.
fn is_minified(line: &str) -> bool {
    // Data in brackets has a separate reader, which knows which parts of it to keep.
    if line.len() < MIN_MINIFIED_BYTES || line.trim_start().starts_with(['{', '[']) {
        return false;
    }
    let head = fingerprint::truncate(line, 4_096);
    let spaces = head.bytes().filter(u8::is_ascii_whitespace).count();
    let signs = head
        .bytes()
        .filter(|byte| matches!(byte, b'(' | b')' | b'{' | b'}' | b';' | b',' | b'=' | b':'))
        .count();
    spaces * 16 < head.len() && signs * 12 > head.len()
}

/// Returns whether a line is from `xxd` or `hexdump -C`: an address and bytes.
fn is_dump(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let address = words.next().unwrap_or("").trim_end_matches(':');
    let hex =
        |word: &&str| matches!(word.len(), 2 | 4 | 8) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    address.len() >= 7
        && address.bytes().all(|byte| byte.is_ascii_hexdigit())
        && words.take_while(|word| hex(word)).count() >= 4
}

/// Returns whether a line is base64 or hexadecimal that a program wrapped, or a fence around such lines.
fn is_wrapped(line: &str) -> bool {
    let line = line.trim();
    let fenced = line.starts_with("-----BEGIN ") || line.starts_with("-----END ");
    fenced || (line.len() >= 56 && line.bytes().all(is_coded))
}

fn is_coded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut spans = Vec::with_capacity(lines.len());
    let mut nth = 0;
    for (at, line) in lines.iter().enumerate() {
        let range = lines.span(at);
        if !(is_wrapped(line) && line.len() < MIN_RUN_BYTES || is_dump(line)) || line.starts_with("-----") {
            nth = 0;
            let minified = is_minified(line) && find_runs(line).is_empty();
            if minified {
                cut_run(lines.text(), range, "minified", Rank::Frame, &mut spans);
            } else {
                spans.push(LineSpan::new(range, Rank::Frame));
            }
            continue;
        }
        nth += 1;
        let next = lines.get(at + 1);
        let ends = !(is_wrapped(next) || is_dump(next)) || next.starts_with("-----") || at + 1 == lines.len();
        let rank = if nth <= WRAPPED_LINES || ends { Rank::Frame } else { Rank::Filler };
        let told = (nth == WRAPPED_LINES + 1)
            .then(|| if is_dump(line) { "bytes".into() } else { describe_run(line).into() });
        spans.push(LineSpan::new(range, rank).described(told));
    }
    cut_runs(lines.text(), spans)
}

/// Cuts the long runs out of the spans of any text. The head and the tail of each run stay, and a mark describes the
/// run.
///
/// Spans that are filler stay whole.
pub(crate) fn cut_runs(text: &str, spans: Vec<LineSpan>) -> Vec<LineSpan> {
    if !spans.iter().any(|span| span.range().len() > MIN_RUN_BYTES) {
        return spans;
    }
    let mut cut_units = Vec::with_capacity(spans.len());
    for span in spans {
        let found = if span.range().len() > MIN_RUN_BYTES && span.rank > Rank::Filler {
            find_runs(text.part(span.range()))
        } else {
            Vec::new()
        };
        if found.is_empty() {
            cut_units.push(span);
            continue;
        }
        let Range { mut start, end } = span.range();
        let first = start;
        let mut note = span.note().map(Box::from);
        for run in found {
            let (from, to) = (first + run.start, first + run.end);
            if from > start {
                cut_units.push(span.clone().without_notes().with_range(start..from));
            }
            cut_run(text, from..to, "", span.rank, &mut cut_units);
            start = to;
        }
        if start < end {
            cut_units.push(span.with_range(start..end));
        } else if let Some(last) = cut_units.last_mut() {
            last.set_note(note.take());
        }
    }
    cut_units
}

/// Adds the head, the middle and the tail of a run as spans.
fn cut_run(text: &str, range: Range<usize>, what: &str, rank: Rank, spans: &mut Vec<LineSpan>) {
    let run = text.part(range.clone());
    let head = fingerprint::truncate(run, HEAD_BYTES).len();
    let mut tail = run.len().saturating_sub(TAIL_BYTES).max(head);
    while !run.is_char_boundary(tail) {
        tail += 1;
    }
    let what = if what.is_empty() { describe_run(run) } else { what };
    let told = Some(format!("{what}, {}", fingerprint::describe_size(run.len())).into());
    let mut push = |from: usize, to: usize, rank: Rank, told: Option<Cow<'static, str>>| {
        if from < to {
            spans.push(LineSpan::new(range.start + from..range.start + to, rank).described(told));
        }
    };
    push(0, head, rank, None);
    // The middle is cut into parts, so that a budget can be filled with some of them.
    let middle = run.part(head..tail);
    let mut start = 0;
    for end in fingerprint::split_points(middle, (middle.len() / MAX_PARTS).max(MIN_RUN_BYTES)) {
        let told = if start == 0 { told.clone() } else { None };
        push(head + start, head + end, Rank::Filler, told);
        start = end;
    }
    push(tail, run.len(), rank, None);
}

/// Returns a description of a run without spaces.
fn describe_run(run: &str) -> &'static str {
    let coded = |such: fn(&u8) -> bool| run.bytes().all(|byte| such(&byte));
    if coded(u8::is_ascii_hexdigit) {
        "hexadecimal"
    } else if coded(|byte| is_coded(*byte)) || run.starts_with("data:") {
        "base64"
    } else if run.starts_with("http") {
        "an address"
    } else {
        "one word"
    }
}

/// Returns the runs of at least 300 bytes without a space or a quote. A run is ASCII, because scripts without spaces
/// have sentences as long as a run.
pub(crate) fn find_runs(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let ends = |byte: &u8| {
        *byte <= b' ' || *byte >= 0x7f || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    };
    let mut found = Vec::new();
    let mut start = 0;
    // Each window is searched from its end. In a text with words, a space is near the end of the window, and the
    // bytes before the space are skipped.
    while let Some(window) = bytes.get(start..start + MIN_RUN_BYTES) {
        if let Some(at) = window.iter().rposition(ends) {
            start += at + 1;
            continue;
        }
        let more = bytes.part(start + MIN_RUN_BYTES..);
        let end = start + MIN_RUN_BYTES + more.iter().position(ends).unwrap_or(more.len());
        let run = bytes.part(start..end);
        let signs = run
            .iter()
            .filter(|byte| matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b',' | b';'))
            .count();
        // Minified code and data contain signs that people may search for, so they are not blobs.
        if signs * 20 < run.len() {
            found.push(start..end);
        }
        start = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::property;

    fn base64(bytes: usize) -> String {
        (0..bytes).map(|n| char::from(b"ABCxyz0189+/Qr"[(n * n + n / 7) % 14])).collect()
    }

    #[test]
    fn blobs_of_each_form_are_recognised_and_cut() {
        let wrapped: String = (0..40).map(|_| base64(64) + "\n").collect();
        let fenced = format!("-----BEGIN CERTIFICATE-----\n{wrapped}-----END CERTIFICATE-----\n");
        let dump: String =
            (0..90).map(|n| format!("{:08x}: 7f45 4c46 0201 0100 0000  .ELF....\n", n * 16)).collect();
        let minified = "!function(a,b){a.c=b.d(e),f=g(h);return i}(j,k);".repeat(60);
        for text in [wrapped.as_str(), &fenced, &dump, &base64(9_000), &minified] {
            assert!(vote(&LineSample::of(text)) >= 58, "{text}");
            let folded = property::fold(text, spans);
            assert!(folded.len() * 2 < text.len() && folded.starts_with(&text[..20]), "{folded}");
        }
        assert!(property::fold(&base64(9_000), spans).contains("base64, 9 KB"));
        assert!(property::fold(&fenced, spans).ends_with("-----END CERTIFICATE-----\n"));
    }

    #[test]
    fn texts_with_words_are_not_detected_as_blobs() {
        let prose = "Words and more words, in a line. ".repeat(90);
        for text in [prose.as_str(), "abc\n", "", "一二三四五".repeat(200).as_str()] {
            assert_eq!(vote(&LineSample::of(text)), 0, "{text}");
        }
    }

    #[test]
    fn a_blob_within_a_line_is_cut_out() {
        let text = format!("icon: data:image/png;base64,{} and more\nnext\n", base64(2_000));
        let folded = property::fold(&text, super::super::prose::spans);
        assert!(
            folded.starts_with("icon: data:image/png") && folded.ends_with(" and more\nnext\n"),
            "{folded}"
        );
        assert!(folded.len() < 300, "{folded}");
    }

    #[test]
    fn any_text_is_tiled() {
        let wrapped: String = (0..9).map(|_| base64(64) + "\n").collect();
        property::tiles(&[&wrapped, &base64(500), &format!("a {}\u{e9} b\n", base64(400))], spans);
    }
}
