//! Which spans stay, and the segments and gaps that follow from it: the same choice for every kind of text.

mod headline;

use std::borrow::Cow;

use crate::lines::TextLines;
use crate::mark::{Gap, GapFact, GapUnit, MARK_BYTES, SEEN};
use crate::segment::TextSegment;
use crate::span::{LineSpan, Rank, counts};

pub(crate) use headline::raise_under_asked;

/// How much of a text stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepLimit {
    /// All but filler.
    Fold,
    /// At most so many bytes, marks included.
    Bytes(usize),
}

/// The pieces that stay, and the gaps between them.
pub(crate) fn select(lines: &TextLines<'_>, units: &[LineSpan], room: KeepLimit) -> Vec<TextSegment> {
    let mut said = Vec::new();
    let mut kept = match room {
        KeepLimit::Fold => units.iter().map(|unit| unit.rank > Rank::Filler).collect(),
        KeepLimit::Bytes(bytes) => {
            let kept = keep_best(units, bytes);
            if headline::all_fit(units, &kept, bytes) {
                kept
            } else {
                // Not all headlines can stand: marks say them, which takes less room than a mark around each.
                said = headline::listed(units, bytes);
                headline::keep_best(units, &said, bytes)
            }
        }
    };
    close_small_gaps(units, &mut kept);
    if kept.iter().all(|kept| *kept) {
        // Notes speak of what is left out.
        return vec![TextSegment::Keep(0..lines.text().len())];
    }
    cut_segments(lines, units, &kept, &said)
}

/// Makes one of neighbours that share their fate when a text is folded, and have nothing to say or to be counted as.
pub(crate) fn join_spans(units: &mut Vec<LineSpan>) {
    units.dedup_by(|next, unit| {
        let [kept, next_kept] = [unit.rank, next.rank].map(|rank| rank > Rank::Filler);
        // What is said of a part of a gap is said of all of it, but for where it was seen.
        let seen = !kept && unit.description().is_some_and(|told| told.starts_with(SEEN));
        let counted = !kept && next.label.is_some();
        let joins = kept == next_kept
            && unit.span().end == next.span().start
            && unit.note().is_none()
            && !next.has_notes()
            && !seen
            && !counted;
        if joins {
            unit.extend(next.span().end);
        }
        joins
    });
    units.shrink_to_fit();
}

/// The best units that fit into `bytes`. A unit that would not fit is passed over: a smaller one after it may.
fn keep_best(units: &[LineSpan], bytes: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_unstable_by_key(|at| {
        units.get(*at).map(|unit| (std::cmp::Reverse((unit.rank, unit.score)), *at))
    });
    let mut kept = vec![false; units.len()];
    let mut spent = if units.is_empty() { 0 } else { MARK_BYTES };
    for at in order {
        let Some(unit) = units.get(at) else { continue };
        let beside = |at: Option<usize>| at.and_then(|at| kept.get(at)).copied().unwrap_or(true);
        // A unit between two gaps splits one mark into two; one that fills a gap saves its mark.
        let (before, after) = (beside(at.checked_sub(1)), beside(Some(at + 1)));
        let grown = match (before, after) {
            (false, false) => spent + unit.bytes() + MARK_BYTES,
            (true, true) => (spent + unit.bytes()).saturating_sub(MARK_BYTES),
            _ => spent + unit.bytes(),
        };
        if grown <= bytes
            && let Some(kept) = kept.get_mut(at)
        {
            *kept = true;
            spent = grown;
        }
    }
    kept
}

/// Gaps that weigh no more than their mark are no gaps.
fn close_small_gaps(units: &[LineSpan], kept: &mut [bool]) {
    let mut at = 0;
    while at < units.len() {
        let end = run_end(kept, at);
        let gone = !kept.get(at).copied().unwrap_or(true);
        let weight: usize = units.get(at..end).unwrap_or_default().iter().map(LineSpan::bytes).sum();
        if gone && weight <= MARK_BYTES {
            kept.iter_mut().take(end).skip(at).for_each(|kept| *kept = true);
        }
        at = end;
    }
}

/// Where the run of units that share the fate of the one at `at` ends.
fn run_end(kept: &[bool], at: usize) -> usize {
    let fate = kept.get(at);
    at + kept.iter().skip(at).take_while(|kept| Some(*kept) == fate).count()
}

fn cut_segments(lines: &TextLines<'_>, units: &[LineSpan], kept: &[bool], said: &[bool]) -> Vec<TextSegment> {
    let runs = kept.windows(2).filter(|two| two.first() != two.last()).count() + 1;
    let notes = units.iter().filter(|unit| unit.note().is_some()).count();
    let mut pieces = Vec::with_capacity(runs + 2 * notes);
    let mut at = 0;
    while at < units.len() {
        let end = run_end(kept, at).max(at + 1);
        if kept.get(at).copied().unwrap_or(true) {
            for unit in units.get(at..end).unwrap_or_default() {
                // What stays together is one piece: most texts have few gaps and many lines.
                match pieces.last_mut() {
                    Some(TextSegment::Keep(before)) if before.end == unit.span().start => {
                        before.end = unit.span().end
                    }
                    _ => pieces.push(TextSegment::Keep(unit.span())),
                }
                pieces.extend(unit.note().map(|note| TextSegment::Note(note.to_owned())));
            }
            at = end;
        }
        while at < end {
            let until = headline::gap_end(units, said, at..end).max(at + 1);
            let run = units.get(at..until).unwrap_or_default();
            let said = said.get(at..until).unwrap_or_default();
            pieces.push(TextSegment::Gap { gap: make_gap(lines, run, said), shown: None });
            at = until;
        }
    }
    pieces
}

/// The gap that a run of units leaves: in lines where it is made of whole lines, else in bytes.
fn make_gap(lines: &TextLines<'_>, run: &[LineSpan], said: &[bool]) -> Gap {
    let start = run.first().map_or(0, |unit| unit.span().start);
    let end = run.last().map_or(start, |unit| unit.span().end);
    let told = gap_facts(run, said);
    let (first, last) = (lines.at(start), lines.at(end.saturating_sub(1).max(start)));
    if lines.span(first).start == start && lines.span(last).end == end {
        let (first, last) = (first as u64 + 1, last as u64 + 1);
        return Gap { span: start..end, measure: GapUnit::Lines, first, last, within: None, told };
    }
    let (first, last) = (start as u64 + 1, end as u64);
    Gap { span: start..end, measure: GapUnit::Bytes, first, last, within: None, told }
}

/// At most so many descriptions stand in one mark.
const TOLD_MAX: usize = 3;

/// What a mark says of the units it stands for: headlines where `said` says so, or else what they count as and are.
fn gap_facts(run: &[LineSpan], said: &[bool]) -> Vec<GapFact> {
    let counted = counts(run).into_iter().map(|(label, count)| label.fact(count));
    // Parts of one thing say what it is once.
    let mut described: Vec<&Cow<'static, str>> = Vec::new();
    let mut headlines =
        run.iter().zip(said).filter(|(_, said)| **said).filter_map(|(unit, _)| unit.headline()).peekable();
    if headlines.peek().is_some() {
        // What it is the rest of, if it begins in the middle of something.
        described.extend(run.first().and_then(LineSpan::description));
    }
    for what in headlines {
        if described.last() != Some(&what) {
            described.push(what);
        }
    }
    if described.is_empty() {
        for what in run.iter().filter_map(LineSpan::description) {
            if described.len() < TOLD_MAX && !described.contains(&what) {
                described.push(what);
            }
        }
    }
    let all = |what: &Cow<'_, str>| run.iter().all(|unit| unit.description() == Some(what));
    let describe = |what: &Cow<'static, str>| match what.starts_with(SEEN) && !all(what) {
        true => format!("partly {what}").into(),
        false => what.clone(),
    };
    let mut told: Vec<GapFact> = counted
        .chain(described.into_iter().map(|what| GapFact { count: None, what: describe(what) }))
        .collect();
    // There may be as many marks as lines.
    told.shrink_to_fit();
    told
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::label::Label;
    use crate::segment;

    fn units(lines: &TextLines<'_>, ranks: &[Rank]) -> Vec<LineSpan> {
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
        let pieces = select(&lines, &units(&lines, &ranks), KeepLimit::Fold);
        assert!(segment::tiles_source(&pieces, text.len()));
        assert_eq!(
            segment::write_segments(&pieces, &text, Some("wb:0123456789abcdef")),
            "line 1 of a text long enough for a mark\n\
             ⟨… lines 2–8: 7 lines · wb:0123456789abcdef⟩\n\
             line 9 of a text long enough for a mark\n"
        );
    }

    #[test]
    fn a_text_that_is_left_whole_has_no_notes() {
        let text = "tick\nthe first of many\ntick\n";
        let lines = TextLines::of(text);
        let mut units = units(&lines, &[Rank::Frame, Rank::Context, Rank::Filler]);
        units[0].set_note(Some("⟨×2, last line 3⟩".into()));
        assert_eq!(select(&lines, &units, KeepLimit::Fold), [TextSegment::Keep(0..text.len())]);
    }

    #[test]
    fn a_budget_is_filled_in_the_order_of_worth() {
        let text: String = (1..=40).map(|line| format!("line {line:02} with thirty bytes here\n")).collect();
        let lines = TextLines::of(&text);
        let mut ranks = vec![Rank::Context; 40];
        ranks[20] = Rank::Must;
        let units = units(&lines, &ranks);
        for room in [80, 200, 500, 1_000, text.len()] {
            let pieces = select(&lines, &units, KeepLimit::Bytes(room));
            assert!(segment::tiles_source(&pieces, text.len()));
            let short = segment::write_segments(&pieces, &text, None);
            assert!(short.len() <= room.max(MARK_BYTES), "{} of {room}", short.len());
            assert!(room < 200 || short.contains("line 21"), "{short}");
            assert!(room < 500 || short.len() * 10 >= room * 8, "{} of {room}", short.len());
        }
    }

    proptest! {
        #[test]
        fn what_is_joined_folds_as_it_did(of in prop::collection::vec((0..3usize, 0..4usize, 0..5usize), 1..40)) {
            let text: String = (0..of.len()).map(|at| format!("line {at} of a text that is of some length\n")).collect();
            let lines = TextLines::of(&text);
            let unit = |(at, (rank, label, said)): (usize, &(usize, usize, usize))| {
                let rank = [Rank::Filler, Rank::Filler, Rank::Must][*rank];
                let label = [None, None, Some(Label::AsAbove), Some(Label::Passed)][*label];
                let told = [None, None, Some("seen in lines 1–4 of wb:0".into()), Some("like this".into()), None][*said].clone();
                let mut unit = LineSpan::new(lines.span(at), rank).labelled(label).described(told);
                unit.set_note((*said == 4).then(|| "⟨×2⟩".into()));
                unit
            };
            let units: Vec<LineSpan> = of.iter().enumerate().map(unit).collect();
            let mut joined = units.clone();
            join_spans(&mut joined);
            prop_assert_eq!(select(&lines, &joined, KeepLimit::Fold), select(&lines, &units, KeepLimit::Fold));
        }
    }
}
