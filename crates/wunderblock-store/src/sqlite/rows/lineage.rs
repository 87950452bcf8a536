//! The ranges of positions that make up a stream, read one by one.
//!
//! A fork of a fork of a fork has a range for each of them. Most questions concern the stream's own range or the next
//! one, so a range is read only when it is asked for: a question about one branch then costs the same, however deep the
//! branch is.

use crate::StoreError;
use crate::row::{StreamNo, Stretch, TenantNo};
use crate::sqlite::sql::{row, stream_id};
use rusqlite::{Connection, params};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// Ranges of positions that make up a stream, its own range first and then those of its ancestors. Each range ends
/// where the one before it begins.
pub(in crate::sqlite) struct Lineage<'a> {
    db: &'a Connection,
    tenant: TenantNo,
    /// Ranges read so far.
    read: Vec<Stretch>,
    /// Ancestor to read next, and the last of its positions that the stream shares.
    next: Option<(StreamNo, Seq)>,
}

/// A stream as its lineage needs it.
struct Ancestor {
    own: Stretch,
    fork_of: Option<StreamNo>,
}

impl<'a> Lineage<'a> {
    /// Returns the lineage of a stream, of which only the stream's own range has been read.
    pub(in crate::sqlite) fn of(
        db: &'a Connection,
        tenant: TenantNo,
        id: &StreamId,
    ) -> Result<Self, StoreError> {
        let sql = "SELECT stream, id, head, base, fork_of FROM streams WHERE tenant = ?1 AND id = ?2";
        let found = row(db, sql, params![tenant.0, id.as_str()], ancestor)?;
        let Ancestor { own, fork_of } = found.ok_or_else(|| StoreError::NoStream(id.clone()))?;
        let next = fork_of.map(|parent| (parent, own.from.prev()));
        Ok(Self { db, tenant, read: vec![own], next })
    }

    /// Returns a range by its index, or `None` after the last one.
    pub(in crate::sqlite) fn get(&mut self, index: usize) -> Result<Option<&Stretch>, StoreError> {
        while self.read.len() <= index && self.read_next()? {}
        Ok(self.read.get(index))
    }

    /// Returns all ranges.
    pub(in crate::sqlite) fn all(mut self) -> Result<Vec<Stretch>, StoreError> {
        while self.read_next()? {}
        Ok(self.read)
    }

    /// Returns the ranges that have positions from `from` on, the stream's own range first.
    pub(in crate::sqlite) fn down_to(mut self, from: Seq) -> Result<Vec<Stretch>, StoreError> {
        while self.read.last().is_some_and(|last| last.from > from) && self.read_next()? {}
        Ok(self.read)
    }

    /// Returns the index of the range that holds a position, or the last position before it. `None` if the position
    /// precedes all events.
    pub(in crate::sqlite) fn holder(&mut self, seq: Seq) -> Result<Option<usize>, StoreError> {
        let mut index = 0;
        while let Some(part) = self.get(index)? {
            if part.from <= seq.min(part.to) {
                return Ok(Some(index));
            }
            index += 1;
        }
        Ok(None)
    }

    /// Reads the next range. Returns whether there is one.
    fn read_next(&mut self) -> Result<bool, StoreError> {
        while let Some((no, to)) = self.next {
            let sql = "SELECT stream, id, head, base, fork_of FROM streams WHERE tenant = ?1 AND stream = ?2";
            let Some(Ancestor { mut own, fork_of }) =
                row(self.db, sql, params![self.tenant.0, no.0], ancestor)?
            else {
                return Err(StoreError::Damaged(format!("the parent session {} of a fork is missing", no.0)));
            };
            own.to = own.to.min(to);
            self.next = fork_of.map(|parent| (parent, own.from.prev().min(to)));
            // A fork may begin at or before its parent's own base. Its parent then contributes no positions.
            if own.from <= own.to {
                self.read.push(own);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn ancestor(row: &rusqlite::Row<'_>) -> rusqlite::Result<Ancestor> {
    let own = Stretch {
        no: StreamNo(row.get(0)?),
        stream: stream_id(row.get(1)?)?,
        from: Seq(row.get(3)?).next(),
        to: Seq(row.get(2)?),
    };
    Ok(Ancestor { own, fork_of: row.get::<_, Option<u32>>(4)?.map(StreamNo) })
}
