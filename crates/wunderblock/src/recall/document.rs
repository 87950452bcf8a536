//! What search can find. Every derived table that search reads is made from documents, and every place that asks which
//! events have searchable texts asks here.

use wunderblock_core::event::Fact;
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_index::{Day, DocKey, Passage, Voice, VoiceRole, passages};
use wunderblock_store::StreamNo;

/// An event with texts that search can find.
pub(crate) struct Document<'f> {
    /// Place of the event, which is the name of the document in derived tables.
    pub(crate) key: DocKey,
    pub(crate) kind: DocumentKind,
    /// Texts of the document, in order.
    pub(crate) texts: Vec<DocumentText<'f>>,
    /// Name of the speaker, if the message states one.
    name: Option<String>,
    day: Day,
}

/// A text of a document.
#[derive(Clone, Copy)]
pub(crate) struct DocumentText<'f> {
    pub(crate) body: &'f Body,
    /// Whether a person or a model said it, or a document states it. Other texts, such as outputs of tools, are found by their words alone.
    pub(crate) is_said: bool,
}

/// Place and time of an event.
#[derive(Clone, Copy)]
pub(crate) struct EventPlace {
    pub(crate) stream: StreamNo,
    pub(crate) seq: Seq,
    pub(crate) at: Millis,
}

/// Numbers the passages of a document as the index numbers its rows: neighbouring texts that nobody said are one row.
#[derive(Default)]
pub(crate) struct PartCounter {
    rows: u32,
    in_whole: bool,
}

impl PartCounter {
    /// Counts a text that nobody said.
    pub(crate) fn skip(&mut self) {
        self.rows += u32::from(!std::mem::replace(&mut self.in_whole, true));
    }

    /// Returns the passages of a text that was said, with their numbers.
    pub(crate) fn passages<'t>(
        &mut self,
        voice: &Voice<'_>,
        text: &'t str,
    ) -> impl Iterator<Item = (u32, Passage<'t>)> {
        self.in_whole = false;
        passages(voice, text).map(|passage| {
            self.rows += 1;
            (self.rows - 1, passage)
        })
    }
}

/// Kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// A message in this role.
    Message(Role),
    /// A section of a document that a person added.
    Section,
}

/// Kinds of events that are documents.
const KINDS: [&str; 2] = ["message.appended", "document.section"];

/// Returns whether an event of a kind is a document, unless it is erased.
pub(crate) fn is_document(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// Returns the name of the document at a place.
pub(crate) const fn key_of(stream: StreamNo, seq: Seq) -> DocKey {
    DocKey { stream: stream.0, seq: seq.0 }
}

impl<'f> Document<'f> {
    /// Returns the document that an event is, or `None` if search does not find events of its kind.
    pub(crate) fn of(place: EventPlace, fact: &'f Fact) -> Option<Self> {
        let (kind, texts, name) = match fact {
            Fact::MessageAppended(said) => {
                let message = &said.message;
                (DocumentKind::Message(message.role), texts_of(message), name_of(message))
            }
            // The text precedes its headings: a snippet is taken from the first text that matches.
            Fact::DocumentSection(section) => {
                let bodies = [&section.text].into_iter().chain(&section.heading);
                let texts = bodies.map(|body| DocumentText { body, is_said: true }).collect();
                (DocumentKind::Section, texts, None)
            }
            _ => return None,
        };
        let key = key_of(place.stream, place.seq);
        Some(Self { key, kind, texts, name, day: Day::of_millis(u64::try_from(place.at.0).unwrap_or(0)) })
    }

    /// Returns the text whose body this is.
    pub(crate) fn text(&self, body: &Body) -> Option<DocumentText<'f>> {
        self.texts.iter().copied().find(|text| std::ptr::eq(text.body, body))
    }

    /// Returns who says the texts, and when.
    pub(crate) fn voice(&self) -> Voice<'_> {
        let role = match self.kind {
            DocumentKind::Message(Role::User) => VoiceRole::User,
            DocumentKind::Message(Role::Assistant) => VoiceRole::Assistant,
            DocumentKind::Message(Role::System | Role::Tool) | DocumentKind::Section => VoiceRole::Other,
        };
        Voice { role, name: self.name.as_deref(), day: self.day }
    }
}

/// Returns the texts of a message, without media, which hold no words.
fn texts_of(message: &Message) -> Vec<DocumentText<'_>> {
    let speaks = match message.role {
        Role::User => message.is_persons(),
        Role::Assistant => true,
        Role::System | Role::Tool => false,
    };
    let mut texts = Vec::with_capacity(message.parts.len());
    for outer in &message.parts {
        // Nobody said a text within the result of a tool.
        let is_said = speaks && matches!(outer, Part::Text { .. });
        let leaves = outer.leaves().into_iter().filter(|(part, _)| !matches!(part, Part::Media { .. }));
        texts.extend(leaves.map(|(_, body)| DocumentText { body, is_said }));
    }
    texts
}

/// Returns the name that a message states for its speaker.
fn name_of(message: &Message) -> Option<String> {
    /// The field of a message that providers call `name`.
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    let extra = message.extra.as_deref().filter(|extra| extra.contains("\"name\""))?;
    serde_json::from_str(extra).ok().map(|named: Named| named.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::grep::narrow::NOT_INDEXED;
    use wunderblock_core::event::MessageAppended;

    #[test]
    fn the_kinds_of_documents_are_kinds_of_events() {
        let message = Message::user("words");
        let fact = Fact::MessageAppended(MessageAppended { message });
        assert!(is_document(fact.kind()));
        let place = EventPlace { stream: StreamNo(3), seq: Seq(7), at: Millis(86_400_000) };
        let document = Document::of(place, &fact).unwrap();
        assert_eq!((document.key, document.texts.len()), (DocKey { stream: 3, seq: 7 }, 1));
        let is_kind = |kind: &&str| Fact::OPEN_KINDS.contains(kind) || Fact::ENGINE_KINDS.contains(kind);
        assert!(KINDS.iter().all(is_kind));
        // `grep` takes the events that it reads without the index from a list of its own.
        assert!(NOT_INDEXED.iter().all(|kind| is_kind(kind) && !is_document(kind)));
    }
}
