//! Guard of a compaction: the exchanges that no step may change, and the cut before the protected tail.

use crate::lane::pair::{Arrangement, Exchange, ExchangeKind};
use crate::lane::trim;
use crate::lane::view::is_request;
use crate::planning::cost;
use crate::planning::plan::{self, PlanInput};
use crate::policy::{CutPoint, Policy};
use crate::record::budget::Treatment;
use crate::record::decision::Trim;
use crate::units::{Seq, Tokens};
use std::collections::BTreeSet;

/// Divisor of the available room: the protected tail takes at most half of it. A longer tail would leave too little
/// to gain, and the next compaction would follow immediately.
const TAIL_DIVISOR: u64 = 2;

/// Divisor of the user's share: a turn of more than a quarter of the share is skipped if it does not fit. One pasted
/// text must not push out everything else the user said.
const PASTED_DIVISOR: u64 = 4;

/// Content of a lane that a policy protects, decided once for a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// Exchanges that end before this position belong to the protected beginning.
    pub head: Seq,
    /// Exchanges that end at or after this position belong to the protected tail.
    pub cut: Seq,
    /// Speakers between `head` and `cut` that stay verbatim, ascending: the user's own turns, the newest turn by
    /// any author, the project's instructions, pins, waiting calls.
    pub keep: Vec<Seq>,
    /// Start of the user's turn inside which the tail begins; `None` if the tail begins with a turn.
    pub split: Option<Seq>,
}

/// Input of a rung.
#[derive(Clone, Copy)]
pub(super) struct RungInput<'a> {
    pub(super) ask: &'a PlanInput<'a>,
    pub(super) guard: &'a Guard,
    pub(super) arrangement: &'a Arrangement,
}

impl RungInput<'_> {
    /// Returns the exchanges that may be changed, in the order of a request.
    pub(super) fn free(&self) -> impl Iterator<Item = &Exchange> {
        self.arrangement.exchanges.iter().filter(|exchange| self.guard.is_free(exchange))
    }
}

impl Guard {
    /// Returns whether an exchange may be changed.
    #[must_use]
    pub fn is_free(&self, exchange: &Exchange) -> bool {
        (self.head..self.cut).contains(&exchange.last)
            && exchange.shape != ExchangeKind::System
            && !exchange.speakers.iter().any(|seq| self.keep.binary_search(seq).is_ok())
    }

    /// Returns the speakers that stay verbatim under a new frontier: the protected speakers before `drop_before`, and
    /// from there on the speakers that the old trim kept.
    pub(super) fn kept(&self, old: &Trim, drop_before: Seq) -> BTreeSet<Seq> {
        let before = self.keep.iter().filter(|seq| **seq < drop_before);
        before.chain(old.keep.iter().filter(|seq| **seq >= drop_before)).copied().collect()
    }
}

/// Returns the exchanges that a request shows, in the order in which they end, each with its tokens as shown.
#[must_use]
pub fn shown<'a>(ask: &PlanInput<'_>, arrangement: &'a Arrangement) -> Vec<(&'a Exchange, Tokens)> {
    let view = ask.view;
    let mut exchanges: Vec<(&Exchange, Tokens)> = Vec::with_capacity(arrangement.exchanges.len());
    for exchange in &arrangement.exchanges {
        let treatment = trim::treatment(exchange, view.trim(), view);
        let cost = || cost::exchange(exchange, view.trim(), view, ask.costs);
        let as_shown = match treatment {
            Treatment::LeftOut => continue,
            Treatment::Stub => cost().stub,
            Treatment::Clipped => cost::clipped(exchange, view.trim(), view, ask.costs, ask.bodies),
            Treatment::Verbatim | Treatment::Reduced => cost().verbatim,
        };
        exchanges.push((exchange, as_shown.tokens));
    }
    exchanges.sort_by_key(|(exchange, _)| exchange.last);
    exchanges
}

/// Decides which parts of a lane a policy protects.
#[must_use]
pub fn guard(policy: &Policy, ask: &PlanInput<'_>, arrangement: &Arrangement) -> Guard {
    let exchanges = shown(ask, arrangement);
    let newest = ask.view.newest_user();
    let reach = tail(policy, ask, &exchanges, newest);
    // The model has not answered the newest exchange yet, so no summary replaces it.
    let answers = exchanges.iter().rposition(|(exchange, _)| plan::is_said(exchange, ask.view));
    let mut tail = cut(policy, ask, &exchanges, reach).min(answers.unwrap_or_default());
    // A record with words beside a result can end two exchanges. The cut must not separate these exchanges.
    let ends = |index: usize| exchanges.get(index).map(|(exchange, _)| exchange.last);
    while tail > 0 && ends(tail) == ends(tail - 1) {
        tail -= 1;
    }
    let turn = |index: usize| exchanges.get(index).is_none_or(|(exchange, _)| is_turn(ask, exchange));
    let split = (!turn(tail)).then(|| (0..tail).rev().find(|index| turn(*index))).flatten();
    let before = exchanges.get(..tail).unwrap_or_default();
    let head = head(policy, before);
    let end_of = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| exchanges.get(before));
        before.map_or(Seq::START, |(exchange, _)| exchange.last.next())
    };
    Guard {
        head: end_of(head),
        cut: end_of(tail),
        keep: keep(policy, ask, before, newest),
        split: split.and_then(|index| exchanges.get(index)).map(|(exchange, _)| exchange.key),
    }
}

/// Returns the index of the tail's first exchange, by the policy's measures alone.
fn tail(
    policy: &Policy,
    ask: &PlanInput<'_>,
    exchanges: &[(&Exchange, Tokens)],
    newest: Option<Seq>,
) -> usize {
    let protect = &policy.protect;
    let all: Tokens = exchanges.iter().map(|(_, tokens)| *tokens).sum();
    let part = protect.window.of(ask.budget.window).max(protect.history.of(all));
    let part = protect.bounded(part, ask.budget.window);
    let (need_tokens, need_messages) = (part.max(protect.tokens), protect.messages);
    let open = |exchange: &Exchange| is_open(exchange, newest);
    let of_newest = |exchange: &Exchange| newest.is_some_and(|seq| exchange.speakers.contains(&seq));
    let first = |wanted: &dyn Fn(&Exchange) -> bool| {
        exchanges.iter().position(|(exchange, _)| wanted(exchange)).unwrap_or(exchanges.len())
    };
    let must = if protect.to_newest_user { first(&open).min(first(&of_newest)) } else { first(&open) };
    let must = must.min(turns(protect.turns, ask, exchanges));
    let (mut index, mut tokens, mut messages) = (exchanges.len(), Tokens::ZERO, 0);
    while let Some((exchange, cost)) = index.checked_sub(1).and_then(|before| exchanges.get(before)) {
        if index <= must && messages >= need_messages && tokens >= need_tokens {
            break;
        }
        tokens += *cost;
        messages += exchange.members.len() as u64;
        index -= 1;
    }
    index
}

/// Returns the index at which the newest `count` user turns begin.
fn turns(count: u64, ask: &PlanInput<'_>, exchanges: &[(&Exchange, Tokens)]) -> usize {
    let begins = exchanges.iter().enumerate().rev().filter(|(_, (exchange, _))| is_turn(ask, exchange));
    let newest = begins.take(usize::try_from(count).unwrap_or(usize::MAX));
    newest.last().map_or(exchanges.len(), |(index, _)| index)
}

/// Returns the index of the tail's first exchange after moving the cut to a place where the policy allows one. Gives
/// up the protection of content that does not fit.
fn cut(policy: &Policy, ask: &PlanInput<'_>, exchanges: &[(&Exchange, Tokens)], reach: usize) -> usize {
    let turn = |index: usize| exchanges.get(index).is_none_or(|(exchange, _)| is_turn(ask, exchange));
    let fixed: Tokens = ask.fixed.iter().map(|part| part.cost.tokens).sum();
    // Exchanges that stay before the tail take room, too: the operator's words, pins. Without these exchanges in the
    // sum, a compaction after a long system text ended above the limit.
    let stays = |exchange: &Exchange| trim::stays(exchange, ask.view.trim(), ask.view);
    let before = exchanges.iter().take(reach).filter(|(exchange, _)| stays(exchange));
    let fixed = fixed + before.map(|(_, tokens)| *tokens).sum::<Tokens>();
    let room = plan::limit(ask).tokens.saturating_sub(fixed);
    let max = Tokens(room.0 / TAIL_DIVISOR);
    let size = |from: usize| exchanges.iter().skip(from).map(|(_, tokens)| *tokens).sum::<Tokens>();
    let mut tail = match policy.split.at {
        CutPoint::Exchange if policy.split.forward => forward(policy, ask, exchanges, reach),
        CutPoint::Exchange => reach,
        CutPoint::User if policy.split.forward => {
            (reach..exchanges.len()).find(|index| turn(*index)).unwrap_or(reach)
        }
        CutPoint::User => {
            let back = (0..=reach).rev().find(|index| turn(*index));
            // A turn that makes up most of the conversation is cut inside, so that there is something to compact.
            back.filter(|index| *index > 0 && size(*index) <= max.max(size(reach))).unwrap_or(reach)
        }
    };
    let mut left = size(tail);
    while tail + 1 < exchanges.len() && left > max {
        left = left.saturating_sub(exchanges.get(tail).map_or(Tokens::ZERO, |(_, tokens)| *tokens));
        tail += 1;
    }
    tail
}

/// Moves the start of the tail past its first exchange if the results alone, without their calls, would be enough to
/// protect. A tail cannot begin with results, so it begins after them.
fn forward(policy: &Policy, ask: &PlanInput<'_>, exchanges: &[(&Exchange, Tokens)], reach: usize) -> usize {
    let Some((exchange, tokens)) = exchanges.get(reach).filter(|(exchange, _)| !exchange.calls().is_empty())
    else {
        return reach;
    };
    let size: Tokens = exchanges.iter().skip(reach).map(|(_, tokens)| *tokens).sum();
    let said = exchange.speakers.iter().filter_map(|seq| ask.view.entry(*seq));
    let said: Tokens = said.map(|entry| cost::sent(entry, ask.view.trim(), ask.costs).tokens).sum();
    let messages: u64 = exchanges.iter().skip(reach).map(|(exchange, _)| exchange.members.len() as u64).sum();
    let enough = size.saturating_sub(said.min(*tokens)) >= policy.protect.tokens
        && messages.saturating_sub(exchange.speakers.len() as u64) >= policy.protect.messages;
    if enough && reach + 1 < exchanges.len() { reach + 1 } else { reach }
}

/// Returns whether a call waits for its result and the user has not continued since.
pub(super) fn is_open(exchange: &Exchange, newest: Option<Seq>) -> bool {
    exchange.is_waiting() && newest.is_none_or(|user| exchange.last > user)
}

fn is_turn(ask: &PlanInput<'_>, exchange: &Exchange) -> bool {
    let said = |seq: &Seq| ask.view.entry(*seq).is_some_and(|entry| is_request(ask.view, entry));
    exchange.shape == ExchangeKind::User && exchange.speakers.iter().any(said)
}

/// Returns the number of exchanges in the protected beginning.
fn head(policy: &Policy, before: &[(&Exchange, Tokens)]) -> usize {
    let mut messages = 0;
    let within = |(exchange, _): &&(&Exchange, Tokens)| {
        let more = messages < policy.protect.first;
        messages += exchange.members.len() as u64;
        more
    };
    before.iter().take_while(within).count()
}

/// Returns the speakers kept before the tail: the user's newest turns up to the policy's tokens, turns within the
/// user's share, the newest turn by any author, the project's instructions, pins, and waiting calls. Waiting calls are
/// included if there was no room for a tail that reaches back to them.
fn keep(
    policy: &Policy,
    ask: &PlanInput<'_>,
    before: &[(&Exchange, Tokens)],
    newest: Option<Seq>,
) -> Vec<Seq> {
    let mut keep: BTreeSet<Seq> = BTreeSet::new();
    let turns = || before.iter().filter(|(exchange, _)| is_turn(ask, exchange));
    let mut room = policy.protect.user_tokens;
    for (exchange, tokens) in turns().rev() {
        if newest.is_some_and(|seq| exchange.speakers.contains(&seq)) || *tokens <= room {
            keep.extend(&exchange.speakers);
            room = room.saturating_sub(*tokens);
        } else {
            // The first turn that does not fit ends the list, so that the kept turns are the newest without gaps.
            room = Tokens::ZERO;
        }
    }
    let share = policy.protect.user_share.of(plan::limit(ask).tokens);
    let mut room = share;
    for (exchange, tokens) in turns().next().into_iter().chain(turns().rev()) {
        if exchange.speakers.iter().all(|seq| keep.contains(seq)) {
            continue;
        }
        if *tokens <= room {
            keep.extend(&exchange.speakers);
            room = room.saturating_sub(*tokens);
        } else if *tokens <= Tokens(share.0 / PASTED_DIVISOR) {
            break;
        }
    }
    // The newest turn is the model's present work, by any author.
    let always = |exchange: &Exchange| {
        exchange.members.iter().any(|seq| ask.view.pinned().contains(seq))
            || newest.is_some_and(|seq| exchange.speakers.contains(&seq))
            || is_open(exchange, newest)
    };
    // Only the latest instructions count.
    let latest = before.iter().rev().find(|(exchange, _)| plan::instructs(exchange, ask.view));
    let latest = latest.filter(|(_, tokens)| *tokens <= plan::instructions_max(ask.budget.window));
    let stays = before.iter().filter(|(exchange, _)| always(exchange));
    for (exchange, _) in stays.chain(latest) {
        keep.extend(&exchange.speakers);
    }
    keep.into_iter().collect()
}
