//! Describes each entry of a session in one line: its speaker, time, tool and content, and the entries that belong to
//! it.

use crate::base::error::Error;
use crate::ledger::reading::stored::read_more_texts;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use std::collections::BTreeMap;
use wunderblock_core::describe::describe;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::pair::{Arrangement, arrange};
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::View;

/// Number of positions searched on each side of an entry for the calls and results that belong to it.
const AROUND: u64 = 48;
/// Maximum number of bytes of text read on each side of an entry.
const TEXT: Bytes = Bytes(4 << 20);

/// Human-readable description of one entry of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDescription {
    /// Position of the entry.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Speaker of the entry: [`Role::Tool`] for tool results, even if the message that holds them has another role.
    pub role: Role,
    /// Tool that the entry calls, or whose result it holds.
    pub tool: Option<String>,
    /// Content in a few words, in which secrets are masked.
    pub what: String,
    /// Address for reading exactly this entry.
    pub address: String,
    /// Other entries that are kept or left out together with this one, such as its call or its results. Ascending.
    pub along: Vec<Seq>,
}

/// Describes the entries at the given positions. The result omits positions that hold no message.
pub(crate) async fn describe_entries(
    session: &Session,
    seqs: impl IntoIterator<Item = Seq>,
) -> Result<BTreeMap<Seq, EntryDescription>, Error> {
    let handle = session.info().await?.handle;
    let mut described = BTreeMap::new();
    for seq in seqs {
        let from = Seq(seq.0.saturating_sub(AROUND).max(1));
        let mut events = session.events(from, seq, AROUND + 1, TEXT).await?;
        let after = Seq(seq.0.saturating_add(AROUND));
        events.extend(session.events(seq.next(), after, AROUND, TEXT).await?);
        let mut view = View::new(LaneId::main());
        events.iter().filter(|event| is_said(event)).for_each(|event| view.apply(event));
        let Some(entry) = view.entry(seq) else { continue };
        let mut texts = Texts::default();
        let bodies = entry.message.parts.iter().flat_map(Part::bodies);
        read_more_texts(&session.engine, &mut texts, bodies.filter_map(Body::handle)).await?;
        let found = description(seq, &view, &texts, session, handle);
        described.extend(found.map(|found| (seq, found)));
    }
    Ok(described)
}

fn is_said(event: &Event) -> bool {
    matches!(event.fact, Some(Fact::MessageAppended(_)))
}

/// Describes one entry of a view.
fn description(
    seq: Seq,
    view: &View,
    texts: &Texts,
    session: &Session,
    stream: Handle,
) -> Option<EntryDescription> {
    let (entry, arrangement) = (view.entry(seq)?, arrange(view));
    let message = &entry.message;
    let mut along: Vec<Seq> = arrangement
        .exchanges
        .iter()
        .filter(|exchange| exchange.members.contains(&seq))
        .flat_map(|exchange| exchange.members.iter().copied())
        .filter(|other| *other != seq)
        .collect();
    along.sort_unstable();
    along.dedup();
    Some(EntryDescription {
        seq,
        at: entry.at,
        role: speaker(message),
        tool: tool_of(seq, message, view, &arrangement),
        what: describe(seq, message, view, texts, &|text| session.engine.config.redactor.mask(text)),
        address: stream.range(seq, seq),
        along,
    })
}

/// Returns the speaker of a message: [`Role::Tool`] if it holds only tool results, whatever its own role.
pub(crate) fn speaker(message: &Message) -> Role {
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    if !message.parts.is_empty() && message.parts.iter().all(is_result) { Role::Tool } else { message.role }
}

/// Returns the first tool that a message calls, or the tool whose result it holds.
fn tool_of(seq: Seq, message: &Message, view: &View, arrangement: &Arrangement) -> Option<String> {
    let called = message.parts.iter().find_map(|part| match part {
        Part::ToolCall { name, .. } => Some(name.to_string()),
        _ => None,
    });
    let answered = || {
        let calls = arrangement.exchanges.iter().flat_map(|exchange| exchange.calls());
        let call = calls.into_iter().find(|call| call.result.is_some_and(|(at, _)| at == seq))?;
        match view.part(call.place)? {
            Part::ToolCall { name, .. } => Some(name.to_string()),
            _ => None,
        }
    };
    called.or_else(answered)
}
