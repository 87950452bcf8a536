//! The ledger's files: created whole, read by their owner only, scrubbed after an erasure, replaced by a restore.

mod create;
mod restore;
mod scene;
mod scrub;
mod text;
