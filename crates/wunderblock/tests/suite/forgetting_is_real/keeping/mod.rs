//! The ledger's files: created completely, readable only by their owner, scrubbed after an erasure, replaced by a
//! restore.

mod create;
mod restore;
mod scene;
mod scrub;
mod text;
