//! Commands that keep a ledger: backups, erasure and examination.

pub(crate) mod backup;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod restore;
