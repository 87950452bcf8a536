//! What search can find. Every derived table that search reads is made from documents, and every place that asks which
//! events have searchable texts asks here.

use wunderblock_core::event::Fact;
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::units::Seq;
use wunderblock_index::DocKey;
use wunderblock_store::StreamNo;

/// An event with texts that search can find.
pub(crate) struct Document<'f> {
    /// Place of the event, which is the name of the document in derived tables.
    pub(crate) key: DocKey,
    pub(crate) kind: DocumentKind,
    /// Texts of the document, in order.
    pub(crate) texts: Vec<&'f Body>,
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
    pub(crate) fn of(stream: StreamNo, seq: Seq, fact: &'f Fact) -> Option<Self> {
        let (kind, texts) = match fact {
            Fact::MessageAppended(said) => {
                (DocumentKind::Message(said.message.role), texts_of(&said.message))
            }
            // The text precedes its headings: a snippet is taken from the first text that matches.
            Fact::DocumentSection(section) => {
                (DocumentKind::Section, [&section.text].into_iter().chain(&section.heading).collect())
            }
            _ => return None,
        };
        Some(Self { key: key_of(stream, seq), kind, texts })
    }

    /// Returns whether a body of the event is one of the texts.
    pub(crate) fn has(&self, body: &Body) -> bool {
        self.texts.iter().any(|text| std::ptr::eq(*text, body))
    }
}

/// Returns the bodies of a message, except media, which hold no words.
fn texts_of(message: &Message) -> Vec<&Body> {
    let leaves = message.parts.iter().flat_map(Part::leaves);
    leaves.filter(|(part, _)| !matches!(part, Part::Media { .. })).map(|(_, body)| body).collect()
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
        let document = Document::of(StreamNo(3), Seq(7), &fact).unwrap();
        assert_eq!((document.key, document.texts.len()), (DocKey { stream: 3, seq: 7 }, 1));
        let is_kind = |kind: &&str| Fact::OPEN_KINDS.contains(kind) || Fact::ENGINE_KINDS.contains(kind);
        assert!(KINDS.iter().all(is_kind));
        // `grep` takes the events that it reads without the index from a list of its own.
        assert!(NOT_INDEXED.iter().all(|kind| is_kind(kind) && !is_document(kind)));
    }
}
