//! Ladder rung that leaves out useless content: old thinking, empty or failed replies, repeated messages.

use crate::compact::guard::RungInput;
use crate::lane::pair::{Exchange, ExchangeKind};
use crate::planning::plan::PlanInput;
use crate::record::budget::Reason;
use crate::record::decision::{PartForm, PartPosition};
use crate::record::message::{Part, Role};
use crate::units::Seq;
use std::collections::{BTreeMap, HashSet};

/// Returns the forms that the rules give to unprotected parts. The rules are those of
/// [`Action::Curate`](crate::policy::Action::Curate).
pub(in crate::compact) fn curate(
    input: RungInput<'_>,
    thinking_after: Option<u64>,
    invalid_runs: bool,
    placeholder: bool,
    is_repeated: bool,
) -> BTreeMap<PartPosition, PartForm> {
    let mut forms = BTreeMap::new();
    if let Some(turns) = thinking_after {
        let before = newest_turn(input.ask, turns);
        for exchange in input.free().filter(|exchange| exchange.last < before) {
            thinking(input.ask, exchange, placeholder, &mut forms);
        }
    }
    // With `invalid_runs`, an empty reply is left out with its whole run, so there is nothing to mark.
    if placeholder && !invalid_runs {
        empty(input, &mut forms);
    }
    if is_repeated {
        repeated(input, &mut forms);
    }
    if invalid_runs {
        invalid(input, &mut forms);
    }
    forms
}

/// Returns the position at which the newest `turns` user turns begin.
fn newest_turn(ask: &PlanInput<'_>, turns: u64) -> Seq {
    let turns = usize::try_from(turns).unwrap_or(usize::MAX);
    let begins = ask.view.entries().rev().filter(|entry| entry.message.is_user_turn()).take(turns);
    begins.last().map_or(ask.view.head().next(), |entry| entry.seq)
}

fn thinking(
    ask: &PlanInput<'_>,
    exchange: &Exchange,
    placeholder: bool,
    forms: &mut BTreeMap<PartPosition, PartForm>,
) {
    for entry in exchange.speakers.iter().filter_map(|seq| ask.view.entry(*seq)) {
        let places = entry.message.parts.iter().enumerate();
        let thoughts: Vec<usize> = places
            .filter(|(_, part)| matches!(part, Part::Thinking { .. }))
            .map(|(index, _)| index)
            .collect();
        // A reply that consisted of thinking alone keeps one placeholder.
        let silent = !entry.message.own_parts().any(Part::speaks);
        for (nth, index) in thoughts.into_iter().enumerate() {
            let form = if silent && placeholder && nth == 0 { PartForm::Placeholder } else { PartForm::Gone };
            forms.insert((entry.seq, index), form);
        }
    }
}

/// Marks unprotected replies that have no content, or only thinking, with a placeholder. Without the mark, no request
/// shows these replies.
fn empty(input: RungInput<'_>, forms: &mut BTreeMap<PartPosition, PartForm>) {
    let RungInput { ask, guard, arrangement } = input;
    let api_id = |seq: &Seq| ask.view.entry(*seq).and_then(|entry| entry.message.api_id.as_deref());
    let speaks: HashSet<&str> =
        arrangement.exchanges.iter().flat_map(|exchange| &exchange.speakers).filter_map(api_id).collect();
    let mut marked: HashSet<&str> = HashSet::new();
    let silent = arrangement.aside.iter().filter(|(_, reason)| *reason == Reason::Empty);
    for entry in silent.filter_map(|(seq, _)| ask.view.entry(*seq)) {
        let message = &entry.message;
        let id = message.api_id.as_deref();
        let is_free =
            (guard.head..guard.cut).contains(&entry.seq) && entry.seq >= ask.view.trim().stub_before;
        let is_reply = message.role == Role::Assistant && message.own_parts().count() == message.parts.len();
        // One reply can span several records: if one of them speaks, the silent ones need no mark.
        if !is_free || !is_reply || id.is_some_and(|id| speaks.contains(id)) {
            continue;
        }
        forms.extend((0..message.parts.len()).map(|index| ((entry.seq, index), PartForm::Gone)));
        if id.is_none_or(|id| marked.insert(id)) {
            forms.insert((entry.seq, 0), PartForm::Placeholder);
        }
    }
}

/// Leaves out a user message that the next exchange repeats word for word. The newest copy stays.
fn repeated(input: RungInput<'_>, forms: &mut BTreeMap<PartPosition, PartForm>) {
    let RungInput { ask, guard, arrangement } = input;
    for pair in arrangement.exchanges.windows(2) {
        let [first, second] = pair else { continue };
        let words = |exchange: &Exchange| {
            let entries = exchange.speakers.iter().filter_map(|seq| ask.view.entry(*seq));
            let parts = entries.flat_map(|entry| entry.message.own_parts());
            (exchange.shape == ExchangeKind::User).then(|| parts.cloned().collect::<Vec<Part>>())
        };
        if guard.is_free(first) && words(first).is_some() && words(first) == words(second) {
            forms
                .extend(crate::planning::presentation::parts(first, ask.view).map(|at| (at, PartForm::Gone)));
        }
    }
}

/// Leaves out whole runs of replies without calls if one of the replies is empty or failed.
fn invalid(input: RungInput<'_>, forms: &mut BTreeMap<PartPosition, PartForm>) {
    let RungInput { ask, guard, arrangement } = input;
    let bad: HashSet<Seq> = arrangement
        .aside
        .iter()
        .filter(|(_, reason)| matches!(reason, Reason::Empty | Reason::FailedTurn))
        .map(|(at, _)| *at)
        .collect();
    let is_bad = |seq: Seq| {
        bad.contains(&seq) && ask.view.entry(seq).is_some_and(|entry| entry.message.role == Role::Assistant)
    };
    let mut run: Vec<Seq> = Vec::new();
    let mut is_broken = false;
    let mut gone: Vec<Seq> = Vec::new();
    for entry in ask.view.entries() {
        if entry.message.role == Role::Assistant && entry.message.calls().next().is_none() {
            is_broken |= is_bad(entry.seq);
            run.push(entry.seq);
            continue;
        }
        gone.extend(std::mem::take(&mut run).into_iter().filter(|_| is_broken));
        is_broken = false;
    }
    gone.extend(run.into_iter().filter(|_| is_broken));
    let whole = |exchange: &&Exchange| {
        guard.is_free(exchange) && exchange.speakers.iter().all(|seq| gone.binary_search(seq).is_ok())
    };
    for exchange in arrangement.exchanges.iter().filter(whole) {
        forms.extend(crate::planning::presentation::parts(exchange, ask.view).map(|at| (at, PartForm::Gone)));
    }
}
