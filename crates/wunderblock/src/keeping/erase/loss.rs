//! Content that streams and imported files lose in an erasure.

use crate::base::error::Error;
use crate::import::records::find::{Needle, RecordHit};
use crate::import::records::lost::gone_record;
use crate::import::records::name::nameless;
use crate::ledger::reading::lineage::LinePart;
use crate::ledger::recording::record::Salts;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::codec::{self, CodecError};
use wunderblock_store::{Erasure, LostEvent, Rest, SourceSpan, StreamNo};

/// Positions of a session to be erased, with one receipt.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) stream: StreamId,
    pub(super) from: Seq,
    pub(super) to: Seq,
}

/// Content that a stream's own positions lose in the erasure of one run.
#[derive(Clone)]
pub(super) struct Loss<'t> {
    pub(super) run: usize,
    pub(super) no: StreamNo,
    pub(super) stream: StreamId,
    /// First and last position that the stream holds.
    held: (Seq, Seq),
    depth: Depth<'t>,
    pub(super) events: BTreeMap<Seq, Remainder>,
    /// Hashes for finding erased records without ids later, together with the records' positions.
    pub(super) places: Vec<(i64, Seq)>,
}

/// What remains of an event's fact.
#[derive(Clone)]
pub(super) struct Remainder(Option<Fact>);

impl Remainder {
    /// Returns the loss as a store takes it.
    pub(super) fn lost(&self, seq: Seq, salts: &mut Salts) -> Result<LostEvent, CodecError> {
        let rest = |fact: &Fact| {
            let (payload, content) = (codec::encode(fact)?, codec::content_hash(fact)?);
            Ok(Rest { payload, content, salt: salts.next() })
        };
        let rest = self.0.as_ref().map(rest).transpose()?;
        Ok(LostEvent { seq, rest })
    }
}

/// How much of its events a stream loses.
#[derive(Clone, Copy)]
pub(super) enum Depth<'t> {
    /// Their texts.
    Texts,
    /// Their texts, and also a name if it contains this text.
    Names(&'t Needle),
    /// Everything, because all of its own events are erased.
    Stream,
}

impl Depth<'_> {
    /// Returns what remains of an event; `None` if the event loses nothing.
    fn remainder(self, event: &Event) -> Result<Option<Remainder>, Error> {
        let Some(fact) = &event.fact else { return Ok(None) };
        let goes = |fact: &Fact| match self {
            Self::Texts => Ok(false),
            Self::Names(text) => contains(fact, text),
            Self::Stream => Ok(fact.lane().is_some()),
        };
        let rest = match fact.skeleton() {
            Some(rest) if !goes(&rest)? => Some(rest),
            _ => None,
        };
        let has_id =
            !matches!(event.source, EventSource::Engine) && !codec::is_erased_name(event.id.as_str());
        Ok((has_id || rest.as_ref() != Some(fact)).then_some(Remainder(rest)))
    }
}

/// Returns whether a fact contains a text.
pub(super) fn contains(fact: &Fact, text: &Needle) -> Result<bool, Error> {
    let written = serde_json::to_vec(fact).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(text.is_in(&written))
}

impl<'t> Loss<'t> {
    /// Creates the loss of the positions that a stream holds of a run.
    pub(super) fn holding(number: usize, run: &Run, part: &LinePart<'_>, depth: Depth<'t>) -> Self {
        let (holder, from, _) = part;
        let is_whole = run.from <= *from && holder.head <= run.to;
        Self::within(number, part, if is_whole { Depth::Stream } else { depth })
    }

    /// Creates the loss of positions of a stream that keeps others.
    pub(super) fn within(run: usize, (holder, from, to): &LinePart<'_>, depth: Depth<'t>) -> Self {
        let (no, stream, held) = (holder.no, holder.id.clone(), (*from, *to));
        Self { run, no, stream, held, depth, events: BTreeMap::new(), places: Vec::new() }
    }

    /// Returns whether all positions that the stream holds follow a position.
    pub(super) fn is_after(&self, seq: Seq) -> bool {
        self.held.0 > seq
    }

    /// Returns whether the stream holds a position.
    pub(super) fn holds(&self, seq: Seq) -> bool {
        self.held.0 <= seq && seq <= self.held.1
    }

    /// Adds an event, unless it has nothing to lose.
    pub(super) fn take(&mut self, event: &Event) -> Result<(), Error> {
        if let Some(rest) = self.depth.remainder(event)? {
            self.events.insert(event.seq, rest);
            self.places.extend(erased_place(event).map(|place| (place, event.seq)));
        }
        Ok(())
    }
}

/// Bytes that imported files lose, and the coordinates that keep those bytes from being imported again.
#[derive(Clone, Default)]
pub(super) struct Raw {
    pub(super) spans: BTreeSet<SourceSpan>,
    pub(super) erasures: BTreeSet<Erasure>,
}

impl Raw {
    /// Adds a record of a tenant with a secret key.
    pub(super) fn take(&mut self, key: &[u8; 32], RecordHit { span, session, record }: &RecordHit) {
        self.spans.insert(*span);
        self.erasures.insert(gone_record(key, session, record));
    }
}

/// Returns the hash with which an import of a copied file that has no ids finds the session from which the record was
/// erased.
fn erased_place(event: &Event) -> Option<i64> {
    let EventSource::Import { offset, len, .. } = event.source else { return None };
    (event.id.as_str() == nameless(offset)).then(|| codec::erased_key(offset, len))
}

/// Returns whether an event has content. A receipt has none: its reason says why something else was erased.
pub(crate) fn has_content(event: &Event) -> bool {
    let fact = event.fact.as_ref().filter(|fact| !matches!(fact, Fact::ContentErased(_)));
    fact.is_some_and(|fact| fact.skeleton().as_ref() != Some(fact))
}
