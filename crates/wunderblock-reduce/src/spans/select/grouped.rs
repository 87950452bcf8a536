//! Joins the parts that stay in a stretch that is shown in a different form.

use crate::spans::shown::ShownLevel;
use crate::spans::span::{LineSpan, Rank};

/// Returns each group as one span that shows the kept parts of the group, and returns whether each span stays.
pub(super) fn settle(spans: &[LineSpan], kept: &[bool]) -> (Vec<LineSpan>, Vec<bool>) {
    let mut settled: Vec<LineSpan> = Vec::new();
    let mut stays = Vec::new();
    let mut all = spans.iter().zip(kept).peekable();
    while let Some((span, kept)) = all.next() {
        if span.shown().is_none() {
            settled.push(span.clone());
            stays.push(*kept);
            continue;
        }
        let mut parts = vec![(span, *kept)];
        while let Some((part, kept)) =
            all.next_if(|(next, _)| next.shown().is_some() && next.range().is_empty())
        {
            parts.push((part, *kept));
        }
        let (shown, left) = write(&parts);
        let level = ShownLevel::Alone;
        let whole = LineSpan::new(span.range(), Rank::Must).described(span.description().cloned());
        stays.push(!shown.is_empty());
        settled.push(if shown.is_empty() {
            whole
        } else if left == 0 {
            whole.shown_as(shown, level)
        } else {
            let all = parts.iter().filter(|(part, _)| part.level() != ShownLevel::Heading).count();
            whole.described(Some(format!("{left} of {all} not shown").into())).shown_as(shown, level)
        });
    }
    (settled, stays)
}

/// Returns the words of the parts that stay, and the number of other parts. A part under another part stays only
/// together with that part, and a heading stays only together with a part under it.
fn write(parts: &[(&LineSpan, bool)]) -> (String, usize) {
    let (mut shown, mut left) = (String::new(), 0);
    let (mut heading, mut has_heading, mut has_item) = ("", false, false);
    for (part, kept) in parts {
        let words = part.shown().unwrap_or_default();
        let stays = *kept
            && match part.level() {
                ShownLevel::Alone | ShownLevel::Heading => true,
                ShownLevel::Item => has_heading,
                ShownLevel::Detail => has_item,
            };
        match part.level() {
            ShownLevel::Heading => {
                (heading, has_heading, has_item) = (words, stays, false);
                continue;
            }
            ShownLevel::Alone => (heading, has_heading, has_item) = ("", false, stays),
            // A text that continues over several parts is shown without holes.
            ShownLevel::Item | ShownLevel::Detail => has_item = stays,
        }
        if stays {
            shown.push_str(std::mem::take(&mut heading));
            shown.push_str(words);
        }
        left += usize::from(!stays);
    }
    (shown, left)
}
