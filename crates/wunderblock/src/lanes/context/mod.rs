//! The next request of a session, built from its ledger.

mod built;

use crate::base::apart::apart;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::compact::state::refuse_unsettled;
use crate::compaction::drive::run_build;
use crate::lanes::turn::{next_due, turn};
use crate::ledger::session::{Session, in_overlay};
use crate::request::build::Build;
use crate::request::desk::Desk;
use crate::request::input::options::ContextOptions;
pub use built::Built;
pub(crate) use built::unreached;
use std::sync::Arc;
use wunderblock_core::compact::Due;
use wunderblock_core::message::Message;

impl Session {
    /// Builds the next request and records it. If even the smallest request does not fit, that is recorded as
    /// `turn.completed` with `context_overflow` and the breakdown.
    ///
    /// # Errors
    /// Returns [`Error::OverBudget`] if even the smallest request does not fit, or another error if the ledger cannot
    /// be used.
    pub fn context(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Built> {
        let (session, options) = (self.clone(), options.into());
        Box::pin(apart(move || async move { build_context(&session, options).await }))
    }

    /// Builds the request that [`Session::context`] would build, including a compaction, and records nothing. No
    /// model is called and no hook runs: the extractive summariser replaces a model that would write summaries, and
    /// [`Compacted::stands_in_for`](crate::Compacted::stands_in_for) names that model.
    ///
    /// # Errors
    /// See [`Session::context`].
    pub fn explain(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Built> {
        let (session, options) = (self.clone(), options.into());
        Box::pin(apart(move || async move { build_draft(&session, options).await }))
    }
}

fn build_context(session: &Session, options: ContextOptions) -> BoxFuture<'_, Built> {
    Box::pin(async move {
        // The prompt is appended outside the loop, so that a retry does not repeat it.
        if let Some(prompt) = &options.prompt {
            session.append(Message::user(prompt.as_str())).await?;
        }
        if let Some(compactor) = &options.compactor {
            refuse_unsettled(session, &compactor.policy, &options).await?;
        }
        let (house, asked) = (session.house(), options.clone());
        let build = Build::new(async move |ask| turn(&Desk { house, ask }, &asked).await);
        Built::of(run_build(session, build).await??, &options)
    })
}

/// Returns the reason if the lane's next request is due for a compaction by the options' policy.
pub(crate) async fn due_for(session: &Session, options: &ContextOptions) -> Result<Option<Due>, Error> {
    let Some(compactor) = &options.compactor else { return Ok(None) };
    let (house, options, policy) = (session.house(), options.clone(), Arc::clone(&compactor.policy));
    let build = Build::new(async move |ask| next_due(&Desk { house, ask }, &policy, &options).await);
    run_build(session, build).await?
}

fn build_draft(session: &Session, options: ContextOptions) -> BoxFuture<'_, Built> {
    Box::pin(async move {
        if options.at.is_some() {
            if options.prompt.is_some() {
                let why = "a prompt is the session's next turn; leave it out for a request as of an earlier position";
                return Err(Error::Config(why.to_owned()));
            }
            let draft = run_build(session, Build::draft(session.house().job(&options))).await??;
            let out_of_reach = unreached(&options, &draft);
            return Ok(Built { draft, recorded: None, compacted: None, out_of_reach, due: None });
        }
        // Nothing is recorded because the overlay keeps all appends in memory.
        in_overlay(session, move |aside| {
            let options = options.clone();
            Box::pin(async move { build_aside(&aside, options).await })
        })
        .await
    })
}

/// Builds the next request of a session that is kept aside.
pub(crate) async fn build_aside(aside: &Session, options: ContextOptions) -> Result<Built, Error> {
    let mut built = build_context(aside, options).await?;
    built.recorded = None;
    if let Some(done) = &mut built.compacted {
        done.unrecord();
    }
    Ok(built)
}
