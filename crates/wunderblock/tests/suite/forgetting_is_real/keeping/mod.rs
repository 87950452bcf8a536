//! The ledger's files are created completely, are readable only by their owner, are scrubbed after an erasure, and
//! are replaced by a restore.

mod copies;
mod create;
mod fields;
mod forged;
mod progress;
mod races;
mod restore;
mod scene;
mod scrub;
mod text;
