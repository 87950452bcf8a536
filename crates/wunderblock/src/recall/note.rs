//! Notes: texts that a model leaves in a session for later sessions. Searches find them, and no request contains them.
//!
//! A note is a message whose origin keeps it out of requests, of summaries and of recall, whatever is pinned. Hiding
//! an ordinary message would not: a person could show it again, and a summary is not shown while it covers a hidden
//! position.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::session::Session;
use crate::limits::{NOTE_BYTES, NOTE_NAME};
use crate::recall::grep::GrepOptions;
use std::ops::ControlFlow;
use wunderblock_core::event::{Event, EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::fence::plain;
use wunderblock_core::id::EventId;
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::head;
use wunderblock_core::units::{Bytes, Millis, Seq};

/// A note in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedNote {
    /// Position of the note.
    pub seq: Seq,
    /// Time at which it was saved.
    pub at: Millis,
    /// Text of the note, after the label `note by NAME: `.
    pub text: String,
    /// Address that reads the note.
    pub address: String,
}

/// Beginning of the label of a note. The name of the writer follows.
const LABEL: &str = "note by ";

impl SavedNote {
    /// Saves a note in a session. `by` names the model that wrote the note. If the session already has this note,
    /// nothing is saved again.
    ///
    /// # Errors
    /// Fails if the text is empty or longer than [`NOTE_BYTES`], or if the ledger cannot be written.
    pub fn save<'a>(session: &'a Session, text: &'a str, by: &'a str) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let text = text.trim();
            if text.is_empty() {
                return Err(Error::Note("the note is empty; give its text".to_owned()));
            }
            if text.len() > NOTE_BYTES {
                let bytes = text.len();
                return Err(Error::Note(format!(
                    "the note has {bytes} bytes; the maximum is {NOTE_BYTES}; save what matters of it, or several notes"
                )));
            }
            let info = session.info().await?;
            let engine = session.engine();
            let label = format!("{LABEL}{}", head(plain(by).trim(), NOTE_NAME));
            let text = format!("{label}: {text}");
            let message =
                Message::text(Role::Assistant, text.as_str()).standing(MessageOrigin::Aside(label.into()));
            let at = engine.now();
            let event = NewEvent {
                id: EventId::new(format!("note:{}", blake3::hash(text.as_bytes()).to_hex()))?,
                at,
                source: EventSource::Live,
                fact: Fact::MessageAppended(MessageAppended { message }),
            };
            let saved = session.append(event).await?;
            let seq = saved.first().map(|saved| saved.seq).ok_or_else(crate::ledger::engine::unexpected)?;
            Ok(Self { seq, at, text, address: info.handle.range(seq, seq) })
        })
    }

    /// Returns the notes of a session, newest first.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be read.
    pub fn list<'a>(session: &'a Session, limit: usize) -> BoxFuture<'a, Vec<Self>> {
        Box::pin(async move {
            let (info, engine) = (session.info().await?, session.engine());
            let mut seqs = Vec::new();
            let options =
                GrepOptions { session: Some(info.id.clone()), messages_only: true, ..GrepOptions::default() };
            let mut found = |line: crate::recall::grep::Match| {
                let is_first = line.line == 1 && line.role == Role::Assistant && line.found.start == 0;
                if is_first && seqs.last() != Some(&line.seq) {
                    seqs.push(line.seq);
                }
                ControlFlow::Continue(())
            };
            engine.recall().grep(LABEL, &options, &mut found).await?;
            let mut notes = Vec::new();
            for seq in seqs {
                if notes.len() >= limit {
                    break;
                }
                let events = session.events(seq, seq, 1, Bytes(1 << 20)).await?;
                for event in &events {
                    let text = text_of(engine, event).await?;
                    let address = info.handle.range(seq, seq);
                    notes.extend(text.map(|text| Self { seq, at: event.at, text, address }));
                }
            }
            Ok(notes)
        })
    }
}

/// Returns the text of an event that is a note.
async fn text_of(engine: &Engine, event: &Event) -> Result<Option<String>, Error> {
    let Some(Fact::MessageAppended(said)) = &event.fact else { return Ok(None) };
    let is_note = matches!(&said.message.standing, MessageOrigin::Aside(label) if label.starts_with(LABEL));
    let [Part::Text { text, .. }] = said.message.parts.as_slice() else { return Ok(None) };
    if !is_note {
        return Ok(None);
    }
    let bodies = engine.bodies(std::slice::from_ref(event)).await?;
    let text = text.inline().or_else(|| bodies.text(text.handle()?));
    Ok(text.map(ToOwned::to_owned))
}
