//! What a build is for, and what it works with: nothing of it changes while the build is under way.

use super::lane::LaneChoice;
use super::options::ContextOptions;
use crate::catalog::Catalog;
use crate::engine::Reducer;
use crate::store::codec::name_handle;
use crate::token_costs::Counts;
use std::sync::Arc;
use wunderblock_core::id::{Handle, StreamId, TenantId};
use wunderblock_core::policy::Reduce;
use wunderblock_core::units::Millis;

/// What a build is for, and what it works with. Cheap to clone.
#[derive(Clone)]
pub(crate) struct BuildJob {
    pub(crate) tenant: TenantId,
    pub(crate) stream: StreamId,
    pub(crate) lane: LaneChoice,
    pub(crate) options: Arc<ContextOptions>,
    /// How tool results are made shorter.
    pub(crate) rules: Reduce,
    /// When the build began.
    pub(crate) now: Millis,
    /// What handles of new bodies are made with.
    pub(crate) key: [u8; 32],
    pub(crate) catalog: Catalog,
    pub(crate) reducer: Reducer,
    pub(crate) counts: Arc<Counts>,
}

impl BuildJob {
    /// The session's own handle.
    pub(crate) fn stream_handle(&self) -> Handle {
        name_handle(&self.key, "stream", self.stream.as_str())
    }
}
