//! Finding events by their ids, erased ones among them.

use crate::row::{KnownEvent, StreamNo, Stretch, TenantNo};
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::sql::{row, rows};
use crate::{StoreError, codec};
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::units::Seq;

/// How the ids of a tenant's events are looked up.
pub(in crate::sqlite) struct Ids {
    /// Key of the tenant, if something of it was erased: erased events are found under hashed ids.
    key: Option<[u8; 32]>,
}

impl Ids {
    pub(in crate::sqlite) fn of(db: &Connection, tenant: TenantNo) -> Result<Self, StoreError> {
        let sql = "SELECT key FROM tenants WHERE tenant = ?1 AND epoch > 0";
        Ok(Self { key: row(db, sql, params![tenant.0], |row| row.get(0))? })
    }

    /// Returns the ids under which an event may be stored: its own, and the one that it has after an erasure.
    pub(in crate::sqlite) fn names(&self, id: &EventId) -> impl Iterator<Item = EventId> + use<> {
        std::iter::once(id.clone()).chain(self.key.map(|key| codec::erased_id(&key, id)))
    }

    /// Returns the event with an id among the first positions of a stream.
    pub(in crate::sqlite) fn find(
        &self,
        db: &Connection,
        (tenant, stream, to): (TenantNo, StreamNo, Seq),
        id: &EventId,
    ) -> Result<Option<KnownEvent>, StoreError> {
        let find = |id: &EventId| {
            let sql = "SELECT id, seq, salt, proof FROM events WHERE tenant = ?1 AND stream = ?2 AND id = ?3 AND seq <= ?4";
            row(db, sql, params![tenant.0, stream.0, id.as_str(), to.0.min(i64::MAX as u64)], known_event)
        };
        match (find(id)?, &self.key) {
            (None, Some(key)) => find(&codec::erased_id(key, id)),
            (found, _) => Ok(found),
        }
    }

    /// Returns, for each id, the event with that id in a stream or in its ancestors. A range of positions with fewer
    /// events than there are ids is read as a whole: a chain of short forks is then read once, whatever the number of
    /// ids.
    pub(in crate::sqlite) fn find_all(
        &self,
        db: &Connection,
        tenant: TenantNo,
        stream: &StreamId,
        ids: &[EventId],
    ) -> Result<Vec<Option<KnownEvent>>, StoreError> {
        let (mut line, mut index) = (Lineage::of(db, tenant, stream)?, 0);
        let mut found = vec![None; ids.len()];
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        while let Some(part) = line.get(index)?.filter(|_| found.iter().any(Option::is_none)) {
            if part.to.0 - part.from.prev().0 < ids.len() as u64 {
                if places.is_empty() {
                    places = self.places(ids);
                }
                for (id, event) in stored_in(db, tenant, part)? {
                    for place in places.get(&id).into_iter().flatten() {
                        if let Some(found) = found.get_mut(*place) {
                            found.get_or_insert(event);
                        }
                    }
                }
            } else {
                for (id, found) in ids.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
                    *found = self.find(db, (tenant, part.no, part.to), id)?;
                }
            }
            index += 1;
        }
        Ok(found)
    }

    /// Returns the places of ids in a list, by the ids under which their events may be stored.
    fn places(&self, ids: &[EventId]) -> HashMap<String, Vec<usize>> {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, id) in ids.iter().enumerate() {
            self.names(id).for_each(|name| places.entry(name.as_str().to_owned()).or_default().push(place));
        }
        places
    }
}

/// Returns the events of a range of positions, by the ids under which they are stored.
fn stored_in(
    db: &Connection,
    tenant: TenantNo,
    part: &Stretch,
) -> Result<Vec<(String, KnownEvent)>, StoreError> {
    let sql =
        "SELECT id, seq, salt, proof FROM events WHERE tenant = ?1 AND stream = ?2 AND seq BETWEEN ?3 AND ?4";
    let read = |row: &Row<'_>| Ok((row.get(0)?, known_event(row)?));
    rows(db, sql, params![tenant.0, part.no.0, part.from.0, part.to.0], read)
}

fn known_event(row: &Row<'_>) -> rusqlite::Result<KnownEvent> {
    let (salt, proof): (Option<[u8; 16]>, [u8; 32]) = (row.get(2)?, row.get(3)?);
    // The proof of what remains of an erased event does not prove the event.
    let is_whole = !codec::is_erased_name(row.get_ref(0)?.as_str()?);
    Ok(KnownEvent { seq: Seq(row.get(1)?), proof: salt.filter(|_| is_whole).map(|salt| (salt, proof)) })
}
