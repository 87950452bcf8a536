//! Content that streams and imported files lose in an erasure.

use crate::import::name::nameless;
use crate::imported_records::RecordHit;
use crate::store::{Erasure, Gone, SourceSpan, codec};
use std::collections::BTreeSet;
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// Content that a stream loses in the erasure of one run of positions.
pub(super) struct Loss {
    pub(super) run: usize,
    pub(super) stream: StreamId,
    pub(super) seqs: BTreeSet<Seq>,
    /// Hashes for finding erased records without ids later, together with the records' positions.
    pub(super) places: Vec<(i64, Seq)>,
}

impl Loss {
    pub(super) fn new(run: usize, stream: &StreamId) -> Self {
        Self { run, stream: stream.clone(), seqs: BTreeSet::new(), places: Vec::new() }
    }
}

/// Bytes that imported files lose, and the coordinates that keep those bytes from being imported again.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) spans: BTreeSet<SourceSpan>,
    pub(super) erasures: BTreeSet<Erasure>,
}

impl Raw {
    pub(super) fn take(&mut self, hits: Vec<RecordHit>) {
        for RecordHit { span, session, record } in hits {
            self.spans.insert(span);
            self.erasures.insert(Erasure { session, what: Gone::Record(record) });
        }
    }
}

/// Returns the hash with which an import of a copied file that has no ids finds the session from which the record was
/// erased.
pub(super) fn erased_place(event: &Event) -> Option<i64> {
    let EventSource::Import { offset, len, .. } = event.source else { return None };
    (event.id.as_str() == nameless(offset)).then(|| codec::erased_key(offset, len))
}

/// Returns whether an event keeps its payload: events that open a stream, steer a view or record an erasure have no
/// content.
pub(super) fn stays(event: &Event) -> bool {
    matches!(
        event.fact,
        None | Some(
            Fact::SessionForked(_)
                | Fact::ContentErased(_)
                | Fact::ContentHidden(_)
                | Fact::ViewTrimmed(_)
                | Fact::SessionOpened(_)
        )
    )
}
