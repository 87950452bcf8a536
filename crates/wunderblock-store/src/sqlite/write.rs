//! Applies writes inside the writer's transaction.

use super::ancestor_ids::AncestorIds;
use super::erase::Erasing;
use super::failure::failure;
use super::lineage::Lineage;
use super::source::Revision;
use super::sql::{author_sql, handle_sql, run, spans_sql};
use super::{append, basis, erase, lease, source};
use crate::row::{Lease, StreamNo, TenantNo};
use crate::write::{Opening, SegmentId, SegmentReach, Write, Written};
use crate::{Commit, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use wunderblock_core::author::Authors;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::Seq;

/// Applies all of one caller's writes, or none.
pub(super) fn all(
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
        Write::Segment { tenant, segment, replaces, indexed } => {
            segment_swap(db, *tenant, segment.as_ref(), (replaces, indexed))
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
    let found = super::read::tenant(db, name)?;
    found
        .map(Written::Tenant)
        .ok_or_else(|| StoreError::Damaged("a tenant that was just written is missing".to_owned()))
}

fn open(db: &Connection, write: &Write) -> Result<Written, StoreError> {
    let Write::Open { tenant, stream, handle, opening, scope, at } = write else {
        return Ok(Written::Done);
    };
    if let Some(info) = super::read::stream(db, *tenant, stream)? {
        let same = match opening {
            Opening::New { .. } => info.fork.is_none(),
            Opening::Fork { parent, at_seq } => info.fork.as_ref() == Some(&(parent.clone(), *at_seq)),
        };
        return if same {
            Ok(Written::Stream(Box::new(info), false))
        } else {
            Err(StoreError::StreamExists(stream.clone()))
        };
    }
    let begin = FirstCounters::of(db, *tenant, opening)?;
    let parent = match opening {
        Opening::New { parent } => parent.as_ref().map(StreamId::as_str),
        Opening::Fork { .. } => None,
    };
    run(
        db,
        "INSERT INTO streams (tenant, id, handle, base, head, said, said_at, fork_of, parent, user, project, agent, session, run,
             opened_at, updated_at, messages, text, first_user, counted, tokens, indexed)
         VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?12, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14, ?15, ?4, 0, ?4)",
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
            begin.first_user.map(|seq| seq.0)
        ],
    )?;
    let info = super::read::stream(db, *tenant, stream)?;
    info.map(|info| Written::Stream(Box::new(info), true))
        .ok_or_else(|| StoreError::Damaged("a stream that was just written is missing".to_owned()))
}

fn place_all(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    records: &[(i64, Seq)],
) -> Result<Written, StoreError> {
    let info = super::read::stream(db, tenant, stream)?;
    let no = info.ok_or_else(|| StoreError::NoStream(stream.clone()))?.no;
    for (record, seq) in records {
        append::place(db, tenant, (no, *seq), *record)?;
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
    fn of(db: &Connection, tenant: TenantNo, opening: &Opening) -> Result<Self, StoreError> {
        let Opening::Fork { parent, at_seq } = opening else { return Ok(Self::default()) };
        let info =
            super::read::stream(db, tenant, parent)?.ok_or_else(|| StoreError::NoStream(parent.clone()))?;
        if *at_seq > info.head {
            return Err(StoreError::HeadMoved { expected: *at_seq, actual: info.head });
        }
        let row = super::read::sums(db, tenant, &mut Lineage::of(db, tenant, parent)?, *at_seq)?;
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
    let (no, mut counted, mut sum, head): (i64, u64, u64, u64) = db
        .prepare_cached("SELECT stream, counted, tokens, head FROM streams WHERE tenant = ?1 AND id = ?2")
        .and_then(|mut statement| {
            statement.query_row(params![tenant.0, stream.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
        })
        .optional()
        .map_err(|error| failure(&error))?
        .ok_or_else(|| StoreError::NoStream(stream.clone()))?;
    for (seq, own) in tokens {
        // Another process may have counted these events in the meantime.
        if seq.0 != counted + 1 || seq.0 > head {
            continue;
        }
        counted = seq.0;
        sum += own.0;
        run(
            db,
            "INSERT OR REPLACE INTO tallies (tenant, stream, seq, tokens) VALUES (?1, ?2, ?3, ?4)",
            params![tenant.0, no, seq.0, sum],
        )?;
    }
    run(db, "UPDATE streams SET counted = ?2, tokens = ?3 WHERE stream = ?1", params![no, counted, sum])?;
    Ok(Written::Done)
}

fn segment_swap(
    db: &Connection,
    tenant: TenantNo,
    segment: Option<&crate::PackedSegment>,
    (replaces, indexed): (&[SegmentId], &[SegmentReach]),
) -> Result<Written, StoreError> {
    for old in replaces {
        let sql = "DELETE FROM index_segments WHERE tenant = ?1 AND segment = ?2 AND docs = ?3";
        if run(db, sql, params![tenant.0, old.no, old.docs])? == 0 {
            // Another process merged these segments first, and its result is kept.
            return Err(StoreError::HeadMoved { expected: Seq(old.no), actual: Seq::START });
        }
        run(db, "DELETE FROM index_blocks WHERE tenant = ?1 AND segment = ?2", params![tenant.0, old.no])?;
    }
    // The range must begin where the index ends, so that no document is indexed twice.
    for SegmentReach { stream, after, through } in indexed {
        let moved = run(
            db,
            "UPDATE streams SET indexed = ?4 WHERE stream = ?1 AND tenant = ?2 AND indexed = ?3 AND ?3 < ?4",
            params![stream.0, tenant.0, after.0, through.0],
        )?;
        if moved == 0 {
            return Err(StoreError::HeadMoved { expected: *after, actual: *through });
        }
    }
    let Some(segment) = segment else { return Ok(Written::Done) };
    let bytes = segment.header.len() + segment.blocks.iter().map(Vec::len).sum::<usize>();
    // A merged segment keeps the id of the newest segment that it replaces, so that ids remain in order of age.
    let id = replaces.iter().map(|old| old.no).max();
    run(
        db,
        "INSERT INTO index_segments (segment, tenant, docs, bytes, header) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![id, tenant.0, segment.docs, bytes, segment.header],
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
        "UPDATE streams SET counted = base, tokens = 0, indexed = base WHERE tenant = ?1",
    ] {
        run(db, sql, params![tenant.0])?;
    }
    Ok(Written::Done)
}
