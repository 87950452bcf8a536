//! JUnit reports in XML, on many lines or on one. The cases of a report are elements, not lines.

use crate::part::{PartOfList, PartOfText};
use std::ops::Range;

use memchr::memmem;

use super::message::{is_message, is_place};
use crate::readers::line::stack_frame::{self, FrameOwner};
use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};

/// Number of bytes at the start of a text in which a report is recognised.
const HEAD_BYTES: usize = 4_096;
/// Maximum number of bytes of a tag that stay. Messages are in attributes, and may be as long as a trace.
const MAX_TAG_BYTES: usize = 1_200;
/// Maximum number of lines of a failure's text that count as its message.
const MAX_MESSAGE_LINES: usize = 16;
/// Maximum number of skipped cases that are named.
const MAX_SKIPPED: usize = 12;

/// Returns whether a text is a JUnit report.
pub(super) fn is_report(text: &str) -> bool {
    let head = text.as_bytes().get(..HEAD_BYTES).unwrap_or(text.as_bytes());
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    (begins.starts_with("<?xml") || begins.starts_with("<testsuite"))
        && memmem::find(head, b"<testsuite").is_some()
        && memmem::find(head, b"<testcase").is_some()
}

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseResult {
    Passed,
    Skipped,
    Failed,
}

pub(super) fn spans(text: &str) -> Vec<LineSpan> {
    let mut spans = Vec::new();
    let mut skipped = Vec::new();
    let mut at = 0;
    for start in memmem::find_iter(text.as_bytes(), b"<testcase") {
        // The text that a failure quotes may look like a case.
        if start < at {
            continue;
        }
        let (end, ended) = parse_case(text, start);
        // White space before and after a case belongs to the case, so that whole lines are left out.
        let before = text.part(at..start).trim_end_matches([' ', '\t']).len();
        push_between(text, at..at + before, &mut spans);
        let range = at + before..end;
        match ended {
            CaseResult::Passed => {
                spans.push(LineSpan::new(range.clone(), Rank::Filler).labelled(Label::Passed));
            }
            CaseResult::Skipped => {
                skipped.push(spans.len());
                let span = LineSpan::new(range.clone(), Rank::Filler).scored(5).labelled(Label::Skipped);
                spans.push(span);
            }
            CaseResult::Failed => push_failed(text, range.clone(), &mut spans),
        }
        at = range.end;
    }
    push_between(text, at..text.len(), &mut spans);
    if skipped.len() <= MAX_SKIPPED {
        for at in skipped {
            if let Some(span) = spans.item_mut(at) {
                (span.rank, span.score) = (Rank::Context, 30);
            }
        }
    }
    spans
}

/// Returns the end of a case, including the line break after it, and the result of the case.
fn parse_case(text: &str, start: usize) -> (usize, CaseResult) {
    let open = tag_end(text, start);
    let rest = |from: usize| text.as_bytes().part(from..);
    let mut ended = CaseResult::Passed;
    let mut end = open;
    if !text.part(start..open).ends_with("/>") {
        let mut at = open;
        while let Some(next) = memchr::memchr(b'<', rest(at)) {
            let tag = at + next;
            let bytes = rest(tag);
            if bytes.starts_with(b"<![CDATA[") {
                at = memmem::find(bytes, b"]]>").map_or(text.len(), |close| tag + close + 3);
                continue;
            }
            if bytes.starts_with(b"<testcase") {
                at = tag;
                break;
            }
            at = tag_end(text, tag);
            if bytes.starts_with(b"</testcase") {
                break;
            }
            let bad = [b"<failure".as_slice(), b"<error", b"<rerunFailure", b"<flaky"];
            if bad.iter().any(|bad| bytes.starts_with(bad)) {
                ended = CaseResult::Failed;
            } else if bytes.starts_with(b"<skipped") && ended == CaseResult::Passed {
                ended = CaseResult::Skipped;
            }
        }
        end = at;
    }
    let breaks = rest(end).iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    (end + breaks, ended)
}

/// Returns the end of a tag, which is the position after the first `>` that is not in an attribute.
fn tag_end(text: &str, start: usize) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match (byte, quote) {
            (b'>', None) => return at + 1,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// Adds the text between cases: suites and their counts.
fn push_between(text: &str, range: Range<usize>, spans: &mut Vec<LineSpan>) {
    for range in line_ranges(text, range) {
        let line = text.part(range.clone()).trim_start();
        let (rank, score) = match line {
            _ if line.contains("<testsuite") => (Rank::Must, 900),
            _ if line.starts_with("<property") => (Rank::Filler, 1),
            _ => (Rank::Context, 10),
        };
        spans.push(LineSpan::new(range, rank).scored(score));
    }
}

/// Adds the spans of a failed case. The name and messages of the case rank highest, before the lines of its text.
fn push_failed(text: &str, range: Range<usize>, spans: &mut Vec<LineSpan>) {
    let mut said = 0;
    let mut captured = false;
    for (nth, range) in line_ranges(text, range).enumerate() {
        let line = text.part(range.clone());
        captured &= !line.contains("</system-");
        let tagged = nth == 0 || line.contains("<failure") || line.contains("<error");
        let (rank, score) = if tagged {
            (Rank::Must, 800)
        } else if captured || line.contains("<system-") {
            captured = !line.contains("</system-");
            (Rank::Context, 5)
        } else if is_message(line.trim_start(), line) || is_place(line) {
            said += 1;
            if said <= MAX_MESSAGE_LINES { (Rank::Must, 600) } else { (Rank::Context, 40) }
        } else if stack_frame::frame_owner(line) == Some(FrameOwner::Library) {
            (Rank::Filler, 1)
        } else {
            (Rank::Context, 25)
        };
        let cut = range.start + crate::readers::line::fingerprint::truncate(line, MAX_TAG_BYTES).len();
        let label = (nth == 0).then_some(Label::Failed);
        spans.push(LineSpan::new(range.start..cut, rank).scored(score).labelled(label));
        if cut < range.end {
            spans.push(LineSpan::new(cut..range.end, Rank::Context).scored(1));
        }
    }
}

/// Returns the ranges of the lines in a stretch.
fn line_ranges(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    text.part(range).split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(breaks: &str) -> String {
        let mut text = format!(
            "<?xml version=\"1.0\"?>{breaks}<testsuite name=\"shop\" tests=\"42\" failures=\"1\">{breaks}"
        );
        for nth in 0..40 {
            text += &format!(
                "  <testcase classname=\"Shop\" name=\"orders {nth} &gt; 3\" time=\"0.0{nth}\"/>{breaks}"
            );
        }
        text += &format!(
            "  <testcase name=\"pays\"><failure message=\"got 3 > 2, want 4\">at Shop.pay(Shop.java:12)\n<![CDATA[</testcase><testcase>]]></failure></testcase>{breaks}"
        );
        text += &format!("  <testcase name=\"later\"><skipped/></testcase>{breaks}</testsuite>{breaks}");
        text
    }

    #[test]
    fn cases_that_fail_stay_whether_on_one_line_or_many() {
        for breaks in ["", "\n", "\r\n"] {
            let text = report(breaks);
            assert!(is_report(&text));
            let spans = spans(&text);
            let mut at = 0;
            for span in &spans {
                assert_eq!(span.range().start, at);
                at = span.range().end;
            }
            assert_eq!(at, text.len());
            let kept = |part: &str| {
                let place = text.find(part).unwrap();
                spans.iter().find(|span| span.range().contains(&place)).unwrap().rank
            };
            assert_eq!(kept("failures=\"1\""), Rank::Must);
            assert_eq!(kept("got 3 > 2"), Rank::Must);
            assert_eq!(kept("orders 7 "), Rank::Filler);
            assert_eq!(kept("later"), Rank::Context);
            assert_eq!(spans.iter().filter(|span| span.label == Some(Label::Passed)).count(), 40);
        }
    }

    #[test]
    fn broken_reports_are_read_to_their_end() {
        let text = report("\n");
        for end in (0..text.len()).step_by(7) {
            let spans = spans(text.get(..end).unwrap());
            assert_eq!(spans.last().map_or(0, |span| span.range().end), end);
        }
    }
}
