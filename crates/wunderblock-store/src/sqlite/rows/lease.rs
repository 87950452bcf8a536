//! Leases: which worker holds which work.

use crate::StoreError;
use crate::row::{Lease, TenantNo};
use crate::sqlite::sql::{row, run};
use crate::write::Written;
use rusqlite::{Connection, params};
use wunderblock_core::units::Millis;

pub(in crate::sqlite) fn lease(
    db: &Connection,
    tenant: TenantNo,
    key: &str,
) -> Result<Option<Lease>, StoreError> {
    let sql = "SELECT holder, until FROM leases WHERE tenant = ?1 AND key = ?2";
    row(db, sql, params![tenant.0, key], |row| Ok(Lease { holder: row.get(0)?, until: Millis(row.get(1)?) }))
}

pub(in crate::sqlite) fn claim(
    db: &Connection,
    tenant: TenantNo,
    key: &str,
    asked: &Lease,
    now: Millis,
) -> Result<Written, StoreError> {
    // A single statement ensures that two workers cannot claim the same work at the same time.
    let taken = run(
        db,
        "INSERT INTO leases (tenant, key, holder, until) VALUES (?1, ?2, ?3, ?5)
         ON CONFLICT (tenant, key) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE leases.holder = excluded.holder OR leases.until <= ?4",
        params![tenant.0, key, asked.holder, now.0, asked.until.0],
    )?;
    let other = if taken == 0 { lease(db, tenant, key)? } else { None };
    Ok(Written::Claimed(other))
}

pub(in crate::sqlite) fn release(
    db: &Connection,
    tenant: TenantNo,
    key: &str,
    holder: &str,
) -> Result<Written, StoreError> {
    let sql = "DELETE FROM leases WHERE tenant = ?1 AND key = ?2 AND holder = ?3";
    run(db, sql, params![tenant.0, key, holder])?;
    Ok(Written::Done)
}
