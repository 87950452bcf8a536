//! Input to a build, which does not change while the build runs.

use crate::ledger::engine::Reducer;
use crate::request::input::lane::LaneChoice;
use crate::request::input::options::ContextOptions;
use crate::rules::catalog::Catalog;
use crate::rules::token_costs::Counts;
use std::sync::Arc;
use wunderblock_core::id::{Handle, StreamId, TenantId};
use wunderblock_core::policy::Reduce;
use wunderblock_core::units::Millis;
use wunderblock_store::codec::name_handle;

/// Input of a build. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct BuildJob {
    pub(crate) tenant: TenantId,
    pub(crate) stream: StreamId,
    pub(crate) lane: LaneChoice,
    pub(crate) options: Arc<ContextOptions>,
    /// Rules by which tool results are shortened.
    pub(crate) rules: Reduce,
    /// Time at which the build began.
    pub(crate) now: Millis,
    /// Key from which handles of new bodies are derived.
    pub(crate) key: [u8; 32],
    pub(crate) catalog: Catalog,
    pub(crate) reducer: Reducer,
    pub(crate) counts: Arc<Counts>,
}

impl BuildJob {
    /// Returns the handle of the session.
    pub(crate) fn stream_handle(&self) -> Handle {
        name_handle(&self.key, "stream", self.stream.as_str())
    }
}
