//! Answers queries from a snapshot.

use crate::query::{Answer, Query};
use crate::sqlite::rows::erase::{erased, erasures};
use crate::sqlite::rows::lease::lease;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::rows::marked::{Newest, bodies_of, marked, of_kinds, places_of_kinds, unsettled};
use crate::sqlite::rows::source::{self, Revision};
use crate::sqlite::rows::{basis, read, streams};
use crate::{QuerySubject, Reach, StoreError};
use rusqlite::Connection;

pub(in crate::sqlite) fn answer(db: &Connection, query: &Query) -> Result<Answer, StoreError> {
    within(db, &Reach::tenant(), query)
}

/// Answers a query as if the tenant held only what is in reach.
fn within(db: &Connection, reach: &Reach, query: &Query) -> Result<Answer, StoreError> {
    let is_visible = match query.subject() {
        _ if reach.is_tenant() => true,
        QuerySubject::Stream(tenant, stream) => streams::is_visible(db, reach, tenant, stream)?,
        QuerySubject::Source(source) => source::is_visible(db, reach, source)?,
        QuerySubject::Selected | QuerySubject::Shared => true,
    };
    if is_visible { seen(db, reach, query) } else { query.unseen() }
}

/// Answers a query whose subject is in reach.
fn seen(db: &Connection, reach: &Reach, query: &Query) -> Result<Answer, StoreError> {
    Ok(match query {
        Query::Within { reach: inner, query } => within(db, &reach.within(inner), query)?,
        Query::Tenant { name } => Answer::Tenant(read::tenant(db, name)?),
        Query::Tenants if reach.is_tenant() => Answer::Tenants(read::tenants(db)?),
        Query::Tenants => Answer::Tenants(Vec::new()),
        Query::Stream { tenant, of, stream: id } => {
            let found = streams::stream(db, *tenant, id)?;
            let found = found.filter(|info| info.kind == *of && reach.admits(&info.scope));
            Answer::Stream(found.map(Box::new))
        }
        Query::Streams { tenant, filter, limit } => {
            Answer::Streams(streams::streams(db, reach, *tenant, filter, *limit)?)
        }
        Query::Lineage { tenant, stream } => Answer::Lineage(Lineage::of(db, *tenant, stream)?.all()?),
        Query::Events { .. } => Answer::Events(read::events(db, query)?),
        Query::At { tenant, stream, seqs, filter } => {
            Answer::Events(read::at(db, *tenant, stream, seqs, filter)?)
        }
        Query::Passing { .. } => Answer::Holders(read::passing(db, reach, query)?),
        Query::OfKinds { .. } => Answer::Events(of_kinds(db, reach, query)?),
        Query::PlacesOfKinds { .. } => Answer::Holders(places_of_kinds(db, reach, query)?),
        Query::Marked { tenant, stream, what, to, limit } => {
            Answer::Events(marked(db, *tenant, stream, what, Newest { to: *to, limit: *limit })?)
        }
        Query::Blobs { tenant, handles } => {
            Answer::Blobs(each(handles, |handle| read::blob(db, reach, *tenant, *handle))?)
        }
        Query::BodiesOf { tenant, stream, events, bytes } => {
            Answer::Blobs(bodies_of(db, *tenant, stream, events, *bytes)?)
        }
        Query::Resolve { tenant, of, handle } => {
            Answer::Named(read::resolve(db, reach, *tenant, *of, *handle)?)
        }
        Query::Handles { .. } => Answer::Handles(read::handles(db, reach, query)?),
        Query::Holders { .. } => Answer::Holders(read::holders(db, reach, query)?),
        Query::Records { tenant, records } => {
            Answer::Places(each(records, |record| read::places(db, reach, *tenant, *record))?)
        }
        Query::Ids { tenant, stream, ids } => Answer::Known(read::known(db, *tenant, stream, ids)?),
        Query::Erasures { tenant, sessions } => Answer::Erasures(erasures(db, *tenant, sessions)?),
        Query::StreamsByNo { tenant, streams } => {
            let found = each(streams, |no| streams::stream_by_no(db, *tenant, *no))?;
            let found = found.into_iter().flatten();
            Answer::Streams(found.filter(|info| reach.admits(&info.scope)).collect())
        }
        Query::Usage { tenant, filter } => Answer::Usage(read::usage(db, reach, *tenant, filter)?),
        Query::Lease { tenant, key } => Answer::Lease(lease(db, *tenant, key)?),
        Query::Epoch { tenant } => Answer::Epoch(basis::epoch(db, *tenant)?),
        Query::Erased { tenant, names } => Answer::Erasures(erased(db, *tenant, names)?),
        Query::Lost { since, stream, from, to } => Answer::Lost(basis::lost(db, *since, stream, *from, *to)?),
        query @ (Query::Source { .. }
        | Query::SourcesOf { .. }
        | Query::ReadFrom { .. }
        | Query::Sources { .. }
        | Query::Chunks { .. }) => of_sources(db, reach, query)?,
        query @ (Query::Counts { .. }
        | Query::Tallies { .. }
        | Query::Unsettled { .. }
        | Query::Behind { .. }
        | Query::Segments { .. }
        | Query::Blocks { .. }
        | Query::SegmentBlocks { .. }) => derived(db, reach, query)?,
    })
}

/// Answers a query about imported bytes.
fn of_sources(db: &Connection, reach: &Reach, query: &Query) -> Result<Answer, StoreError> {
    Ok(match query {
        Query::Source { tenant, by, revision } => {
            Answer::Source(source::info(db, reach, *tenant, by, *revision)?.map(Box::new))
        }
        Query::SourcesOf { tenant, stream } => Answer::Sources(source::of_stream(db, *tenant, stream)?),
        Query::ReadFrom { tenant, source, revision } => {
            Answer::Streams(streams::read_from(db, reach, *tenant, *source, *revision)?)
        }
        Query::Sources { tenant, filter } => Answer::Sources(source::listed(db, reach, *tenant, filter)?),
        Query::Chunks { source, revision, from, to, limit } => {
            let revision = Revision { source: *source, no: *revision };
            Answer::Chunks(source::chunks(db, revision, *from..*to, *limit)?)
        }
        _ => return Err(StoreError::Damaged("a query of another kind".to_owned())),
    })
}

/// Answers a query about derived data.
fn derived(db: &Connection, reach: &Reach, query: &Query) -> Result<Answer, StoreError> {
    Ok(match query {
        Query::Counts { tenant, handles } => {
            Answer::Counts(each(handles, |handle| read::count(db, reach, *tenant, *handle))?)
        }
        Query::Tallies { tenant, stream, seqs } => Answer::Tallies(read::tallies(db, *tenant, stream, seqs)?),
        Query::Unsettled { .. } => Answer::Holders(unsettled(db, reach, query)?),
        Query::Behind { .. } => Answer::Streams(streams::behind(db, reach, query)?),
        Query::Segments { tenant, table } => Answer::Segments(read::segments(db, *tenant, *table)?),
        Query::Blocks { tenant, wanted } => {
            Answer::Blocks(each(wanted, |(segment, number)| read::block(db, *tenant, *segment, *number))?)
        }
        Query::SegmentBlocks { tenant, segment } => {
            Answer::Blocks(read::segment_blocks(db, *tenant, *segment)?)
        }
        // Not reached: `answer` passes only the queries above.
        _ => Answer::Stream(None),
    })
}

fn each<T, R>(items: &[T], ask: impl Fn(&T) -> Result<R, StoreError>) -> Result<Vec<R>, StoreError> {
    items.iter().map(ask).collect()
}
