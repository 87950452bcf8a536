//! A session replayed under many policies, as if it were live.
//!
//! ```text
//! ledger ─ history ─► events, texts, counts ─ index ─► entities of every part, requests, what each reply refers to
//!                                                │
//!            for each policy, on its own thread: └► Lane: plan ─ due? ─ climb ─ apply ─ plan ─ render ─► Sheet ─► Account
//! ```
//! Before every reply of the model a request is built, from everything that came before it, by what builds a live one:
//! the same plan, the same measure, the same ladder and the same renderer, on a lane that exists in memory only. Nothing is
//! recorded. What differs from a live lane: providers' own counts are not used, since they are of other requests; and the
//! clock is that of the events.

mod account;
mod digest;
mod history;
mod index;
mod names;
mod needs;
mod play;
mod reach;
mod result;
mod sheet;
mod watch;

use crate::drive::{context_job, run_build};
use crate::future::BoxFuture;
use history::read_history;
pub use result::{PolicyResult, Simulation};
pub use watch::OnSimulated;

use crate::compactor::Compactor;
use crate::engine::Engine;
use crate::error::Error;
use crate::parallel::{self, on_thread};
use crate::request::build::Build;
use crate::request::job::BuildJob;
use crate::request::lane::LaneChoice;
use crate::request::options::ContextOptions;
use crate::request::stages::Loaded;
use crate::request::target::Target;
use crate::session::Session;
use crate::summarize::Summarise;
use index::Index;
use play::Play;
use std::fmt;
use std::sync::Arc;
use watch::Watch;
use wunderblock_core::policy::Policy;

/// What is asked of a simulation.
#[derive(Clone)]
pub struct SimulateOptions {
    /// What the requests are for: model, window, reserve, shares, and the lane whose preamble they begin with. Its sources,
    /// its query and its compactor are not used.
    pub context: ContextOptions,
    /// The policies, each under its name.
    pub policies: Vec<Arc<Policy>>,
    /// Who writes summaries; none for the extractive summariser, which needs no model.
    pub summariser: Option<Arc<dyn Summarise>>,
    /// Told how far it is.
    pub progress: Option<OnSimulated>,
}

impl fmt::Debug for SimulateOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.policies.iter().map(|policy| &*policy.name).collect();
        f.debug_struct("SimulateOptions").field("policies", &names).finish_non_exhaustive()
    }
}

impl SimulateOptions {
    /// What is asked of each request: for the session's own model and window, without sources.
    fn requests(&self, target: &Target) -> ContextOptions {
        ContextOptions {
            lane: self.context.lane.clone(),
            model: Some(target.model.clone()),
            window: Some(target.budget.window),
            reserve: Some(target.budget.reserve),
            dialect: Some(target.dialect),
            shares: self.context.shares.clone(),
            ..ContextOptions::uncompacted()
        }
    }
}

impl Engine {
    /// Replays sessions under each policy, one after the other, as if they were one: some programs keep one history in many.
    /// Nothing is recorded. The answer is none if whoever watched it stopped it.
    ///
    /// # Errors
    /// When the ledger cannot be read, or no request could be built because nothing was said.
    pub fn simulate<'a>(
        &'a self,
        sessions: &'a [Session],
        options: &'a SimulateOptions,
    ) -> BoxFuture<'a, Option<Simulation>> {
        Box::pin(async move {
            let Some(last) = sessions.last() else { return Err(Error::NoSession(String::new())) };
            let job = context_job(last, &options.context);
            let Loaded { snapshot, target, .. } = run_build(last, Build::loaded(job)).await??;
            let lane = snapshot.lane().clone();
            let first = sessions.first().unwrap_or(last);
            let job = BuildJob {
                options: Arc::new(options.requests(&target)),
                lane: LaneChoice::Named(lane.clone()),
                ..context_job(first, &options.context)
            };
            let history = read_history(self, sessions, (job, lane), &target).await?;
            let redactor = Arc::clone(&self.config.redactor);
            let (options, sessions) = (options.clone(), sessions.len() as u64);
            on_thread(move || {
                let index = Index::of(&history, &target)?;
                if index.moments.is_empty() {
                    return Err(Error::Silence(history.job.stream.clone()));
                }
                let requests = index.moments.len() as u64 * options.policies.len() as u64;
                let watch = Watch::new(options.progress.clone(), requests);
                let ran = parallel::map(options.policies.clone(), |policy| {
                    let compactor =
                        Compactor { summariser: options.summariser.clone(), ..Compactor::new(policy) };
                    Play::new(&history, &index, &target, compactor).run(&redactor, &watch)
                })?;
                let Some(results) = ran.into_iter().collect::<Option<Vec<PolicyResult>>>() else {
                    return Ok(None);
                };
                Ok(Some(Simulation { sessions, ..result::simulation(&history, &index, &target, results) }))
            })
            .await?
        })
    }
}
