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

use crate::compact::due::is_due;
use crate::compact::state::refuse_unsettled;
use crate::drive::{context_job, run_build};
use crate::future::BoxFuture;
use auto_compact::{AutoCompaction, compact_if_due};
pub use built::Built;
use record::{record_overflow, record_request};
pub(crate) use record::{refused, to_record};

use crate::error::Error;
use crate::limits;
use crate::request::build::Build;
use crate::request::options::ContextOptions;
use crate::request::stages::Stopped;
use crate::session::Session;
use crate::store::StoreError;

impl Session {
    /// Builds the next request and records it. When even the least does not fit, that is recorded, too: as
    /// `turn.completed` with `context_overflow` and the breakdown.
    ///
    /// # Errors
    /// [`Error::OverBudget`] when even the least does not fit; otherwise when the ledger cannot be used.
    pub fn context(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Built> {
        build_context(self, options.into())
    }

    /// Builds the request that [`Session::context`] would build, and records nothing.
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
            refuse_unsettled(session, &compactor.policy, &options.lane()).await?;
        }
        for _ in 0..limits::BUILD_RETRIES {
            let drafted = run_build(session, Build::draft(context_job(session, &options))).await?;
            if compact_if_due(session, &options, &drafted, &mut auto).await? {
                continue;
            }
            let draft = match drafted {
                Ok(draft) => draft,
                Err(Stopped::Failed(error)) => return Err(error),
                Err(Stopped::Refused { refusal, .. }) => {
                    let done = auto.describe(options.compactor.as_ref());
                    record_overflow(session, &options.lane(), &refusal, &done).await?;
                    return Err(Error::OverBudget(refusal));
                }
            };
            match record_request(session, &draft).await {
                Err(Error::Store(StoreError::HeadMoved { .. })) => {}
                Err(error) => return Err(error),
                Ok(recorded) => {
                    let AutoCompaction { compacted, due, .. } = auto;
                    return Ok(Built { draft, recorded: Some(recorded), compacted, due });
                }
            }
        }
        Err(Error::Restless)
    })
}

fn build_draft(session: &Session, options: ContextOptions) -> BoxFuture<'_, Built> {
    Box::pin(async move {
        let draft = run_build(session, Build::draft(context_job(session, &options))).await??;
        let due = match &options.compactor {
            Some(compactor) if options.at.is_none() => is_due(session, &compactor.policy, &draft).await?,
            _ => None,
        };
        Ok(Built { draft, recorded: None, compacted: None, due })
    })
}
