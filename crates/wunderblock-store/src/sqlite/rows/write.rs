//! Applies writes inside the writer's transaction.

use crate::row::{DerivedTable, Lease, StreamKind, StreamNo, TenantNo};
use crate::sqlite::failure::failure;
use crate::sqlite::rows::ancestor_ids::AncestorIds;
use crate::sqlite::rows::erase::Erasing;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::rows::source::Revision;
use crate::sqlite::rows::{append, basis, erase, lease, source};
use crate::sqlite::sql::json;
use crate::sqlite::sql::{author_sql, handle_sql, put, run, spans_sql};
use crate::write::{Opening, SegmentId, SegmentReach, Write, Written};
use crate::{Commit, StoreError};
use rusqlite::{Connection, Transaction, params};
use wunderblock_core::author::Authors;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::Seq;

/// Applies all of one caller's writes, or none.
pub(in crate::sqlite) fn all(
    transaction: &mut Transaction<'_>,
    shared: &mut AncestorIds,
    commit: &Commit,
) -> Result<Vec<Written>, StoreError> {
    let mut point = transaction.savepoint().map_err(|error| failure(&error))?;
    let result = basis::holds(&point, &commit.basis)
        .and_then(|()| commit.writes.iter().map(|write| one(&point, shared, write)).collect())
        .and_then(|written| basis::begin_epoch(&point, commit).map(|()| written));
    match result {
        Ok(written) => point.commit().map(|()| written).map_err(|error| failure(&error)),
        Err(error) => {
            // A full disk rolls back the whole transaction, so there may be no savepoint left to roll back.
            let _ = point.rollback();
            shared.clear();
            Err(error)
        }
    }
}

fn one(db: &Connection, shared: &mut AncestorIds, write: &Write) -> Result<Written, StoreError> {
    match write {
        Write::Tenant { name, key } => tenant(db, name, key),
        Write::Open { .. } => open(db, write),
        Write::Project { tenant, folders, folder, project } => {
            let sql = "UPDATE streams SET project = ?3, folder = ?4 WHERE tenant = ?1
                       AND folder IN (SELECT value FROM json_each(?2)) AND (project IS NOT ?3 OR folder <> ?4)";
            run(db, sql, params![tenant.0, json(folders)?, project, folder])?;
            Ok(Written::Done)
        }
        Write::Append { tenant, stream, expect_head, events } => {
            let growing = append::GrowingStream::of(db, *tenant, stream)?;
            growing.append(shared, *expect_head, events).map(Written::Appended)
        }
        Write::Source { tenant, key, handle, format, begin, owner, now, takes_over } => {
            let named = source::SourceName { tenant: *tenant, key, handle: *handle, format };
            let taker = source::Taker { owner, now: *now, takes_over: *takes_over };
            source::take(db, &named, *begin, &taker)
        }
        Write::Extend { source, revision, owner, from, chunks, erased } => {
            let growth = source::Growth { from: *from, chunks, erased };
            source::extend(db, Revision { source: *source, no: *revision }, owner, &growth)
        }
        Write::Whole { source, revision, token, modified, reader, leaf } => {
            let whole =
                source::WholeRevision { modified: *modified, reader: reader.as_deref(), leaf: leaf.as_ref() };
            source::whole(db, Revision { source: *source, no: *revision }, token, &whole)
        }
        Write::Disown { source, revision, token } => {
            source::disown(db, Revision { source: *source, no: *revision }, token)
        }
        Write::Link { tenant, stream, source, revision } => {
            source::link(db, *tenant, stream, Revision { source: *source, no: *revision })
        }
        Write::Records { tenant, stream, records } => place_all(db, *tenant, stream, records),
        Write::Unshare { source, revision } => {
            source::unshare(db, Revision { source: *source, no: *revision })
        }
        Write::Authors { tenant, stream, authors } => settle(db, *tenant, *stream, authors),
        Write::Counts { tenant, counts } => derived_counts(db, *tenant, counts),
        Write::Tallies { tenant, stream, tokens } => tallies(db, *tenant, stream, tokens),
        Write::Segment { tenant, table, segment, replaces, reaches } => {
            take_out(db, *tenant, *table, replaces)?;
            reaches.iter().try_for_each(|reach| extend(db, *tenant, *table, reach))?;
            put_in(db, *tenant, *table, segment.as_ref(), replaces)
        }
        Write::Claim { tenant, key, holder, now, until } => {
            let asked = Lease { holder: holder.clone(), until: *until };
            lease::claim(db, *tenant, key, &asked, *now)
        }
        Write::Release { tenant, key, holder } => lease::release(db, *tenant, key, holder),
        Write::DropDerived { tenant } => drop_derived(db, *tenant),
        Write::Erase { tenant, stream, events, spans, erasures } => {
            erase::erase(db, *tenant, stream, &Erasing { events, spans, erasures })
        }
    }
}

fn tenant(db: &Connection, name: &str, key: &[u8; 32]) -> Result<Written, StoreError> {
    run(db, "INSERT OR IGNORE INTO tenants (name, key) VALUES (?1, ?2)", params![name, key])?;
    let found = crate::sqlite::rows::read::tenant(db, name)?;
    found
        .map(Written::Tenant)
        .ok_or_else(|| StoreError::Damaged("a tenant that was just written is missing".to_owned()))
}

fn open(db: &Connection, write: &Write) -> Result<Written, StoreError> {
    let Write::Open { tenant, kind, stream, handle, opening, scope, at } = write else {
        return Ok(Written::Done);
    };
    if let Some(info) = super::streams::stream(db, *tenant, stream)? {
        let same = info.kind == *kind
            && match opening {
                Opening::New { .. } => info.fork.is_none(),
                Opening::Fork { parent, at_seq } => info.fork.as_ref() == Some(&(parent.clone(), *at_seq)),
            };
        return if same {
            Ok(Written::Stream(Box::new(info), false))
        } else {
            Err(StoreError::StreamExists(stream.clone()))
        };
    }
    let begin = FirstCounters::of(db, *tenant, *kind, opening)?;
    let parent = match opening {
        Opening::New { parent } => parent.as_ref().map(StreamId::as_str),
        Opening::Fork { .. } => None,
    };
    run(
        db,
        "INSERT INTO streams (tenant, id, handle, base, head, said, said_at, fork_of, parent, user, project, agent, session, run,
             opened_at, updated_at, messages, text, first_user, tokens, what, folder)
         VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?12, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14, ?15, 0, ?16, ?17)",
        params![
            tenant.0,
            stream.as_str(),
            handle_sql(*handle),
            begin.base.0,
            begin.fork_of.map(|no| no.0),
            parent,
            scope.user,
            scope.project,
            scope.agent,
            scope.session,
            scope.run,
            at.0,
            begin.messages,
            begin.text,
            begin.first_user.map(|seq| seq.0),
            *kind as u8,
            scope.folder
        ],
    )?;
    let no = db.last_insert_rowid();
    for table in DerivedTable::ALL {
        let sql = "INSERT INTO frontiers (tenant, stream, what, seq, behind) VALUES (?1, ?2, ?3, ?4, 0)";
        put(db, sql, params![tenant.0, no, table as u8, begin.base.0])?;
    }
    let info = super::streams::stream(db, *tenant, stream)?;
    info.map(|info| Written::Stream(Box::new(info), true))
        .ok_or_else(|| StoreError::Damaged("a stream that was just written is missing".to_owned()))
}

fn place_all(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    records: &[(i64, Seq)],
) -> Result<Written, StoreError> {
    let info = super::streams::stream(db, tenant, stream)?;
    let no = info.ok_or_else(|| StoreError::NoStream(stream.clone()))?.no;
    for (record, seq) in records {
        append::place(db, tenant, no, *seq, *record)?;
    }
    Ok(Written::Done)
}

/// Initial counters of a new stream.
#[derive(Default)]
struct FirstCounters {
    base: Seq,
    fork_of: Option<StreamNo>,
    messages: u64,
    text: u64,
    first_user: Option<Seq>,
}

impl FirstCounters {
    fn of(
        db: &Connection,
        tenant: TenantNo,
        kind: StreamKind,
        opening: &Opening,
    ) -> Result<Self, StoreError> {
        let Opening::Fork { parent, at_seq } = opening else { return Ok(Self::default()) };
        let info = super::streams::stream(db, tenant, parent)?.filter(|info| info.kind == kind);
        let info = info.ok_or_else(|| StoreError::NoStream(parent.clone()))?;
        if *at_seq > info.head {
            return Err(StoreError::HeadMoved { expected: *at_seq, actual: info.head });
        }
        let row =
            crate::sqlite::rows::read::sums(db, tenant, &mut Lineage::of(db, tenant, parent)?, *at_seq)?;
        Ok(Self {
            base: *at_seq,
            fork_of: Some(info.no),
            messages: row.messages,
            text: row.text.0,
            first_user: info.first_user.filter(|first| first <= at_seq),
        })
    }
}

fn derived_counts(
    db: &Connection,
    tenant: TenantNo,
    counts: &[(Handle, crate::BodyCount)],
) -> Result<Written, StoreError> {
    // The statement inserts nothing for a body that was erased in the meantime.
    for (handle, count) in counts {
        run(
            db,
            "INSERT INTO counts (blob, o200k, cl100k, class, escaped, quotes)
             SELECT blob, ?3, ?4, ?5, ?6, ?7 FROM blobs WHERE tenant = ?1 AND handle = ?2
             ON CONFLICT (blob) DO UPDATE SET cl100k = coalesce(excluded.cl100k, cl100k)",
            params![
                tenant.0,
                handle_sql(*handle),
                count.o200k,
                count.cl100k,
                count.class,
                count.escaped,
                count.quotes
            ],
        )?;
    }
    Ok(Written::Done)
}

fn tallies(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    tokens: &[(Seq, wunderblock_core::units::Tokens)],
) -> Result<Written, StoreError> {
    let info = super::streams::stream(db, tenant, stream)?;
    let info = info.ok_or_else(|| StoreError::NoStream(stream.clone()))?;
    let (no, after) = (info.no, info.reach(DerivedTable::Counts));
    let (mut counted, mut sum) = (after, info.tokens.0);
    for (seq, own) in tokens {
        // Another process may have counted these events in the meantime.
        if *seq != counted.next() || *seq > info.head {
            continue;
        }
        counted = *seq;
        sum += own.0;
        run(
            db,
            "INSERT OR REPLACE INTO tallies (tenant, stream, seq, tokens) VALUES (?1, ?2, ?3, ?4)",
            params![tenant.0, no.0, seq.0, sum],
        )?;
    }
    if counted > after {
        run(db, "UPDATE streams SET tokens = ?2 WHERE stream = ?1", params![no.0, sum])?;
        extend(db, tenant, DerivedTable::Counts, &SegmentReach { stream: no, after, through: counted })?;
    }
    Ok(Written::Done)
}

/// Moves the frontier of a derived table. The range must begin at the frontier, so that no event is added twice.
fn extend(
    db: &Connection,
    tenant: TenantNo,
    table: DerivedTable,
    reach: &SegmentReach,
) -> Result<(), StoreError> {
    let SegmentReach { stream, after, through } = reach;
    let moved = run(
        db,
        "UPDATE frontiers SET seq = ?4, behind = ?4 < (SELECT head FROM streams s WHERE s.stream = ?2)
         WHERE stream = ?2 AND what = ?3 AND seq = ?5 AND ?5 < ?4 AND tenant = ?1",
        params![tenant.0, stream.0, table as u8, through.0, after.0],
    )?;
    if moved == 0 { Err(StoreError::HeadMoved { expected: *after, actual: *through }) } else { Ok(()) }
}

/// Deletes segments of a derived table.
fn take_out(
    db: &Connection,
    tenant: TenantNo,
    table: DerivedTable,
    replaces: &[SegmentId],
) -> Result<(), StoreError> {
    for old in replaces {
        let sql = "DELETE FROM index_segments WHERE tenant = ?1 AND segment = ?2 AND docs = ?3 AND what = ?4";
        if run(db, sql, params![tenant.0, old.no, old.docs, table as u8])? == 0 {
            // Another process merged these segments first, and its result is kept.
            return Err(StoreError::HeadMoved { expected: Seq(old.no), actual: Seq::START });
        }
        run(db, "DELETE FROM index_blocks WHERE tenant = ?1 AND segment = ?2", params![tenant.0, old.no])?;
    }
    Ok(())
}

/// Stores a segment of a derived table.
fn put_in(
    db: &Connection,
    tenant: TenantNo,
    table: DerivedTable,
    segment: Option<&crate::PackedSegment>,
    replaces: &[SegmentId],
) -> Result<Written, StoreError> {
    let Some(segment) = segment else { return Ok(Written::Done) };
    let bytes = segment.header.len() + segment.blocks.iter().map(Vec::len).sum::<usize>();
    // A merged segment keeps the id of the newest segment that it replaces, so that ids remain in order of age.
    let id = replaces.iter().map(|old| old.no).max();
    run(
        db,
        "INSERT INTO index_segments (segment, tenant, docs, bytes, header, what) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![id, tenant.0, segment.docs, bytes, segment.header, table as u8],
    )?;
    let id = db.last_insert_rowid();
    for (block, data) in segment.blocks.iter().enumerate() {
        run(
            db,
            "INSERT INTO index_blocks (tenant, segment, block, data) VALUES (?1, ?2, ?3, ?4)",
            params![tenant.0, id, block, data],
        )?;
    }
    Ok(Written::Done)
}

fn settle(
    db: &Connection,
    tenant: TenantNo,
    stream: StreamNo,
    authors: &[(Seq, Authors)],
) -> Result<Written, StoreError> {
    let sql = "UPDATE events SET author = ?4, spans = ?5
               WHERE tenant = ?1 AND stream = ?2 AND seq = ?3 AND role = 1 AND payload IS NOT NULL";
    for (seq, authors) in authors {
        run(db, sql, params![tenant.0, stream.0, seq.0, author_sql(authors.by), spans_sql(authors)])?;
    }
    Ok(Written::Done)
}

fn drop_derived(db: &Connection, tenant: TenantNo) -> Result<Written, StoreError> {
    for sql in [
        "DELETE FROM counts WHERE blob IN (SELECT blob FROM blobs WHERE tenant = ?1)",
        "DELETE FROM tallies WHERE tenant = ?1",
        "DELETE FROM index_segments WHERE tenant = ?1",
        "DELETE FROM index_blocks WHERE tenant = ?1",
        "DELETE FROM leases WHERE tenant = ?1",
        "UPDATE events SET author = NULL, spans = NULL
         WHERE tenant = ?1 AND role = 1 AND origin IS NOT NULL AND author IS NOT NULL",
        "UPDATE streams SET tokens = 0 WHERE tenant = ?1",
        "UPDATE frontiers SET seq = s.base, behind = s.base < s.head FROM streams s
         WHERE s.stream = frontiers.stream AND frontiers.tenant = ?1",
    ] {
        run(db, sql, params![tenant.0])?;
    }
    Ok(Written::Done)
}
