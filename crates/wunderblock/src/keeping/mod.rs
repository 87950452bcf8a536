//! Care of a ledger: erasure, examination, backups and their restoring.

#[cfg(feature = "sqlite")]
pub(crate) mod backup;
pub(crate) mod doctor;
pub(crate) mod erase;
#[cfg(feature = "sqlite")]
pub(crate) mod ledger_copies;
pub(crate) mod maintenance;
#[cfg(feature = "sqlite")]
pub(crate) mod restore;
