//! Content that streams and imported files lose in an erasure.

use super::family::LinePart;
use crate::import::name::nameless;
use crate::imported_records::RecordHit;
use crate::store::{Erasure, Gone, SourceSpan, StreamNo, codec};
use std::collections::BTreeSet;
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// Positions of a session to be erased, with one receipt.
pub(super) struct Run {
    pub(super) stream: StreamId,
    pub(super) from: Seq,
    pub(super) to: Seq,
}

/// Content that a stream's own positions lose in the erasure of one run.
#[derive(Clone)]
pub(super) struct Loss {
    pub(super) run: usize,
    pub(super) no: StreamNo,
    pub(super) stream: StreamId,
    /// First and last position that the stream holds.
    held: (Seq, Seq),
    pub(super) seqs: BTreeSet<Seq>,
    /// Hashes for finding erased records without ids later, together with the records' positions.
    pub(super) places: Vec<(i64, Seq)>,
}

impl Loss {
    pub(super) fn holding(run: usize, (holder, from, to): &LinePart<'_>) -> Self {
        let (no, stream, held) = (holder.no, holder.id.clone(), (*from, *to));
        Self { run, no, stream, held, seqs: BTreeSet::new(), places: Vec::new() }
    }

    /// Returns whether the stream holds a position.
    pub(super) fn holds(&self, seq: Seq) -> bool {
        self.held.0 <= seq && seq <= self.held.1
    }

    /// Adds an event, unless it has no content to lose.
    pub(super) fn take(&mut self, event: &Event) {
        if !stays(event) {
            self.seqs.insert(event.seq);
            self.places.extend(erased_place(event).map(|place| (place, event.seq)));
        }
    }
}

/// Bytes that imported files lose, and the coordinates that keep those bytes from being imported again.
#[derive(Clone, Default)]
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
fn erased_place(event: &Event) -> Option<i64> {
    let EventSource::Import { offset, len, .. } = event.source else { return None };
    (event.id.as_str() == nameless(offset)).then(|| codec::erased_key(offset, len))
}

/// Returns whether an event keeps its payload: events that open a stream, steer a view or record an erasure have no
/// content.
pub(crate) fn stays(event: &Event) -> bool {
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
