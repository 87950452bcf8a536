//! Leaves out the source below a failure if earlier failures had the same message, because the source then explains
//! nothing new.

use std::collections::{HashMap, HashSet};

use super::message::{is_message, is_place};
use crate::part::PartOfList;
use crate::readers::line::stack_frame::{self, FrameOwner};
use crate::readers::line::{diagnostic, message_shape};
use crate::rules::TestLine;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::template;

/// Maximum number of failures with one message that are shown with everything they printed.
const MAX_SHOWN: u32 = 2;

/// Folds further failures with the same message. The name, message and place of each failure stay.
pub(super) fn fold_source(lines: &TextLines<'_>, cases: &[Option<TestLine>], spans: &mut [LineSpan]) {
    let mut said: HashMap<u64, u32> = HashMap::new();
    let mut seen: HashSet<(u64, &str)> = HashSet::new();
    let mut start: Option<usize> = None;
    for at in 0..=lines.len() {
        // The last failure ends at the end of the text.
        let case = cases.get(at).copied().flatten();
        if at < lines.len() && case.is_none_or(|case| case == TestLine::Captured) {
            continue;
        }
        if let Some(start) = start.take() {
            let Some(message) = (start..at).map(|at| lines.get(at)).find(|line| says_anything(line)) else {
                continue;
            };
            let message = message_hash(message);
            let count = said.entry(message).or_default();
            *count += 1;
            leave_out_frames(lines, start..at, |line| seen.contains(&(message, line)), spans);
            if *count > MAX_SHOWN {
                leave_out(lines, start..at, spans);
            }
            seen.extend((start..at).map(|at| (message, lines.get(at))));
        }
        if matches!(case, Some(TestLine::Details | TestLine::Failed)) {
            // Each failure except the first has a rule above it.
            let above = (0..at).rev().take_while(|at| is_rule(lines.get(*at)) && !said.is_empty());
            for span in above.last().map(|first| spans.part_mut(first..at)).unwrap_or_default() {
                (span.rank, span.score) = (Rank::Filler, 1);
            }
            start = Some(at + 1);
        }
    }
}

/// Returns whether a line is a rule, or empty.
fn is_rule(line: &str) -> bool {
    line.bytes().all(|byte| byte == b'=')
}

/// Returns a hash of a message without its place, and without the names and numbers in it.
fn message_hash(line: &str) -> u64 {
    let text = line.trim_start();
    let text = diagnostic::place_length(text).and_then(|place| text.get(place..)).unwrap_or(text);
    template::hash(message_shape::shape(text, &message_shape::holes(text)).as_bytes())
}

fn says_anything(line: &str) -> bool {
    is_message(line.trim_start(), line) || stack_frame::is_head(line)
}

fn leave_out(lines: &TextLines<'_>, block: std::ops::Range<usize>, spans: &mut [LineSpan]) {
    for at in block {
        let line = lines.get(at);
        let own = stack_frame::frame_owner(line) == Some(FrameOwner::Own)
            || is_place(line)
            || line.starts_with('>');
        if let Some(span) = spans.item_mut(at).filter(|span| span.rank == Rank::Context && !own) {
            (span.rank, span.score) = (Rank::Filler, 1);
        }
    }
}

/// Leaves out the frames that a failure shares with an earlier one that has the same message, together with the
/// source of these frames and the lines that introduce them. The last frame stays.
fn leave_out_frames(
    lines: &TextLines<'_>,
    block: std::ops::Range<usize>,
    seen: impl Fn(&str) -> bool,
    spans: &mut [LineSpan],
) {
    let is_frame = |at: &usize| stack_frame::frame_owner(lines.get(*at)).is_some();
    let (Some(first), Some(last)) = (block.clone().find(is_frame), block.clone().rev().find(is_frame)) else {
        return;
    };
    let leads = |at: &usize| lines.get(*at).starts_with(['-', 'T']);
    let start = (block.start.saturating_sub(2)..first).rev().take_while(leads).last().unwrap_or(first);
    // The source of a frame is below the frame.
    let end = (last + 1..block.end).find(|at| !lines.get(*at).starts_with("    ")).unwrap_or(block.end);
    for at in (start..end).filter(|at| *at != last && seen(lines.get(*at))) {
        if let Some(span) = spans.item_mut(at) {
            (span.rank, span.score) = (Rank::Filler, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::readers::tests::spans;
    use crate::spans::span::Rank;
    use crate::text::lines::TextLines;

    #[test]
    fn names_messages_and_places_of_all_failures_stay() {
        let mut text =
            String::from("=========== test session starts ===========\n=========== FAILURES ===========\n");
        for nth in 0..6 {
            text += &format!(
                "____________ test_{nth} ____________\n\n    def test_{nth}(shop):\n        total = shop.total({nth})\n        assert shop.open\n>       assert total == {nth}\nE       AssertionError: assert 9 == {nth}\n\ntests/test_shop.py:{nth}: AssertionError\n"
            );
        }
        text += "=========== 6 failed in 0.10s ===========\n";
        let lines = TextLines::of(&text);
        let spans = spans(&lines);
        let rank = |part: String| {
            let at = text.find(&part).unwrap();
            spans.iter().find(|span| span.range().contains(&at)).unwrap().rank
        };
        for nth in 0..6 {
            assert!(rank(format!("test_{nth} __")) == Rank::Must);
            assert!(rank(format!("assert 9 == {nth}")) == Rank::Must);
            assert!(rank(format!("test_shop.py:{nth}")) == Rank::Must);
        }
        assert_eq!(rank("shop.total(0)".into()), Rank::Context);
        assert_eq!(rank("shop.total(5)".into()), Rank::Filler);
    }
}
