//! Reads the bodies of events whose content the caller has not read.

use crate::query::{Marked, Selected};
use crate::row::TenantNo;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::rows::marked::{Newest, marked};
use crate::sqlite::rows::read::blob;
use crate::sqlite::sql::{handle_of, rows};
use crate::write::PackedBlob;
use crate::{Reach, StoreError};
use rusqlite::{Connection, params};
use std::collections::HashSet;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Bytes, Seq};

/// Returns the bodies of the events, those of the first events first, by handle within an event. Leaves out a body that
/// would make the total length exceed `bytes`. The references of an event are found by its place, so the search reads
/// as much as the events hold.
pub(in crate::sqlite) fn bodies_of(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    events: &Selected,
    bytes: Bytes,
) -> Result<Vec<Option<PackedBlob>>, StoreError> {
    let seqs = match events {
        Selected::At(seqs) => seqs.clone(),
        Selected::UserTurns { to, limit } => {
            let turns = marked(db, tenant, stream, &Marked::UserTurn, Newest { to: *to, limit: *limit })?;
            turns.iter().map(|row| row.seq).collect()
        }
    };
    let lowest = seqs.iter().min().copied().unwrap_or(Seq(u64::MAX));
    let stretches = Lineage::of(db, tenant, stream)?.down_to(lowest)?;
    let sql = "SELECT b.handle, b.bytes FROM refs r JOIN blobs b ON b.blob = r.blob
               WHERE r.tenant = ?1 AND r.stream = ?2 AND r.seq = ?3";
    // The caller has seen that the stream is in reach.
    let whole = Reach::tenant();
    let (mut left, mut found, mut seen) = (bytes.0, Vec::new(), HashSet::new());
    for seq in seqs {
        let holder = stretches.iter().find(|stretch| stretch.from <= seq && seq <= stretch.to);
        let Some(holder) = holder else { continue };
        let values = params![tenant.0, holder.no.0, seq.0];
        let mut own: Vec<(Handle, u64)> =
            rows(db, sql, values, |row| Ok((handle_of(row.get(0)?), row.get(1)?)))?;
        own.sort_unstable();
        for (handle, len) in own {
            if len <= left && seen.insert(handle) {
                left -= len;
                found.push(blob(db, &whole, tenant, handle)?);
            }
        }
    }
    Ok(found)
}
