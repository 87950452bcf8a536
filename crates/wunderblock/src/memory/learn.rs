//! Learning by rules: what persons have stated in sessions becomes proposals. It reads typed text only, asks no model,
//! and decides nothing.

use super::new::{NewClaim, NewEvidence, NewMemory};
use super::report::MemoryWritten;
use super::write::propose;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::lineage_of;
use crate::ledger::reading::stored::{decode_event, read_texts};
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use serde::Serialize;
use wunderblock_core::author::Author;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_core::memory::{MemoryAuthor, MemoryKind};
use wunderblock_core::message::{Body, Message, Role};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder, StreamInfo};
use wunderblock_summary::standing::stated_rules;

/// Version of the rules, which their proposals state.
const VERSION: &str = "1";
/// Minimum weight of a sentence that is proposed: it applies to later work, and not only to the task at hand.
const SURE: i32 = 5;
/// Minimum and maximum number of bytes of a sentence that is a claim of its own.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=400;

/// What learning has read and proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryLearned {
    /// Number of sessions that were read.
    pub sessions: u64,
    /// Number of messages of persons that were read.
    pub messages: u64,
    /// Length of their texts.
    pub text: Bytes,
    /// What became of what was found.
    pub written: MemoryWritten,
}

/// Proposes to a log what persons have stated in sessions.
pub(super) async fn learn(
    engine: &Engine,
    scope: &Scope,
    sessions: Vec<StreamInfo>,
) -> Result<MemoryLearned, Error> {
    let mut learned = MemoryLearned::default();
    let mut items = Vec::new();
    for info in sessions {
        learned.sessions += 1;
        // A fork is read from its own positions on: the earlier ones belong to the session that it continues.
        let own = lineage_of(engine, &info.id).await?.into_iter().filter(|stretch| stretch.no == info.no);
        let mut from = own.map(|stretch| stretch.from).min().unwrap_or(Seq::START.next());
        while from <= info.head {
            let query = Query::Events {
                tenant: engine.tenant.no,
                stream: info.id.clone(),
                from,
                to: info.head,
                order: ReadOrder::Ascending,
                limit: CATCH_UP_EVENTS,
                text: CATCH_UP_BYTES,
                counts: false,
                filter: EventFilter {
                    role: Some(Role::User),
                    author: Some(Author::Person),
                    ..EventFilter::default()
                },
            };
            let rows = engine.ask(query, Answer::events).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            from = last.next();
            let events: Result<Vec<_>, _> =
                rows.iter().map(|row| decode_event(engine, &info.id, row)).collect();
            let events = events?;
            let bodies = events.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::bodies);
            let texts = read_texts(engine, bodies.filter_map(Body::handle)).await?;
            for event in &events {
                let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
                learned.messages += 1;
                learned.text = Bytes(learned.text.0 + length(&said.message));
                let rules = stated_rules(&said.message, &texts);
                let rules =
                    rules.iter().filter(|rule| rule.weight >= SURE && LENGTHS.contains(&rule.text.len()));
                items.extend(rules.map(|rule| item(&info.id, event.seq, rule.text)));
            }
        }
    }
    learned.written = propose(engine, scope, &items, &MemoryAuthor::Rules(VERSION.into())).await?;
    Ok(learned)
}

fn length(message: &Message) -> u64 {
    message.parts.iter().flat_map(|part| part.leaves()).map(|(_, body)| body.bytes().0).sum()
}

fn item(stream: &StreamId, seq: Seq, text: &str) -> NewMemory {
    let evidence = NewEvidence { stream: stream.clone(), seq, quote: text.to_owned() };
    let claim = NewClaim { confidence: 80, ..NewClaim::new(kind_of(text), text) };
    NewMemory { evidence: vec![evidence], ..NewMemory::of(claim) }
}

/// Words by which a person states a wish about how they are served, in English and Chinese.
const WISHES: [&str; 14] = [
    "i prefer",
    "i like",
    "i want",
    "i hate",
    "i\u{2019}d rather",
    "i'd rather",
    "answer",
    "reply",
    "respond",
    "explain",
    "我喜欢",
    "我希望",
    "我更",
    "回答",
];

/// Returns the kind of a stated rule: a preference, if it is about what the person wants, and else a procedure.
fn kind_of(text: &str) -> MemoryKind {
    let lower = text.to_lowercase();
    if WISHES.iter().any(|word| lower.contains(word)) {
        MemoryKind::Preference
    } else {
        MemoryKind::Procedure
    }
}
