//! Recall: texts that are brought back into a request because they were asked for and are not shown in full.

use super::fit::longest_that;
use super::{ExchangeCosts, PlanInput};
use crate::form::stub::{self, Stubbed, WholeText};
use crate::lane::pair::arrange;
use crate::lane::trim::treatment;
use crate::lane::view::View;
use crate::planning::cost;
use crate::planning::plan::Injection;
use crate::record::budget::Treatment;
use crate::record::decision::Trim;
use crate::record::message::{Body, MessageOrigin};
use crate::source::section::Section;
use crate::units::{Bytes, Cost, Seq, Tokens};
use std::collections::BTreeSet;

/// Minimum length of a part of a text that is worth sending, in bytes: below it, a mark says as much.
const MIN_PART: Bytes = Bytes(256);

/// A text that the newest turn asks for by name.
#[derive(Clone, Debug)]
pub struct AskedText {
    /// The whole text, as it would enter.
    pub whole: Injection,
    /// Maximum number of tokens that the text may take.
    pub most: Tokens,
    /// First byte, and one past the last byte, of the part that is asked for. Without it, a text that is too long keeps
    /// its head and tail.
    pub part: Option<(Bytes, Bytes)>,
}

/// What becomes of a text that the newest turn asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recalled {
    /// It enters at the tail, whole or cut.
    Enters(Box<Injection>),
    /// The request shows it already.
    Shown,
    /// Not even a part of it fits.
    NoRoom {
        /// Number of tokens of the whole text.
        needs: Tokens,
        /// Number of tokens that were left for it.
        had: Tokens,
    },
}

/// Returns what becomes of each text that the newest turn asks for, in the request that a trim shows. The request has
/// everything else that it will show, so nothing has to go for these texts.
#[must_use]
pub fn recall(ask: &PlanInput<'_>, trim: &Trim, asked: &[AskedText]) -> Vec<Recalled> {
    let arrangement = arrange(ask.view);
    let scale = ExchangeCosts::new(ask, &arrangement, trim);
    let mut left = scale.room_of_recall(trim);
    let mut answers = vec![Recalled::Shown; asked.len()];
    let texts = asked.iter().enumerate().filter(|(_, one)| !scale.shows(&one.whole, trim));
    let mut texts: Vec<_> =
        texts.map(|(place, one)| (cost::injection(&one.whole, ask.costs), place, one)).collect();
    // The shortest come first: what they do not need is left for the longer ones.
    texts.sort_by_key(|(cost, place, _)| (cost.tokens, *place));
    let mut rest = texts.len() as u64;
    for (cost, place, one) in texts {
        let share = Cost::new((left.tokens.0 / rest).min(one.most.0), left.bytes.0 / rest);
        rest -= 1;
        let enters = if cost.fits(share) { Some((one.whole.clone(), cost)) } else { scale.part(one, share) };
        let answer = match enters {
            Some((item, cost)) => {
                left = left.saturating_sub(cost);
                Recalled::Enters(Box::new(item))
            }
            None => Recalled::NoRoom { needs: cost.tokens, had: share.tokens },
        };
        if let Some(slot) = answers.get_mut(place) {
            *slot = answer;
        }
    }
    answers
}

/// Returns the best hits that fit into half of the room that the request of a trim leaves, and into the share of what is
/// recalled.
#[must_use]
pub fn returning(ask: &PlanInput<'_>, trim: &Trim) -> Vec<Injection> {
    ExchangeCosts::new(ask, &arrange(ask.view), trim).returning(trim)
}

/// Returns the positions of the entries whose texts the request of a trim shows.
#[must_use]
pub fn shown_entries(view: &View, trim: &Trim) -> BTreeSet<Seq> {
    let is_kept = |seq: &Seq| {
        let parts = view.entry(*seq).into_iter().flat_map(|entry| &entry.message.parts);
        parts.into_iter().all(|part| stub::part(part, None) == Stubbed::Kept)
    };
    let arrangement = arrange(view);
    let shown = arrangement.exchanges.iter().flat_map(|exchange| {
        let form = treatment(exchange, trim, view);
        exchange.members.iter().copied().filter(move |seq| match form {
            Treatment::LeftOut => false,
            Treatment::Stub => is_kept(seq),
            Treatment::Verbatim | Treatment::Clipped | Treatment::Reduced => true,
        })
    });
    shown.collect()
}

impl ExchangeCosts<'_> {
    /// Returns the best hits that fit into half of the remaining room.
    pub(super) fn returning(&self, trim: &Trim) -> Vec<Injection> {
        if self.ask.hits.is_empty() {
            return Vec::new();
        }
        let mut left = self.room_of_recall(trim);
        let mut items: Vec<Injection> = Vec::new();
        for hit in self.ask.hits {
            if items.iter().any(|item| item.body == hit.body) || self.shows(hit, trim) {
                continue;
            }
            let cost = cost::injection(hit, self.ask.costs);
            if cost.fits(left) {
                left = left.saturating_sub(cost);
                items.push(hit.clone());
            }
        }
        items
    }

    /// Returns half of the room that a request leaves, and in tokens at most the section's share.
    fn room_of_recall(&self, trim: &Trim) -> Cost {
        let room = self.limit.saturating_sub(self.total(trim));
        Cost { tokens: Tokens(room.tokens.0 / 2).min(self.ask.recall), bytes: Bytes(room.bytes.0 / 2) }
    }

    /// Returns the longest part of a text that fits into a share, with its cost.
    fn part(&self, one: &AskedText, share: Cost) -> Option<(Injection, Cost)> {
        let text = self.ask.bodies.of(&one.whole.body)?;
        let handle = one.whole.part_of.or(one.whole.body.handle())?;
        // A part of a body has no places of its own, so its mark leads to the event.
        let whole = match one.whole.part_of {
            Some(_) => WholeText::Position(self.ask.stream, one.whole.from_seq),
            None => WholeText::Body(handle),
        };
        let part = |keep: Bytes| {
            let half = usize::try_from(keep.0 / 2).unwrap_or(usize::MAX);
            let body = match one.part {
                Some((from, to)) => stub::around(text, from, to, keep, whole),
                None => stub::ends(text, half, half, whole),
            };
            let what = name_of_part(&one.whole);
            Injection { body: body.into(), what, part_of: Some(handle), ..one.whole.clone() }
        };
        let fits = |keep: Bytes| cost::injection(&part(keep), self.ask.costs).fits(share);
        let longest = one.whole.body.bytes();
        (longest > MIN_PART && fits(MIN_PART)).then(|| {
            let item = part(longest_that(fits, MIN_PART, longest));
            let cost = cost::injection(&item, self.ask.costs);
            (item, cost)
        })
    }

    /// Returns whether the request already shows all of a hit's text, at its own position or where it was brought
    /// back before, whole or in part.
    fn shows(&self, hit: &Injection, trim: &Trim) -> bool {
        let view = self.ask.view;
        let part = view.lane().last_injected(Section::Recall, &name_of_part(hit)).map(|(at, _)| at);
        self.exchanges.iter().any(|(exchange, _)| {
            let is_there = |seq: &Seq| {
                let Some(entry) = view.entry(*seq) else { return false };
                let may = *seq == hit.from_seq
                    || matches!(entry.message.standing, MessageOrigin::Injected(_))
                    || matches!(hit.body, Body::Blob { .. });
                let whole = |index: usize| {
                    trim.form_of((*seq, index)).is_none() && view.standing((*seq, index)).is_none()
                };
                let whole = entry.message.parts.iter().enumerate().filter(|(index, _)| whole(*index));
                part == Some(*seq)
                    || may && whole.flat_map(|(_, part)| part.bodies()).any(|body| *body == hit.body)
            };
            // An exchange that answers the newest turn is at hand, however it is shown.
            let is_at_hand = self.newest.is_some_and(|newest| hit.from_seq > newest)
                && exchange.members.contains(&hit.from_seq);
            match treatment(exchange, trim, view) {
                Treatment::Verbatim => is_at_hand || exchange.members.iter().any(is_there),
                Treatment::Clipped | Treatment::Reduced => is_at_hand,
                Treatment::Stub | Treatment::LeftOut => false,
            }
        })
    }
}

/// Returns the name under which a part of a text enters.
fn name_of_part(whole: &Injection) -> Box<str> {
    let of = whole.part_of.or(whole.body.handle()).map(|handle| format!(", a part of {handle}"));
    format!("{}{}", whole.what, of.unwrap_or_default()).into()
}
