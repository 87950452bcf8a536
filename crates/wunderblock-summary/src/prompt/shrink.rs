//! Shortens the records of a range until they fit.

use super::record::{PromptRecord, SpeakerKind};
use wunderblock_core::ports::CostModel;
use wunderblock_core::stub::{head, tail};
use wunderblock_core::units::Tokens;

/// Maximum number of characters in a tool result, by level. The first level allows as many characters as pi gives a
/// summariser.
const RESULT: [usize; 5] = [2_000, 1_000, 400, 120, 0];
/// Maximum number of characters in the model's texts, in notes and in earlier summaries, by level.
const SAID: [usize; 3] = [usize::MAX, 2_000, 400];
/// Maximum number of characters in a user message, by level.
const USER: [usize; 5] = [usize::MAX, 8_000, 2_000, 400, 120];
/// Maximum number of tokens in the mark for records that were left out.
const MARK: Tokens = Tokens(24);

/// One stage of shortening.
enum ShrinkStage {
    /// Cuts records of these kinds to the length allowed at this level.
    Cut(&'static [SpeakerKind], usize),
    /// Leaves out records of these kinds.
    Drop(&'static [SpeakerKind]),
}

const STAGES: [ShrinkStage; 13] = [
    ShrinkStage::Cut(RESULTS, 1),
    ShrinkStage::Cut(RESULTS, 2),
    ShrinkStage::Cut(RESULTS, 3),
    ShrinkStage::Cut(RESULTS, 4),
    ShrinkStage::Cut(SPOKEN, 1),
    ShrinkStage::Cut(SPOKEN, 2),
    ShrinkStage::Drop(WORK),
    ShrinkStage::Cut(USERS, 1),
    ShrinkStage::Cut(USERS, 2),
    ShrinkStage::Drop(EARLIER),
    ShrinkStage::Cut(USERS, 3),
    ShrinkStage::Cut(USERS, 4),
    ShrinkStage::Drop(USERS),
];

const RESULTS: &[SpeakerKind] = &[SpeakerKind::Result];
const USERS: &[SpeakerKind] = &[SpeakerKind::User];
const EARLIER: &[SpeakerKind] = &[SpeakerKind::Earlier];
const SPOKEN: &[SpeakerKind] = &[SpeakerKind::Assistant, SpeakerKind::Note, SpeakerKind::Earlier];
const WORK: &[SpeakerKind] =
    &[SpeakerKind::Assistant, SpeakerKind::Note, SpeakerKind::Call, SpeakerKind::Result];

/// A record with the form in which it is currently shown.
struct ShownRecord<'r> {
    record: &'r PromptRecord,
    level: usize,
    cost: Tokens,
    is_gone: bool,
}

/// Returns the records as one text of at most about `room` tokens, or `None` if not even one record fits. An empty
/// list always fits.
pub(super) fn fit(records: &[PromptRecord], room: Tokens, costs: &dyn CostModel) -> Option<String> {
    let measure = |record: &PromptRecord, level| costs.text(&write(record, level)).tokens;
    let mut shown: Vec<ShownRecord<'_>> = records
        .iter()
        .map(|record| ShownRecord { record, level: 0, cost: measure(record, 0), is_gone: false })
        .collect();
    let mut total: Tokens = shown.iter().map(|shown| shown.cost).sum();
    let order = middle_first(shown.len());
    for stage in STAGES {
        for at in &order {
            if total <= room {
                return Some(compose(&shown));
            }
            match stage {
                ShrinkStage::Cut(kinds, level) => {
                    let Some(one) = shown.get_mut(*at) else { continue };
                    let is_long = one.record.body.len() > length(one.record.kind, level);
                    if !one.is_gone && kinds.contains(&one.record.kind) && is_long {
                        let cost = measure(one.record, level);
                        total = total.saturating_sub(one.cost) + cost;
                        (one.level, one.cost) = (level, cost);
                    }
                }
                ShrinkStage::Drop(kinds) => total = drop_one(&mut shown, *at, kinds, total),
            }
        }
    }
    let anything_left = records.is_empty() || shown.iter().any(|shown| !shown.is_gone);
    (total <= room && anything_left).then(|| compose(&shown))
}

/// Leaves out a record if it is of one of these kinds, and returns the new total. Adjacent records that were left out
/// share one mark.
fn drop_one(
    shown: &mut [ShownRecord<'_>],
    at: usize,
    kinds: &'static [SpeakerKind],
    total: Tokens,
) -> Tokens {
    let is_gone = |at: Option<usize>| at.and_then(|at| shown.get(at)).is_some_and(|one| one.is_gone);
    let (before, after) = (is_gone(at.checked_sub(1)), is_gone(at.checked_add(1)));
    let Some(one) = shown.get_mut(at) else { return total };
    if one.is_gone || !kinds.contains(&one.record.kind) {
        return total;
    }
    one.is_gone = true;
    let total = total.saturating_sub(one.cost);
    match (before, after) {
        (false, false) => total + MARK,
        (true, true) => total.saturating_sub(MARK),
        _ => total,
    }
}

/// Returns the indices from the middle outwards.
fn middle_first(count: usize) -> Vec<usize> {
    let middle = count / 2;
    let mut order = Vec::with_capacity(count);
    for away in 0..=middle {
        order.extend(middle.checked_add(away).filter(|at| *at < count));
        order.extend(middle.checked_sub(away).filter(|_| away > 0));
    }
    order
}

fn length(kind: SpeakerKind, level: usize) -> usize {
    let lengths: &[usize] = match kind {
        SpeakerKind::Result => &RESULT,
        SpeakerKind::User => &USER,
        SpeakerKind::Assistant | SpeakerKind::Note | SpeakerKind::Call | SpeakerKind::Earlier => &SAID,
    };
    lengths.get(level).or(lengths.last()).copied().unwrap_or(usize::MAX)
}

/// Writes a record at a given level of shortening.
fn write(record: &PromptRecord, level: usize) -> String {
    let PromptRecord { kind, head, body, .. } = record;
    let most = length(*kind, level);
    let body = body.trim_end();
    if body.is_empty() {
        return format!("{head}\n");
    }
    format!("{head}\n{}\n", clip(body, most))
}

/// Cuts a text of more than `most` characters to its head and tail.
fn clip(text: &str, most: usize) -> String {
    // A text has at most as many characters as bytes, so the characters of a short text are not counted.
    let count = if text.len() <= most { 0 } else { text.chars().count() };
    if count <= most {
        return text.to_owned();
    }
    let left_out = count - most;
    if most == 0 {
        return format!("⟨{left_out} characters left out⟩");
    }
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let begins = head(text, place(most - most / 2));
    let ends = tail(text, text.len() - place(count - most / 2));
    format!("{begins}\n⟨{left_out} characters left out⟩\n{ends}")
}

fn compose(shown: &[ShownRecord<'_>]) -> String {
    let mut text = String::new();
    let mut gone: Option<(&PromptRecord, &PromptRecord, u64)> = None;
    let close = |text: &mut String, gone: Option<(&PromptRecord, &PromptRecord, u64)>| {
        if let Some((first, last, count)) = gone {
            text.push_str(&format!("⟨#{} to #{}: {count} left out here⟩\n", first.from, last.to));
        }
    };
    for one in shown {
        if one.is_gone {
            let (first, _, count) = gone.unwrap_or((one.record, one.record, 0));
            gone = Some((first, one.record, count + 1));
        } else {
            close(&mut text, gone.take());
            text.push_str(&write(one.record, one.level));
        }
    }
    close(&mut text, gone);
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wunderblock_core::id::Handle;
    use wunderblock_core::units::{Cost, Seq};

    /// Cost model with four bytes per token.
    struct Quarters;

    impl CostModel for Quarters {
        fn text(&self, text: &str) -> Cost {
            Cost::new(text.len().div_ceil(4) as u64, text.len() as u64)
        }
        fn json(&self, text: &str) -> Cost {
            self.text(text)
        }
        fn blob(&self, _: Handle) -> Cost {
            Cost::ZERO
        }
        fn json_blob(&self, _: Handle) -> Cost {
            Cost::ZERO
        }
    }

    fn record(seq: u64, kind: SpeakerKind, chars: usize) -> PromptRecord {
        let (from, to) = (Seq(seq), Seq(seq));
        PromptRecord { from, to, kind, head: format!("#{seq} {kind:?}:"), body: "x".repeat(chars) }
    }

    fn session() -> Vec<PromptRecord> {
        let turn = |at: u64| {
            [
                record(at * 4 + 1, SpeakerKind::User, 100),
                record(at * 4 + 2, SpeakerKind::Assistant, 600),
                record(at * 4 + 3, SpeakerKind::Call, 0),
                record(at * 4 + 4, SpeakerKind::Result, 3_000),
            ]
        };
        (0..10).flat_map(turn).collect()
    }

    #[test]
    fn results_go_first_the_middle_first_and_the_users_words_last() {
        let records = session();
        let whole = fit(&records, Tokens(1 << 40), &Quarters).unwrap();
        assert_eq!(
            whole.matches("1000 characters left out").count(),
            10,
            "results are never longer than 2,000"
        );
        let users = |text: &str| text.matches("User:\nxxxx").count();
        let mut was = Vec::new();
        for room in [8_000, 5_000, 2_500, 1_600, 1_000, 600, 200] {
            let text = fit(&records, Tokens(room), &Quarters).unwrap();
            assert!(Quarters.text(&text).tokens.0 <= room, "{room}");
            if room >= 600 {
                assert_eq!(users(&text), 10, "{room}\n{text}");
            }
            let results = text.matches("Result:\nx").count();
            was.push((room, users(&text), results, text.matches("Assistant:").count()));
        }
        assert_eq!(
            was,
            [
                (8_000, 10, 10, 10),
                (5_000, 10, 10, 10),
                (2_500, 10, 10, 10),
                (1_600, 10, 0, 10),
                (1_000, 10, 0, 4),
                (600, 10, 0, 0),
                (200, 3, 0, 0)
            ]
        );
        // Records at both ends keep their full form longest.
        let text = fit(&records, Tokens(5_000), &Quarters).unwrap();
        let at = |needle: &str| text.find(needle).unwrap();
        let cut = |from: usize, to: usize| text[from..to].contains("1000 characters left out");
        assert!(cut(at("#4 Result"), at("#5 User")) && !cut(at("#20 Result"), at("#21 User")), "{text}");
    }

    #[test]
    fn one_endless_message_is_cut_at_both_ends() {
        let records = [PromptRecord {
            body: format!("begins{}ends", "y".repeat(2_000_000)),
            ..record(1, SpeakerKind::User, 0)
        }];
        let text = fit(&records, Tokens(3_000), &Quarters).unwrap();
        assert!(text.contains("begins") && text.trim_end().ends_with("ends") && text.len() < 12_000);
        assert_eq!(fit(&records, Tokens(3), &Quarters), None);
        assert_eq!(fit(&[], Tokens(0), &Quarters).as_deref(), Some(""));
    }

    proptest! {
        #[test]
        fn it_fits_or_says_that_it_cannot(
            kinds in proptest::collection::vec((0..6_usize, 0..5_000_usize), 0..40),
            room in 0_u64..5_000,
        ) {
            let all = [SpeakerKind::User, SpeakerKind::Assistant, SpeakerKind::Call, SpeakerKind::Result, SpeakerKind::Note, SpeakerKind::Earlier];
            let records: Vec<PromptRecord> =
                (1..).zip(kinds).map(|(seq, (kind, chars))| record(seq, all[kind], chars)).collect();
            match fit(&records, Tokens(room), &Quarters) {
                Some(text) => {
                    prop_assert!(Quarters.text(&text).tokens <= Tokens(room));
                    // Every position is either shown or covered by a mark.
                    for one in &records {
                        let is_shown = text.contains(&one.head);
                        let is_marked = text.lines().any(|line| {
                            let range = line.strip_prefix("⟨#").and_then(|rest| rest.split_once(": "));
                            let ends = range.and_then(|(range, _)| range.split_once(" to #"));
                            ends.is_some_and(|(from, to)| (from.parse().unwrap()..=to.parse().unwrap()).contains(&one.from.0))
                        });
                        prop_assert!(is_shown != is_marked, "{}\n{text}", one.head);
                    }
                }
                None => prop_assert!(room < 200),
            }
        }
    }
}
