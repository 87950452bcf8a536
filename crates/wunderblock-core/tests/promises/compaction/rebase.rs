//! Promise: a proposal remains valid while the session grows, as long as everything that it was made from is
//! unchanged.

use crate::compaction::rounds::{Round, climb, publish, round};
use crate::simulated::history::{History, Step, budget, config, new_history, steps};
use crate::simulated::lane::{show, view_of};
use proptest::prelude::*;
use std::collections::HashMap;
use wunderblock_core::budget::Treatment;
use wunderblock_core::compact::{Proposal, rebase};
use wunderblock_core::event::{ContentPinned, Fact, ViewTrimmed};
use wunderblock_core::id::{CallId, LaneId};
use wunderblock_core::message::{Message, Part};
use wunderblock_core::pair::{Exchange, arrange};
use wunderblock_core::plan::TrimReason;
use wunderblock_core::render::RenderedRequest;
use wunderblock_core::trim::treatment;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;

/// A proposal, with the session before it and the messages that arrived while it was being made.
struct Meanwhile {
    history: History,
    view: View,
    proposal: Proposal,
    later: Vec<Fact>,
}

fn meanwhile(first: &[Step], round: &Round, budget: wunderblock_core::budget::Budget) -> Meanwhile {
    let mut history = new_history();
    first.iter().for_each(|step| {
        history.play(step);
    });
    let upto = history.events.len();
    for step in &round.steps {
        if !matches!(
            step,
            Step::Pin(..) | Step::Hide(..) | Step::Erase(..) | Step::Elsewhere | Step::Shorten(..)
        ) {
            history.play(step);
        }
    }
    let later = history.events.split_off(upto).into_iter().filter_map(|event| event.fact).collect();
    let view = view_of(&history.events);
    let proposal = climb(&history, &view, budget, (&round.policy, round.level), &round.scribe).proposal;
    Meanwhile { history, view, proposal, later }
}

fn grown(history: &History, later: &[Fact]) -> History {
    let mut history = history.clone();
    later.iter().for_each(|fact| {
        history.append(fact.clone());
    });
    history
}

/// Returns the messages of a request, with calls named in the order of their occurrence. An id can contain a
/// position, and the positions of later messages differ.
fn messages(rendered: &RenderedRequest) -> Vec<Message> {
    let mut names: HashMap<CallId, CallId> = HashMap::new();
    let mut messages = rendered.request.messages.clone();
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Part::ToolCall { call, .. } | Part::ToolResult { call, .. } = part {
            let next = CallId::from(format!("call {}", names.len()));
            *call = names.entry(call.clone()).or_insert(next).clone();
        }
    }
    messages
}

/// Returns whether an exchange that the proposal consumes has changed, apart from the results it waited for.
fn is_touched(proposal: &Proposal, old: &View, new: &View) -> bool {
    let trim = proposal.trim.as_ref().unwrap();
    let formed = |seq: &Seq| trim.forms.iter().any(|((at, _), _)| at == seq);
    let now = arrange(new).exchanges.clone();
    arrange(old).exchanges.iter().any(|exchange: &Exchange| {
        let consumed = exchange.last < trim.drop_before || exchange.members.iter().any(formed);
        let same = now.iter().any(|other| {
            let there = exchange.members.iter().all(|seq| other.members.contains(seq));
            if exchange.is_waiting() {
                there
            } else {
                other.members == exchange.members && other.shape == exchange.shape
            }
        });
        consumed && !same
    })
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn messages_that_come_meanwhile_change_nothing(first in steps(30), round in round(12), budget in budget()) {
        let Meanwhile { mut history, view, proposal, later } = meanwhile(&first, &round, budget);
        let grown = grown(&history, &later);
        let wider = view_of(&grown.events);
        let rebased = rebase(&proposal, &view, &wider);
        if proposal.trim.is_none() {
            prop_assert_eq!(rebased, None);
            return Ok(());
        }
        let Some(rebased) = rebased else {
            prop_assert!(is_touched(&proposal, &view, &wider), "nothing it consumed has changed");
            return Ok(());
        };
        let mut after = grown;
        publish(&mut after, &rebased);
        publish(&mut history, &proposal);
        later.iter().for_each(|fact| {
            history.append(fact.clone());
        });
        let (at_once, rebased) = (view_of(&history.events), view_of(&after.events));
        let (at_once, rebased) = (show(&history, &at_once), show(&after, &rebased));
        let (some, others) = (messages(&rebased), messages(&at_once));
        for (one, other) in some.iter().zip(&others) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(some.len(), others.len());
        prop_assert_eq!(rebased.request.system, at_once.request.system);
    }

    #[test]
    fn what_was_consumed_must_be_as_it_was(
        first in steps(30), again in round(12), round in round(12), budget in budget(), share in any::<u16>()
    ) {
        // Two compactions, of which the second consumes summaries of the first.
        let Meanwhile { mut history, view, proposal, .. } = meanwhile(&first, &round, budget);
        if proposal.trim.is_some() {
            publish(&mut history, &proposal);
        }
        drop(view);
        again.steps.iter().for_each(|step| {
            history.play(step);
        });
        let view = view_of(&history.events);
        let climbed = climb(&history, &view, budget, (&again.policy, again.level), &again.scribe);
        let Some(trim) = climbed.proposal.trim.clone() else { return Ok(()) };
        prop_assert!(rebase(&climbed.proposal, &view, &view).is_some());
        let left = |exchange: &&Exchange| {
            exchange.last < trim.drop_before && treatment(exchange, view.trim(), &view) != Treatment::LeftOut
        };
        let exchanges = arrange(&view).exchanges.clone();
        let dropped = exchanges.iter().filter(left).flat_map(|exchange| exchange.members.clone());
        let summarised = climbed.proposal.nodes.iter().flat_map(|draft| {
            let sources = draft.job.sources.iter().copied().filter(|at| view.node(*at).is_some());
            sources.chain(draft.job.entries.iter().copied())
        });
        let consumed: Vec<Seq> = summarised.chain(dropped).collect();
        let Some(at) = consumed.get(usize::from(share) % consumed.len().max(1)).copied() else { return Ok(()) };
        let mut erased = history.clone();
        erased.erase_at(at, at);
        prop_assert_eq!(rebase(&climbed.proposal, &view, &view_of(&erased.events)), None, "{} was erased", at);
        let mut pinned = history.clone();
        let pin = !view.pinned().contains(&at);
        pinned.append(Fact::ContentPinned(ContentPinned { target: at, pinned: pin }));
        prop_assert_eq!(rebase(&climbed.proposal, &view, &view_of(&pinned.events)), None, "{} was pinned", at);
        let trimmed = ViewTrimmed { lane: LaneId::main(), trim, reason: TrimReason::OverBudget, target: None, compaction: None };
        history.append(Fact::ViewTrimmed(trimmed));
        prop_assert_eq!(rebase(&climbed.proposal, &view, &view_of(&history.events)), None, "the lane has stepped");
    }
}
