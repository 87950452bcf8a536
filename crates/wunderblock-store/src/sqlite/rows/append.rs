//! Appending events: positions, idempotency, bodies.

use crate::StoreError;
use crate::codec::{self, commitment};
use crate::row::{StreamInfo, StreamNo, TenantNo};
use crate::sqlite::failure::failure;
use crate::sqlite::rows::ancestor_ids::AncestorIds;
use crate::sqlite::rows::ids::Ids;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::sql::json;
use crate::sqlite::sql::{author_sql, handle_sql, put, row, run, spans_sql};
use crate::write::{Appended, MAX_HOLDERS, PackedBlob, PackedEvent};
use rusqlite::{Connection, OptionalExtension, params};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::units::Seq;

/// A stream while events are appended to it.
pub(in crate::sqlite) struct GrowingStream<'a> {
    db: &'a Connection,
    tenant: TenantNo,
    info: StreamInfo,
    line: Lineage<'a>,
    ids: Ids,
}

impl<'a> GrowingStream<'a> {
    pub(in crate::sqlite) fn of(
        db: &'a Connection,
        tenant: TenantNo,
        stream: &StreamId,
    ) -> Result<Self, StoreError> {
        let info = super::streams::stream(db, tenant, stream)?;
        let info = info.ok_or_else(|| StoreError::NoStream(stream.clone()))?;
        Ok(Self { db, tenant, info, line: Lineage::of(db, tenant, stream)?, ids: Ids::of(db, tenant)? })
    }

    /// Appends events. `shared` tells which ids are in no ancestor of the stream.
    pub(in crate::sqlite) fn append(
        mut self,
        shared: &mut AncestorIds,
        expect_head: Option<Seq>,
        events: &[PackedEvent],
    ) -> Result<Vec<Appended>, StoreError> {
        let (db, tenant, head) = (self.db, self.tenant, self.info.head);
        let is_covered = shared.cover(db, tenant, &mut self.line, events.len())?;
        let shared = Some(&*shared).filter(|_| is_covered);
        if let Some(expected) = expect_head.filter(|expected| *expected != head) {
            // The append may be a retry whose first answer was lost, in which case all of the events are already
            // stored.
            let there: Result<Option<Vec<(Seq, bool)>>, StoreError> =
                events.iter().map(|event| self.seen(event, shared)).collect();
            return match there {
                Ok(Some(seqs)) if !seqs.is_empty() => {
                    Ok(seqs.into_iter().map(|(seq, erased)| Appended::known(seq, erased)).collect())
                }
                Ok(_) | Err(StoreError::Conflict { .. }) => {
                    Err(StoreError::HeadMoved { expected, actual: head })
                }
                Err(error) => Err(error),
            };
        }
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            appended.push(match self.seen(event, shared)? {
                Some((seq, erased)) => Appended::known(seq, erased),
                None => Appended::written(insert(db, tenant, &mut self.info, event)?),
            });
        }
        store_counters(db, &self.info)?;
        fall_behind(db, &self.info)?;
        Ok(appended)
    }

    /// Returns the position of a stored event with this id, and whether it is erased. The same id with different
    /// content is a conflict. The ancestors are searched unless their ids are known and this one is not among them.
    fn seen(
        &mut self,
        event: &PackedEvent,
        shared: Option<&AncestorIds>,
    ) -> Result<Option<(Seq, bool)>, StoreError> {
        let mut found = self.ids.find(self.db, (self.tenant, self.info.no, self.info.head), &event.id)?;
        let is_shared =
            || shared.is_none_or(|shared| self.ids.names(&event.id).any(|id| shared.may_have(&id)));
        if found.is_none() && is_shared() {
            let mut index = 1;
            while let Some(part) = self.line.get(index)?.filter(|_| found.is_none()) {
                found = self.ids.find(self.db, (self.tenant, part.no, part.to), &event.id)?;
                index += 1;
            }
        }
        let Some(known) = found else { return Ok(None) };
        // An erased event has nothing to compare with. An erased event counts as a duplicate, so that its content
        // does not come back.
        match known.proof {
            Some((salt, proof)) if commitment(&salt, &event.content) != proof => {
                Err(StoreError::Conflict { id: EventId::clone(&event.id), seq: known.seq })
            }
            proof => Ok(Some((known.seq, proof.is_none()))),
        }
    }
}

fn store_counters(db: &Connection, info: &StreamInfo) -> Result<(), StoreError> {
    let tags = (!info.tags.is_empty()).then(|| json(&info.tags)).transpose()?;
    put(
        db,
        "UPDATE streams SET head = ?2, messages = ?3, text = ?4, first_user = ?5, updated_at = ?6, said = ?7,
             said_at = ?8, title = ?9, tags = ?10, branch = ?11, model = ?12
         WHERE stream = ?1",
        params![
            info.no.0,
            info.head.0,
            info.messages,
            info.text.0,
            info.first_user.map(|seq| seq.0),
            info.updated_at.0,
            info.said.0,
            info.said_at.0,
            info.title,
            tags,
            info.branch,
            info.model
        ],
    )
}

/// Notes that the events of a stream which has grown wait for all derived tables.
fn fall_behind(db: &Connection, info: &StreamInfo) -> Result<(), StoreError> {
    let sql = "UPDATE frontiers SET behind = 1 WHERE stream = ?1 AND NOT behind AND seq < ?2";
    run(db, sql, params![info.no.0, info.head.0])?;
    Ok(())
}

fn insert(
    db: &Connection,
    tenant: TenantNo,
    info: &mut StreamInfo,
    event: &PackedEvent,
) -> Result<Seq, StoreError> {
    let seq = info.grow(event);
    put(
        db,
        "INSERT INTO events (tenant, stream, seq, id, at, kind, mark, version, messages, text, origin, salt, proof,
             covers, checksum, role, tool, path, lane, payload, author, spans)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
        params![
            tenant.0,
            info.no.0,
            seq.0,
            event.id.as_str(),
            event.at.0,
            event.kind,
            event.mark as u8,
            codec::VERSION,
            info.messages,
            info.text.0,
            event.origin,
            event.salt,
            commitment(&event.salt, &event.content),
            codec::COVERS,
            event.checksum,
            event.facets.role.map(|role| role as u8),
            event.facets.tool,
            event.facets.path,
            event.facets.lane.as_ref().map(LaneId::as_str),
            event.payload,
            event.facets.authors.as_ref().map(|authors| author_sql(authors.by)),
            event.facets.authors.as_ref().and_then(spans_sql)
        ],
    )?;
    for blob in &event.blobs {
        let blob = keep(db, tenant, blob)?;
        run(
            db,
            "INSERT OR IGNORE INTO refs (tenant, blob, stream, seq) VALUES (?1, ?2, ?3, ?4)",
            params![tenant.0, blob, info.no.0, seq.0],
        )?;
    }
    for record in &event.records {
        place(db, tenant, info.no, seq, *record)?;
    }
    if let Some(usage) = event.facets.session.as_ref().and_then(|session| session.usage.as_ref()) {
        put(
            db,
            "INSERT OR REPLACE INTO usage (tenant, stream, key, seq, at, model, input, cache_read, cache_write, output)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                tenant.0,
                info.no.0,
                usage.key,
                seq.0,
                event.at.0,
                usage.model,
                usage.input.0,
                usage.cache_read.0,
                usage.cache_write.0,
                usage.output.0
            ],
        )?;
    }
    Ok(seq)
}

/// Stores the position at which a transcript record ends. If a record produced several events, the last position is
/// kept. The position of a record known only by its content is stored for a limited number of streams.
pub(in crate::sqlite) fn place(
    db: &Connection,
    tenant: TenantNo,
    stream: StreamNo,
    seq: Seq,
    record: i64,
) -> Result<(), StoreError> {
    let held = "SELECT count(*) FROM (SELECT 1 FROM records WHERE tenant = ?1 AND record = ?2 AND stream <> ?3 LIMIT ?4)";
    if codec::is_nameless(record) {
        let params = params![tenant.0, record, stream.0, MAX_HOLDERS];
        if row(db, held, params, |row| row.get::<_, u64>(0))?.is_some_and(|held| held >= MAX_HOLDERS) {
            return Ok(());
        }
    }
    // Two plain statements are faster than an upsert, which keeps a statement journal: truncating that journal walks
    // all pages changed in the transaction.
    let sql = "INSERT OR IGNORE INTO records (tenant, record, stream, seq) VALUES (?1, ?2, ?3, ?4)";
    if run(db, sql, params![tenant.0, record, stream.0, seq.0])? == 0 {
        let sql = "UPDATE records SET seq = max(seq, ?4) WHERE tenant = ?1 AND record = ?2 AND stream = ?3";
        put(db, sql, params![tenant.0, record, stream.0, seq.0])?;
    }
    Ok(())
}

/// Stores a body unless it is already stored, and returns its row number.
fn keep(db: &Connection, tenant: TenantNo, blob: &PackedBlob) -> Result<i64, StoreError> {
    let handle = handle_sql(blob.handle);
    let found: Option<(i64, [u8; 32])> = db
        .prepare_cached("SELECT blob, hash FROM blobs WHERE tenant = ?1 AND handle = ?2")
        .and_then(|mut statement| {
            statement.query_row(params![tenant.0, handle], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(|error| failure(&error))?;
    match found {
        // A handle has only 64 bits of the hash, so the whole hash is compared.
        Some((no, hash)) if hash == blob.hash => Ok(no),
        Some(_) => Err(StoreError::HandleTaken(blob.handle)),
        None => {
            put(
                db,
                "INSERT INTO blobs (tenant, handle, hash, bytes, data) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![tenant.0, handle, blob.hash, blob.bytes.0, blob.data],
            )?;
            Ok(db.last_insert_rowid())
        }
    }
}
