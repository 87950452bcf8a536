//! A lane in memory builds the same requests as the ledger's lane.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::prefix::{example, in_memory, reply_of};
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::in_memory::MemoryLane;
use wunderblock::policy::Policies;
use wunderblock::{Built, Compactor, ContextOptions, Error, Session};
use wunderblock_core::event::NewEvent;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Tokens;

/// A copy of a session in memory that receives the same events as the session.
#[derive(Default)]
pub(crate) struct Twin(Option<MemoryLane>);

impl Twin {
    /// Appends to the session and to its copy.
    pub(crate) fn append(&mut self, session: &Session, events: Vec<NewEvent>) {
        append_open(session, events.clone());
        match &mut self.0 {
            Some(memory) => {
                memory.append(open(events)).unwrap();
            }
            None => self.0 = Some(block_on(session.lane(LaneId::main()).in_memory()).unwrap()),
        }
    }

    /// Builds in memory what was built in the ledger, and compares the results.
    pub(crate) fn build(&mut self, options: &ContextOptions, ledger: Result<&Built, &Error>) {
        let memory = self.0.as_mut().unwrap();
        let explained = memory.explain(options);
        let (built, ledger) = match (memory.context(options), ledger) {
            (Ok(built), Ok(ledger)) => (built, ledger),
            (Err(error), Err(ledger)) => return assert_eq!(error.to_string(), ledger.to_string()),
            (built, ledger) => panic!("{:?}, in the ledger {:?}", built.map(|_| ()), ledger.map(|_| ())),
        };
        let at = ledger.recorded.unwrap();
        assert_eq!(built.recorded, Some(at));
        assert!(built.draft.body == ledger.draft.body, "the request at {at} is another one in memory");
        assert!(explained.unwrap().draft.body == built.draft.body, "what is explained is what is built");
        assert_eq!(built.draft.report.entries, ledger.draft.report.entries);
        // The ledger counts tokens in the background and the lane in memory counts them immediately, so tokens may be
        // estimated in the first and exact in the second.
        let gaps = |built: &Built| -> Vec<_> {
            let left_out = built.draft.report.left_out.iter();
            left_out
                .map(|gap| (gap.from_seq, gap.to_seq, gap.count, gap.reason, gap.handle.clone()))
                .collect()
        };
        assert_eq!(gaps(&built), gaps(ledger));
        assert_eq!(built.draft.cache, ledger.draft.cache);
        assert_eq!(built.draft.step, ledger.draft.step);
        assert_eq!(built.compacted.is_some(), ledger.compacted.is_some());
    }
}

/// Appends the events that callers may append. Only the engine records the beginning of a branch.
pub(crate) fn append_open(session: &Session, events: Vec<NewEvent>) {
    block_on(session.append(open(events))).unwrap();
}

fn open(events: Vec<NewEvent>) -> Vec<NewEvent> {
    events.into_iter().filter(|event| event.fact.is_open()).collect()
}

/// Appends the example session, with a request before every `every`-th reply. Returns the number of requests built.
fn example_told(every: usize, options: &ContextOptions) -> usize {
    let engine = in_memory();
    let session = engine.session_by_id(stream("told"));
    let (mut twin, mut built, mut replies, mut reply) = (Twin::default(), 0, 0, None);
    for event in example() {
        if let Some(id) = reply_of(&event)
            && reply.as_ref() != Some(&id)
        {
            replies += 1;
            reply = Some(id);
            if replies % every == 0 {
                let ledger = block_on(session.context(options));
                twin.build(options, ledger.as_ref());
                built += 1;
            }
        }
        twin.append(&session, vec![event]);
    }
    let ledger = block_on(session.context(options));
    twin.build(options, ledger.as_ref());
    built + 1
}

fn by(policy: &str, window: u64) -> ContextOptions {
    let policy = Policies::embedded().named(policy).unwrap();
    let compactor = Some(Compactor::new(Arc::clone(&policy)));
    ContextOptions { compactor, window: Some(Tokens(window)), ..ContextOptions::uncompacted() }
}

#[test]
fn a_lane_in_memory_steps_and_is_compacted_as_in_the_ledger() {
    let tight = ContextOptions { window: Some(Tokens(16_000)), ..ContextOptions::uncompacted() };
    assert!(example_told(24, &tight) > 10);
    assert!(example_told(24, &by("balanced", 40_000)) > 10);
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn a_lane_in_memory_builds_every_request_of_the_example_session() {
    let whole = |dialect| ContextOptions { dialect: Some(dialect), ..ContextOptions::uncompacted() };
    assert_eq!(example_told(1, &whole(Dialect::Anthropic)), 308);
    for dialect in DIALECTS.into_iter().filter(|dialect| *dialect != Dialect::Anthropic) {
        assert_eq!(example_told(4, &whole(dialect)), 77);
        let tight = ContextOptions { window: Some(Tokens(24_000)), ..whole(dialect) };
        assert_eq!(example_told(4, &tight), 77);
    }
    assert_eq!(example_told(1, &by("balanced", 60_000)), 308);
    assert_eq!(example_told(4, &by("claude-code", 60_000)), 77);
}
