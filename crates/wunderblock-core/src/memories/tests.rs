//! Properties of the fold: whatever is written to a log, what it shows has a verdict.

use super::*;
use crate::id::{EventId, Scope, StreamId, TenantId};
use crate::record::event::{Event, EventSource, Fact};
use crate::record::memory::{
    Claim, ForgetReason, HoldReason, MemoryAuthor, MemoryChange, MemoryChanged, MemoryDeed, MemoryForgotten,
    MemoryKind, MemoryOpened, MemoryProposed, MemoryReviewed, MemoryVerdict,
};
use crate::record::message::Body;
use crate::units::{Millis, Seq};
use proptest::prelude::*;

fn authors() -> impl Strategy<Value = MemoryAuthor> {
    prop_oneof![
        Just(MemoryAuthor::Person("ada".into())),
        Just(MemoryAuthor::Model("small".into())),
        Just(MemoryAuthor::Policy("strict".into())),
        Just(MemoryAuthor::Host("program".into())),
        Just(MemoryAuthor::Agent("agent".into())),
    ]
}

/// Facts of a log, with positions that may name nothing.
fn facts() -> impl Strategy<Value = Fact> {
    let seq = || (1u64..12).prop_map(Seq);
    let change = prop_oneof![
        3 => Just(MemoryChange::Add),
        1 => seq().prop_map(MemoryChange::Revise),
        2 => seq().prop_map(MemoryChange::Supersede),
        1 => seq().prop_map(MemoryChange::Retract),
    ];
    let proposed = (change, authors(), any::<bool>()).prop_map(|(change, by, is_held)| {
        let claim = Some(Claim::new(MemoryKind::Fact, Body::from("a claim")));
        let held = if is_held { vec![HoldReason::Tainted] } else { Vec::new() };
        let (evidence, near) = (Vec::new(), Vec::new());
        Fact::MemoryProposed(Box::new(MemoryProposed {
            change,
            claim,
            by,
            evidence,
            near,
            held,
            spent: None,
        }))
    });
    let reviewed = (seq(), authors(), any::<bool>()).prop_map(|(proposal, by, is_approved)| {
        let verdict = if is_approved { MemoryVerdict::Approved } else { MemoryVerdict::Rejected };
        Fact::MemoryReviewed(MemoryReviewed { proposal, verdict, by, cause: None })
    });
    let deed = prop_oneof![
        4 => seq().prop_map(|proposal| MemoryDeed::Applied { proposal, edited: None }),
        1 => (seq(), seq()).prop_map(|(memory, to)| MemoryDeed::RolledBack { memory, to }),
        1 => seq().prop_map(|memory| MemoryDeed::Restored { memory }),
    ];
    let changed = (deed, authors())
        .prop_map(|(deed, by)| Fact::MemoryChanged(Box::new(MemoryChanged { deed, by, cause: None })));
    let forgotten = (prop::collection::vec(seq(), 0..3), authors()).prop_map(|(memories, by)| {
        Fact::MemoryForgotten(MemoryForgotten { memories, why: ForgetReason::Asked, by, cause: None })
    });
    prop_oneof![3 => proposed, 3 => reviewed, 4 => changed, 1 => forgotten]
}

fn events(facts: Vec<Fact>) -> Vec<Event> {
    let opened = Fact::MemoryOpened(MemoryOpened { scope: Scope::default() });
    let facts = std::iter::once(opened).chain(facts);
    let event = |(seq, fact): (u64, Fact)| Event {
        tenant: TenantId::local(),
        stream: StreamId::new("log").unwrap(),
        seq: Seq(seq),
        id: EventId::new(format!("e{seq}")).unwrap(),
        at: Millis(seq as i64),
        source: EventSource::Engine,
        fact: Some(fact),
        erased: None,
    };
    (1..).zip(facts).map(event).collect()
}

fn fold(events: &[Event]) -> MemoryLog {
    let mut log = MemoryLog::default();
    events.iter().for_each(|event| log.take(event));
    log
}

proptest! {
    #[test]
    fn what_a_log_shows_has_a_verdict_of_somebody_who_may_give_it(facts in prop::collection::vec(facts(), 0..40)) {
        let events = events(facts);
        let log = fold(&events);
        for memory in log.memories() {
            let proposal = log.proposal(memory.seq).unwrap();
            let ProposalState::Applied(by) = &proposal.state else { panic!("{proposal:?}") };
            prop_assert!(proposal.may_be_reviewed_by(by));
            let is_approved = |event: &Event| matches!(
                &event.fact,
                Some(Fact::MemoryReviewed(reviewed)) if reviewed.proposal == memory.seq
                    && reviewed.verdict == MemoryVerdict::Approved && reviewed.by == *by
            );
            prop_assert!(events.iter().any(is_approved));
            // What took a place came later, so there is no circle, and each has one at a time.
            if let MemoryState::Superseded(by) = memory.state() {
                prop_assert!(by > memory.seq && log.memory(by).is_some());
            }
            prop_assert!(memory.versions().windows(2).all(|pair| pair[0].seq < pair[1].seq));
        }
    }

    #[test]
    fn a_log_is_continued_as_it_would_be_folded_at_once(
        facts in prop::collection::vec(facts(), 0..40), cut in 0usize..40,
    ) {
        let events = events(facts);
        let mut log = fold(&events[..cut.min(events.len())]);
        events.iter().skip(cut).for_each(|event| log.take(event));
        prop_assert_eq!(log, fold(&events));
    }
}
