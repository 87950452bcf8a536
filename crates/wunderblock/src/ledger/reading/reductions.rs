//! Recognises texts that are recorded reductions. The decision depends on a text's bytes, regardless of its marks.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, rows_at};
use std::collections::HashSet;
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, Query, StreamInfo, StreamKind};

/// Maximum number of events holding a text that are examined.
const MAX_HOLDERS: u64 = 64;

/// Event that holds a text.
pub(crate) struct Holder {
    pub(crate) stream: StreamInfo,
    pub(crate) seq: Seq,
    pub(crate) fact: Option<Fact>,
}

/// Returns the events that hold a text, at most [`MAX_HOLDERS`].
pub(crate) async fn holders_of(engine: &Engine, handle: Handle) -> Result<Vec<Holder>, Error> {
    let tenant = engine.tenant.no;
    let query = Query::Holders { tenant, of: StreamKind::Session, handle, limit: MAX_HOLDERS };
    let mut found = Vec::new();
    for (no, seq) in engine.ask(query, Answer::holders).await? {
        let query = Query::StreamsByNo { tenant, streams: vec![no] };
        let Some(stream) = engine.ask(query, Answer::streams).await?.into_iter().next() else { continue };
        let rows = rows_at(engine, &stream.id, vec![seq]).await?;
        let Some(row) = rows.first() else { continue };
        let fact = decode_event(engine, &stream.id, row)?.fact;
        found.push(Holder { stream, seq, fact });
    }
    Ok(found)
}

/// Returns those of the given texts that are recorded reductions.
pub(crate) async fn known_reductions(
    engine: &Engine,
    handles: Vec<Handle>,
) -> Result<HashSet<Handle>, Error> {
    let mut known = HashSet::new();
    for handle in handles {
        let is_text = |holder: &Holder| match &holder.fact {
            Some(Fact::ContentReduced(reduced)) => reduced.text.handle() == Some(handle),
            _ => false,
        };
        if holders_of(engine, handle).await?.iter().any(is_text) {
            known.insert(handle);
        }
    }
    Ok(known)
}
