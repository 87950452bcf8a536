//! What streams and imported files lose.

use crate::import::name::nameless;
use crate::imported_records::RecordHit;
use crate::store::{Erasure, Gone, SourceSpan, codec};
use std::collections::BTreeSet;
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// What one stream loses with one of the runs that are erased.
pub(super) struct Loss {
    pub(super) run: usize,
    pub(super) stream: StreamId,
    pub(super) seqs: BTreeSet<Seq>,
    /// By what records without ids are found from now on, where they stand.
    pub(super) places: Vec<(i64, Seq)>,
}

impl Loss {
    pub(super) fn new(run: usize, stream: &StreamId) -> Self {
        Self { run, stream: stream.clone(), seqs: BTreeSet::new(), places: Vec::new() }
    }
}

/// What imported files lose, and the coordinates that keep it from coming back.
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

/// By what a copy of a file without ids finds the session that a record of it was erased from.
pub(super) fn erased_place(event: &Event) -> Option<i64> {
    let EventSource::Import { offset, len, .. } = event.source else { return None };
    (event.id.as_str() == nameless(offset)).then(|| codec::erased_key(offset, len))
}

/// What opens a stream, steers a view or measures says nothing of the content and stays.
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
