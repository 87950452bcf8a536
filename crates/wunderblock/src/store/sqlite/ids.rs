//! Finding events by their ids, erased ones among them.

use super::sql::row;
use crate::store::row::{KnownEvent, StreamNo, TenantNo};
use crate::store::{StoreError, codec};
use rusqlite::{Connection, params};
use wunderblock_core::id::EventId;
use wunderblock_core::units::Seq;

/// How the ids of a tenant's events are looked up.
pub(super) struct Ids {
    /// Key of the tenant, if something of it was erased: erased events are found under hashed ids.
    key: Option<[u8; 32]>,
}

impl Ids {
    pub(super) fn of(db: &Connection, tenant: TenantNo) -> Result<Self, StoreError> {
        let sql = "SELECT key FROM tenants WHERE tenant = ?1 AND epoch > 0";
        Ok(Self { key: row(db, sql, params![tenant.0], |row| row.get(0))? })
    }

    /// Returns the event with an id among the first positions of a stream.
    pub(super) fn find(
        &self,
        db: &Connection,
        (tenant, stream, to): (TenantNo, StreamNo, Seq),
        id: &EventId,
    ) -> Result<Option<KnownEvent>, StoreError> {
        let find = |id: &EventId| {
            let sql = "SELECT seq, salt, proof, id FROM events WHERE tenant = ?1 AND stream = ?2 AND id = ?3 AND seq <= ?4";
            row(db, sql, params![tenant.0, stream.0, id.as_str(), to.0.min(i64::MAX as u64)], |row| {
                let (salt, proof): (Option<[u8; 16]>, [u8; 32]) = (row.get(1)?, row.get(2)?);
                // The proof of what remains of an erased event does not prove the event.
                let is_whole = !codec::is_erased_name(row.get_ref(3)?.as_str()?);
                Ok(KnownEvent {
                    seq: Seq(row.get(0)?),
                    proof: salt.filter(|_| is_whole).map(|salt| (salt, proof)),
                })
            })
        };
        match (find(id)?, &self.key) {
            (None, Some(key)) => find(&codec::erased_id(key, id)),
            (found, _) => Ok(found),
        }
    }
}
