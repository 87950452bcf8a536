//! The next request of a lane: built, compacted first where that is due, and recorded.
//!
//! ```text
//! Build ─► Draft ─ due? ─► compact, and build again
//!                └─ else ─► record: preamble.changed … context.built ─► Built
//! ```
//! What a build decided is appended only if the session has not grown meanwhile; if it has, the build begins again.

mod auto_compact;
mod built;
mod record;

use crate::compact::state::refuse_unsettled;
use crate::drive::{context_job, run_build};
use crate::future::BoxFuture;
use auto_compact::{AutoCompaction, compact_if_due, find_due};
pub use built::Built;
pub(crate) use built::unreached;
use record::{record_overflow, record_request};
pub(crate) use record::{refused, to_record};

use crate::error::Error;
use crate::limits;
use crate::request::build::Build;
use crate::request::options::ContextOptions;
use crate::request::stages::Stopped;
use crate::session::Session;
use crate::store::StoreError;
use wunderblock_core::compact::Due;

impl Session {
    /// Builds the next request and records it. When even the least does not fit, that is recorded, too: as
    /// `turn.completed` with `context_overflow` and the breakdown.
    ///
    /// # Errors
    /// [`Error::OverBudget`] when even the least does not fit; otherwise when the ledger cannot be used.
    pub fn context(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Built> {
        build_context(self, options.into())
    }

    /// Builds the request that [`Session::context`] would build, compaction included, and records nothing. No model is asked
    /// and no hook runs: where a model would write summaries, those of the extractive summariser stand in their places, and
    /// [`Compacted::stands_in_for`](crate::Compacted::stands_in_for) names it.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub fn explain(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Built> {
        build_draft(self, options.into())
    }
}

fn build_context(session: &Session, options: ContextOptions) -> BoxFuture<'_, Built> {
    Box::pin(async move {
        let mut auto = AutoCompaction::default();
        if let Some(compactor) = &options.compactor {
            refuse_unsettled(session, &compactor.policy, &options).await?;
        }
        for _ in 0..limits::BUILD_RETRIES {
            let drafted = run_build(session, Build::draft(context_job(session, &options))).await?;
            if compact_if_due(session, &options, &drafted, &mut auto).await? {
                continue;
            }
            let draft = match drafted {
                Ok(draft) => draft,
                Err(Stopped::Failed(error)) => return Err(error),
                Err(Stopped::Refused { lane, refusal, .. }) => {
                    let done = auto.describe(options.compactor.as_ref());
                    record_overflow(session, &lane, &refusal, &done).await?;
                    return Err(Error::OverBudget(refusal));
                }
            };
            match record_request(session, &draft).await {
                Err(Error::Store(StoreError::HeadMoved { .. })) => {}
                Err(error) => return Err(error),
                Ok(recorded) => {
                    let AutoCompaction { compacted, due, .. } = auto;
                    let out_of_reach = unreached(&options, &draft);
                    return Ok(Built { draft, recorded: Some(recorded), compacted, out_of_reach, due });
                }
            }
        }
        Err(Error::Restless)
    })
}

/// Whether the lane's next request makes it due for a compaction by the options' policy, and why.
pub(crate) async fn due_for(session: &Session, options: &ContextOptions) -> Result<Option<Due>, Error> {
    let Some(compactor) = &options.compactor else { return Ok(None) };
    let drafted = run_build(session, Build::draft(context_job(session, options))).await?;
    find_due(session, &compactor.policy, &drafted).await
}

fn build_draft(session: &Session, options: ContextOptions) -> BoxFuture<'_, Built> {
    Box::pin(async move {
        if options.at.is_some() {
            let draft = run_build(session, Build::draft(context_job(session, &options))).await??;
            let out_of_reach = unreached(&options, &draft);
            return Ok(Built { draft, recorded: None, compacted: None, out_of_reach, due: None });
        }
        let mut built = build_context(&session.aside(), options).await?;
        built.recorded = None;
        if let Some(done) = &mut built.compacted {
            done.unrecord();
        }
        Ok(built)
    })
}
