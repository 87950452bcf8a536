//! Entries of a session in a line each: who said it, when, with which tool, in which words, and what belongs to it.

use crate::error::Error;
use crate::session::Session;
use crate::stored::read_more_texts;
use crate::texts::Texts;
use std::collections::BTreeMap;
use wunderblock_core::describe::describe;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::pair::{Arrangement, arrange};
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::View;

/// Positions to either side in which the call of a result is looked for.
const AROUND: u64 = 48;
/// Bytes of text of such a stretch.
const TEXT: Bytes = Bytes(4 << 20);

/// One entry of a session, as a person would be told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDescription {
    /// Its position.
    pub seq: Seq,
    /// When it happened.
    pub at: Millis,
    /// Who said it; [`Role::Tool`] for results, whoever handed them in.
    pub role: Role,
    /// The tool it calls, or is a result of.
    pub tool: Option<String>,
    /// What it is, in a few words.
    pub what: String,
    /// The address that reads it, and nothing else.
    pub address: String,
    /// The other entries that stay or go with it: its reply, its results. Ascending.
    pub along: Vec<Seq>,
}

/// What entries are, by their positions. Positions that hold no message are missing from the answer.
pub(crate) async fn describe_entries(
    session: &Session,
    seqs: impl IntoIterator<Item = Seq>,
) -> Result<BTreeMap<Seq, EntryDescription>, Error> {
    let handle = session.info().await?.handle;
    let mut described = BTreeMap::new();
    for seq in seqs {
        let from = Seq(seq.0.saturating_sub(AROUND).max(1));
        let mut events = session.events(from, seq, (AROUND + 1, TEXT)).await?;
        let after = Seq(seq.0.saturating_add(AROUND));
        events.extend(session.events(seq.next(), after, (AROUND, TEXT)).await?);
        let mut view = View::new(LaneId::main());
        events.iter().filter(|event| is_said(event)).for_each(|event| view.apply(event));
        let Some(entry) = view.entry(seq) else { continue };
        let mut texts = Texts::default();
        let bodies = entry.message.parts.iter().flat_map(Part::bodies);
        read_more_texts(&session.engine, &mut texts, bodies.filter_map(Body::handle)).await?;
        described.insert(seq, description(seq, (&view, &arrange(&view)), (&texts, handle)));
    }
    Ok(described.into_iter().filter_map(|(seq, found)| Some((seq, found?))).collect())
}

fn is_said(event: &Event) -> bool {
    matches!(event.fact, Some(Fact::MessageAppended(_)))
}

/// What an entry of a view is.
pub(crate) fn description(
    seq: Seq,
    (view, arrangement): (&View, &Arrangement),
    (texts, stream): (&Texts, Handle),
) -> Option<EntryDescription> {
    let entry = view.entry(seq)?;
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
        tool: tool_of(seq, message, (view, arrangement)),
        what: describe(seq, message, view, texts),
        address: stream.range(seq, seq),
        along,
    })
}

/// Who says a message: a record that holds results only is a tool's, whoever handed it in.
pub(crate) fn speaker(message: &Message) -> Role {
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    if !message.parts.is_empty() && message.parts.iter().all(is_result) { Role::Tool } else { message.role }
}

/// The tool that a message calls first, or whose result it brings.
fn tool_of(seq: Seq, message: &Message, (view, arrangement): (&View, &Arrangement)) -> Option<String> {
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
