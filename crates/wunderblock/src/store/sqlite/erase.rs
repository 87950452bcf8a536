//! Erasing content for good.

use super::read::lineage;
use super::sql::{row, rows, run};
use crate::store::{SourceSpan, StoreError, TenantNo, Written};
use rusqlite::{Connection, params};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};

pub(super) fn erase(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    (seqs, spans): (&[Seq], &[SourceSpan]),
) -> Result<Written, StoreError> {
    let stretches = lineage(db, tenant, stream)?;
    let (mut events, mut blobs) = (0, 0);
    for seq in seqs {
        let holder = stretches.iter().find(|stretch| stretch.from <= *seq && *seq <= stretch.to);
        let Some(holder) = holder else { continue };
        events += run(
            db,
            "UPDATE events SET payload = NULL, salt = NULL, origin = NULL
             WHERE tenant = ?1 AND stream = ?2 AND seq = ?3 AND payload IS NOT NULL",
            params![tenant.0, holder.no.0, seq.0],
        )? as u64;
        blobs += unref(db, tenant, (holder.no.0, seq.0))?;
    }
    let mut source_bytes = 0;
    for span in spans {
        source_bytes += super::source::overwrite(db, tenant, span)?;
    }
    Ok(Written::Erased { events, blobs, source_bytes: Bytes(source_bytes) })
}

/// Lets go of an event's bodies; those nothing else holds are removed. Answers how many.
fn unref(db: &Connection, tenant: TenantNo, (stream, seq): (u32, u64)) -> Result<u64, StoreError> {
    let held = rows(
        db,
        "SELECT blob FROM refs WHERE tenant = ?1 AND stream = ?2 AND seq = ?3",
        params![tenant.0, stream, seq],
        |row| row.get::<_, i64>(0),
    )?;
    let mut removed = 0;
    for blob in held {
        run(
            db,
            "DELETE FROM refs WHERE tenant = ?1 AND blob = ?2 AND stream = ?3 AND seq = ?4",
            params![tenant.0, blob, stream, seq],
        )?;
        let sql = "SELECT 1 FROM refs WHERE tenant = ?1 AND blob = ?2 LIMIT 1";
        if row(db, sql, params![tenant.0, blob], |_| Ok(()))?.is_none() {
            run(db, "DELETE FROM counts WHERE blob = ?1", params![blob])?;
            run(db, "DELETE FROM blobs WHERE blob = ?1", params![blob])?;
            removed += 1;
        }
    }
    Ok(removed)
}
