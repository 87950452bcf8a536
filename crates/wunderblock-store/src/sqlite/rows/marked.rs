//! Finding events by mark or by lane, without reading the events in between.

use crate::query::{Marked, Query, Selected};
use crate::row::{StoredEvent, StreamNo, Stretch, TenantNo};
use crate::sqlite::conditions::Visible;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::rows::read::{EVENT, blob, event_row};
use crate::sqlite::sql::{handle_of, json, row, rows};
use crate::write::PackedBlob;
use crate::{Reach, StoreError};
use rusqlite::{Connection, params};
use std::collections::HashSet;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Bytes, Seq};

/// Limits of the search: the last position to include, and the maximum number of events.
pub(in crate::sqlite) struct Newest {
    pub(in crate::sqlite) to: Seq,
    pub(in crate::sqlite) limit: u64,
}

pub(in crate::sqlite) fn marked(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    what: &Marked,
    newest: Newest,
) -> Result<Vec<StoredEvent>, StoreError> {
    let mut found = Vec::new();
    let mut lanes = HashSet::new();
    let (mut line, mut index) = (Lineage::of(db, tenant, stream)?, 0);
    loop {
        let left = newest.limit.saturating_sub(found.len() as u64).min(i64::MAX as u64);
        if left == 0 {
            break;
        }
        let Some(mut stretch) = line.get(index)?.cloned() else { break };
        stretch.to = stretch.to.min(newest.to);
        index += 1;
        let part = MarkedPart { db, tenant, stretch: &stretch, limit: left };
        found.extend(match what {
            Marked::UserTurn => part.by_mark(1, "message.appended")?,
            Marked::System => part.by_mark(2, "message.appended")?,
            Marked::Kind(kind) => part.by_mark(3, kind)?,
            Marked::OfLane(kind, lane) => part.by_lane(kind, lane.as_str())?,
            Marked::EachLane(kind) => part.each_lane(kind, &mut lanes)?,
        });
    }
    found.truncate(usize::try_from(newest.limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// Returns the control events of the given kinds in all streams. The index is searched once per stream and kind,
/// regardless of the streams' lengths.
pub(in crate::sqlite) fn of_kinds(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<StoredEvent>, StoreError> {
    let Query::OfKinds { tenant, of, kinds, since } = query else { return Ok(Vec::new()) };
    let visible = Visible::new(reach, 5);
    let sql = format!("{EVENT} {} AND at >= ?4 ORDER BY stream, seq", are_of_kinds(visible));
    let since = since.map_or(i64::MIN, |since| since.0);
    rows(db, &sql, visible.with(params![tenant.0, json(kinds)?, *of as u8, since]), event_row)
}

/// Returns the places of the control events of the given kinds. Only the index is read.
pub(in crate::sqlite) fn places_of_kinds(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<(StreamNo, Seq)>, StoreError> {
    let Query::PlacesOfKinds { tenant, of, kinds } = query else { return Ok(Vec::new()) };
    let visible = Visible::new(reach, 4);
    let sql = format!("SELECT stream, seq FROM events {} ORDER BY stream, seq", are_of_kinds(visible));
    let own = params![tenant.0, json(kinds)?, *of as u8];
    rows(db, &sql, visible.with(own), |row| Ok((StreamNo(row.get(0)?), Seq(row.get(1)?))))
}

/// Returns the condition of a search for the control events of given kinds. The tenant is parameter 1, the JSON list of
/// kinds 2, the kind of the streams 3.
fn are_of_kinds(visible: Visible<'_>) -> String {
    format!(
        "INDEXED BY events_marked
         WHERE tenant = ?1 AND stream IN (SELECT s.stream FROM streams s WHERE s.tenant = ?1 AND s.what = ?3{})
         AND mark = 3 AND mark >= 1 AND kind IN (SELECT value FROM json_each(?2))",
        visible.stream("s")
    )
}

/// A range of a stream to search.
struct MarkedPart<'a> {
    db: &'a Connection,
    tenant: TenantNo,
    stretch: &'a Stretch,
    limit: u64,
}

impl MarkedPart<'_> {
    fn by_mark(&self, mark: u8, kind: &str) -> Result<Vec<StoredEvent>, StoreError> {
        // SQLite would scan the whole stream without this index hint.
        let sql = format!(
            "{EVENT} INDEXED BY events_marked WHERE tenant = ?1 AND stream = ?2 AND mark = ?3 AND kind = ?4 AND seq BETWEEN ?5 AND ?6 AND mark >= 1
             ORDER BY seq DESC LIMIT ?7"
        );
        let Stretch { no, from, to, .. } = self.stretch;
        let values = params![self.tenant.0, no.0, mark, kind, from.0, to.0, self.limit];
        rows(self.db, &sql, values, event_row)
    }

    fn by_lane(&self, kind: &str, lane: &str) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = format!(
            "{EVENT} INDEXED BY events_by_lane WHERE tenant = ?1 AND stream = ?2 AND kind = ?3 AND lane = ?4 AND seq BETWEEN ?5 AND ?6 AND lane IS NOT NULL
             ORDER BY seq DESC LIMIT ?7"
        );
        let Stretch { no, from, to, .. } = self.stretch;
        let values = params![self.tenant.0, no.0, kind, lane, from.0, to.0, self.limit];
        rows(self.db, &sql, values, event_row)
    }

    /// Returns the latest event of each lane that is not in `lanes`. The query searches the index once per lane,
    /// regardless of the lane's length.
    fn each_lane(&self, kind: &str, lanes: &mut HashSet<String>) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = "
            WITH RECURSIVE found (lane) AS (
                SELECT min(lane) FROM events INDEXED BY events_by_lane
                WHERE tenant = ?1 AND stream = ?2 AND kind = ?3 AND lane IS NOT NULL
                UNION ALL
                SELECT (SELECT min(e.lane) FROM events e INDEXED BY events_by_lane
                        WHERE e.tenant = ?1 AND e.stream = ?2 AND e.kind = ?3 AND e.lane > found.lane AND e.lane IS NOT NULL)
                FROM found WHERE found.lane IS NOT NULL)
            SELECT lane, (SELECT max(e.seq) FROM events e INDEXED BY events_by_lane
                          WHERE e.tenant = ?1 AND e.stream = ?2 AND e.kind = ?3 AND e.lane = found.lane
                          AND e.seq BETWEEN ?4 AND ?5 AND e.lane IS NOT NULL)
            FROM found WHERE lane IS NOT NULL";
        let Stretch { no, from, to, .. } = self.stretch;
        let values = params![self.tenant.0, no.0, kind, from.0, to.0];
        let newest: Vec<(String, Option<u64>)> =
            rows(self.db, sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut places: Vec<u64> =
            newest.into_iter().filter_map(|(lane, seq)| seq.filter(|_| lanes.insert(lane))).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        let sql = format!("{EVENT} WHERE tenant = ?1 AND stream = ?2 AND seq = ?3");
        let event = |seq: u64| row(self.db, &sql, params![self.tenant.0, no.0, seq], event_row);
        places.into_iter().filter_map(|seq| event(seq).transpose()).collect()
    }
}

/// Returns messages in the user's role whose authors are not settled.
pub(in crate::sqlite) fn unsettled(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<(StreamNo, Seq)>, StoreError> {
    let Query::Unsettled { tenant, of, limit } = query else { return Ok(Vec::new()) };
    let visible = Visible::new(reach, 4);
    let sql = format!(
        "SELECT stream, seq FROM events INDEXED BY events_unsettled
         WHERE tenant = ?1 AND role = 1 AND author IS NULL AND payload IS NOT NULL
         AND (SELECT what FROM streams s WHERE s.stream = events.stream{}) = ?3 ORDER BY stream, seq LIMIT ?2",
        visible.stream("s")
    );
    let own = params![tenant.0, limit, *of as u8];
    rows(db, &sql, visible.with(own), |row| Ok((StreamNo(row.get(0)?), Seq(row.get(1)?))))
}

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
