//! Benchmarks of the library, within this process or a child of it.

pub(super) mod behind;
pub(super) mod compaction;
pub(super) mod context;
pub(super) mod families;
pub(super) mod finding;
pub(super) mod growth;
pub(super) mod ingest;
pub(super) mod live;
pub(super) mod project;
pub(super) mod scope;
pub(super) mod simulate;
pub(super) mod vectors;
