//! Chooses the spans that stay, and builds segments and gaps from the choice, in the same way for every kind of text.

mod grouped;
mod headline;

use crate::part::PartOfList;
use std::borrow::Cow;

use crate::result::mark::{Gap, GapFact, GapUnit, MIN_GAP_BYTES, SEEN};
use crate::result::segment::TextSegment;
use crate::spans::shown::ShownLevel;
use crate::spans::span::{LineSpan, Rank, counts};
use crate::text::lines::TextLines;

use headline::MARK_COST;
pub(crate) use headline::raise_under_query;

/// The limit on the part of a text that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepLimit {
    /// Everything except filler.
    Fold,
    /// At most this number of bytes stays, including marks.
    Bytes(usize),
}

/// Returns the segments that stay, and the gaps between them.
pub(crate) fn select(lines: &TextLines<'_>, spans: &[LineSpan], room: KeepLimit) -> Vec<TextSegment> {
    let mut listed = Vec::new();
    let mut kept = match room {
        KeepLimit::Fold => spans.iter().map(|span| span.rank > Rank::Filler).collect(),
        KeepLimit::Bytes(bytes) => {
            let kept = keep_best(spans, &[], bytes);
            if headline::all_fit(spans, &kept, bytes) {
                kept
            } else {
                // Not all headlines fit. Marks list the headlines, which takes less room than a mark around each of
                // them.
                listed = headline::listed(spans, bytes);
                keep_best(spans, &listed, bytes)
            }
        }
    };
    close_small_gaps(spans, &mut kept);
    if spans.iter().any(|span| span.shown().is_some()) {
        let (spans, kept) = grouped::settle(spans, &kept);
        listed.clear();
        return cut_segments(lines, &spans, &kept, &listed);
    }
    if kept.iter().all(|kept| *kept) {
        // Notes describe the parts that are left out, so a text that is kept whole has none.
        return vec![TextSegment::Keep(0..lines.text().len())];
    }
    cut_segments(lines, spans, &kept, &listed)
}

/// Joins neighbouring spans that a fold treats alike and that marks do not describe.
pub(crate) fn join_spans(spans: &mut Vec<LineSpan>) {
    spans.dedup_by(|next, span| {
        let joins = span.is_folded_with(next);
        if joins {
            span.extend(next.range().end);
        }
        joins
    });
    spans.shrink_to_fit();
}

/// Minimum room, in bytes, per gap between spans that need not stay, because too many gaps leave more marks than
/// text. With this limit, marks take 7.9 % of a text that is reduced to 25 %, instead of 10.4 % (median of 118
/// outputs).
const BYTES_PER_GAP: usize = 320;

/// The choice of the spans that stay within a given room.
struct SpanChoice<'s> {
    spans: &'s [LineSpan],
    /// The spans whose headlines are listed in marks if the spans do not stay.
    listed: &'s [bool],
    kept: Vec<bool>,
    spent: usize,
    gaps: usize,
}

/// Returns the best spans that fit into `bytes`. A span that does not fit is skipped, because a smaller one may still
/// fit.
fn keep_best(spans: &[LineSpan], listed: &[bool], bytes: usize) -> Vec<bool> {
    let spent = if spans.is_empty() { 0 } else { MARK_COST };
    let mut choice = SpanChoice { spans, listed, kept: vec![false; spans.len()], spent, gaps: 1 };
    choice.spent += (0..listed.len()).map(|at| choice.in_mark(at)).sum::<usize>();
    let mut order = headline::rank_order(spans);
    // A span that did not fit may fit later, because it needs no mark once its neighbours are kept.
    loop {
        let before = choice.spent;
        order.retain(|at| !choice.keep(*at, bytes));
        if choice.spent == before {
            return choice.kept;
        }
    }
}

impl SpanChoice<'_> {
    fn is_kept(&self, at: usize) -> bool {
        self.kept.item(at).copied().unwrap_or(true)
    }

    /// Returns whether a span is listed. The list is empty if marks list no headlines.
    fn is_listed(&self, at: usize) -> bool {
        self.listed.get(at).copied().unwrap_or(false)
    }

    fn in_mark(&self, at: usize) -> usize {
        let headline = self.spans.item(at).filter(|_| self.is_listed(at)).and_then(LineSpan::headline);
        headline.map_or(0, |line| headline::length_in_mark(line))
    }

    /// Returns the parts of a stretch that are above a given part, are needed to understand it, and have not been
    /// kept yet. Without the parts above it, a part whose heading had no room would be dropped, and its room would
    /// stay empty.
    fn openers(&self, at: usize) -> Vec<usize> {
        let mut openers = Vec::new();
        let mut level = self.spans.item(at).map_or(ShownLevel::Alone, LineSpan::level);
        for (above, span) in self.spans.part(..at).iter().enumerate().rev() {
            let is_opener = match level {
                ShownLevel::Alone | ShownLevel::Heading => break,
                // This item is under the same heading as the item before it.
                ShownLevel::Item if span.level() == ShownLevel::Item && self.is_kept(above) => break,
                ShownLevel::Item => span.level() == ShownLevel::Heading,
                ShownLevel::Detail => true,
            };
            if is_opener && self.is_kept(above) {
                break;
            }
            if is_opener {
                openers.push(above);
                level = span.level();
            }
        }
        openers
    }

    /// Keeps a span if it fits, together with the headlines directly above it or the parts that it belongs to. Once
    /// there are enough gaps, spans beside kept ones precede better spans that would split a gap. A headline alone
    /// does not split a gap, because a mark can list it just as well.
    fn keep(&mut self, at: usize, bytes: usize) -> bool {
        let Some(span) = self.spans.item(at).filter(|_| !self.is_kept(at)) else { return true };
        let above = (0..at).rev().take_while(|above| self.is_listed(*above) && !self.is_kept(*above)).count();
        let first = if span.rank < Rank::Frame { at - above } else { at };
        let before = first.checked_sub(1).is_none_or(|before| self.is_kept(before));
        let beside = (before, at + 1 == self.kept.len() || self.is_kept(at + 1));
        let openers = self.openers(at);
        let own: usize = self.spans.part(first..=at).iter().map(LineSpan::bytes).sum();
        let own =
            own + openers.iter().filter_map(|at| self.spans.item(*at)).map(LineSpan::bytes).sum::<usize>();
        let in_marks: usize = (first..=at).map(|at| self.in_mark(at)).sum();
        // A span between two gaps splits one mark into two. A span that fills a gap saves the mark of the gap.
        let (gaps, spent) = match beside {
            (false, false) => (self.gaps + 1, self.spent + own + MARK_COST),
            (true, true) => (self.gaps - 1, (self.spent + own).saturating_sub(MARK_COST)),
            _ => (self.gaps, self.spent + own),
        };
        let spent = spent.saturating_sub(in_marks);
        let splits = gaps > self.gaps && span.rank < Rank::Must;
        let many = splits && gaps * BYTES_PER_GAP > bytes && span.headline().is_none();
        if spent > bytes || many || splits && self.is_listed(at) {
            return false;
        }
        (self.spent, self.gaps) = (spent, gaps);
        self.kept.part_mut(first..=at).fill(true);
        true
    }
}

/// Keeps the spans of gaps that are not larger than their mark.
fn close_small_gaps(spans: &[LineSpan], kept: &mut [bool]) {
    let mut at = 0;
    for run in kept.chunk_by_mut(|one, next| one == next) {
        let weight: usize = spans.part(at..at + run.len()).iter().map(LineSpan::bytes).sum();
        at += run.len();
        if weight <= MIN_GAP_BYTES {
            run.fill(true);
        }
    }
}

fn cut_segments(
    lines: &TextLines<'_>,
    spans: &[LineSpan],
    kept: &[bool],
    listed: &[bool],
) -> Vec<TextSegment> {
    let runs = kept.windows(2).filter(|two| two.first() != two.last()).count() + 1;
    let notes = spans.iter().filter(|span| span.note().is_some()).count();
    let mut segments = Vec::with_capacity(runs + 2 * notes);
    let mut at = 0;
    for run in kept.chunk_by(|one, next| one == next) {
        let end = at + run.len();
        if run.first() == Some(&true) {
            for span in spans.part(at..end) {
                if let Some(shown) = span.shown() {
                    let gap = make_gap(lines, std::slice::from_ref(span), &[]);
                    segments.push(TextSegment::Gap { gap, shown: Some(shown.to_owned()) });
                    continue;
                }
                // Neighbouring spans that stay are one segment, because most texts have few gaps and many lines.
                match segments.last_mut() {
                    Some(TextSegment::Keep(before)) if before.end == span.range().start => {
                        before.end = span.range().end
                    }
                    _ => segments.push(TextSegment::Keep(span.range())),
                }
                segments.extend(span.note().map(|note| TextSegment::Note(note.to_owned())));
            }
            at = end;
        }
        while at < end {
            let until = headline::gap_end(spans, listed, at..end).max(at + 1);
            let run = spans.part(at..until);
            let listed = listed.get(at..until).unwrap_or_default();
            segments.push(TextSegment::Gap { gap: make_gap(lines, run, listed), shown: None });
            at = until;
        }
    }
    segments
}

/// Returns the gap that a run of spans leaves, measured in lines if the run consists of whole lines, and otherwise in
/// bytes.
fn make_gap(lines: &TextLines<'_>, run: &[LineSpan], listed: &[bool]) -> Gap {
    let start = run.first().map_or(0, |span| span.range().start);
    let end = run.last().map_or(start, |span| span.range().end);
    let facts = gap_facts(run, listed);
    let (first, last) = (lines.at(start), lines.at(end.saturating_sub(1).max(start)));
    if lines.span(first).start == start && lines.span(last).end == end {
        let (first, last) = (lines.number(first) as u64, lines.number(last) as u64);
        return Gap { span: start..end, measure: GapUnit::Lines, first, last, within: None, told: facts };
    }
    let (first, last) = (start as u64 + 1, end as u64);
    Gap { span: start..end, measure: GapUnit::Bytes, first, last, within: None, told: facts }
}

/// Maximum number of descriptions in one mark.
const MAX_DESCRIPTIONS: usize = 3;

/// Returns the facts in the mark for a run of spans: the counts of the spans, and either the listed headlines or the
/// descriptions of the spans.
fn gap_facts(run: &[LineSpan], listed: &[bool]) -> Vec<GapFact> {
    let counted = counts(run).into_iter().map(|(label, count)| label.fact(count));
    // A description that several parts share is stated once.
    let mut described: Vec<&Cow<'static, str>> = Vec::new();
    let mut headlines = run
        .iter()
        .zip(listed)
        .filter(|(_, listed)| **listed)
        .filter_map(|(span, _)| span.headline())
        .peekable();
    if headlines.peek().is_some() {
        // If a run begins in the middle of an item, its mark first states which item the run continues.
        described.extend(run.first().and_then(LineSpan::description));
    }
    for what in headlines {
        if described.last() != Some(&what) {
            described.push(what);
        }
    }
    if described.is_empty() {
        for what in run.iter().filter_map(LineSpan::description) {
            if described.len() < MAX_DESCRIPTIONS && !described.contains(&what) {
                described.push(what);
            }
        }
    }
    let all = |what: &Cow<'_, str>| run.iter().all(|span| span.description() == Some(what));
    let describe = |what: &Cow<'static, str>| match what.starts_with(SEEN) && !all(what) {
        true => format!("partly {what}").into(),
        false => what.clone(),
    };
    let mut facts: Vec<GapFact> = counted
        .chain(described.into_iter().map(|what| GapFact { count: None, what: describe(what) }))
        .collect();
    // There may be as many marks as lines, so the lists of their facts have no spare capacity.
    facts.shrink_to_fit();
    facts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::result::label::Label;
    use crate::result::segment;

    fn spans(lines: &TextLines<'_>, ranks: &[Rank]) -> Vec<LineSpan> {
        ranks.iter().enumerate().map(|(line, rank)| LineSpan::new(lines.span(line), *rank)).collect()
    }

    #[test]
    fn folding_leaves_out_filler_and_says_where_it_was() {
        let text: String =
            (1..=9).map(|line| format!("line {line} of a text long enough for a mark\n")).collect();
        let lines = TextLines::of(&text);
        let mut ranks = vec![Rank::Filler; 9];
        ranks[0] = Rank::Frame;
        ranks[8] = Rank::Must;
        let segments = select(&lines, &spans(&lines, &ranks), KeepLimit::Fold);
        assert!(segment::tiles_source(&segments, text.len()));
        assert_eq!(
            segment::write_segments(&segments, &text, Some("wb:0123456789abcdef")),
            "line 1 of a text long enough for a mark\n\
             ⟨… wb:0123456789abcdef#L2-8: 7 lines⟩\n\
             line 9 of a text long enough for a mark\n"
        );
    }

    #[test]
    fn a_text_that_is_left_whole_has_no_notes() {
        let text = "tick\nthe first of many\ntick\n";
        let lines = TextLines::of(text);
        let mut spans = spans(&lines, &[Rank::Frame, Rank::Context, Rank::Filler]);
        spans[0].set_note(Some("⟨×2, last line 3⟩".into()));
        assert_eq!(select(&lines, &spans, KeepLimit::Fold), [TextSegment::Keep(0..text.len())]);
    }

    #[test]
    fn a_budget_is_filled_in_the_order_of_worth() {
        let text: String = (1..=40).map(|line| format!("line {line:02} with thirty bytes here\n")).collect();
        let lines = TextLines::of(&text);
        let mut ranks = vec![Rank::Context; 40];
        ranks[20] = Rank::Must;
        let spans = spans(&lines, &ranks);
        for room in [80, 200, 500, 1_000, text.len()] {
            let segments = select(&lines, &spans, KeepLimit::Bytes(room));
            assert!(segment::tiles_source(&segments, text.len()));
            let short = segment::write_segments(&segments, &text, None);
            assert!(short.len() <= room.max(MIN_GAP_BYTES), "{} of {room}", short.len());
            assert!(room < 200 || short.contains("line 21"), "{short}");
            assert!(room < 500 || short.len() * 10 >= room * 8, "{} of {room}", short.len());
        }
    }

    proptest! {
        #[test]
        fn what_is_joined_folds_as_it_did(of in prop::collection::vec((0..3usize, 0..4usize, 0..5usize), 1..40)) {
            let text: String = (0..of.len()).map(|at| format!("line {at} of a text that is of some length\n")).collect();
            let lines = TextLines::of(&text);
            let span = |(at, (rank, label, listed)): (usize, &(usize, usize, usize))| {
                let rank = [Rank::Filler, Rank::Filler, Rank::Must][*rank];
                let label = [None, None, Some(Label::AsAbove), Some(Label::Passed)][*label];
                let told = [None, None, Some("seen in lines 1–4 of wb:0".into()), Some("like this".into()), None][*listed].clone();
                let mut span = LineSpan::new(lines.span(at), rank).labelled(label).described(told);
                span.set_note((*listed == 4).then(|| "⟨×2⟩".into()));
                span
            };
            let spans: Vec<LineSpan> = of.iter().enumerate().map(span).collect();
            let mut joined = spans.clone();
            join_spans(&mut joined);
            prop_assert_eq!(select(&lines, &joined, KeepLimit::Fold), select(&lines, &spans, KeepLimit::Fold));
        }
    }
}
