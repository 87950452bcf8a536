//! Sessions replayed under many policies, as if they were live.
//!
//! ```text
//! ledger ─ history ─► events, texts, counts ─ index ─► entities of every part, requests, what each reply refers to
//!                                                │
//!   for each window and policy, on its own thread: └► Lane: plan ─ due? ─ climb ─ apply ─ plan ─ render ─► Sheet ─► Account
//!                                                                                                             │
//!                                      all histories: results added up ─ compare: draws of the same replies ◄─┘
//! ```
//! Before every reply of the model a request is built, from everything that came before it, by what builds a live one:
//! the same plan, the same measure, the same ladder and the same renderer, on a lane that exists in memory only. Nothing is
//! recorded. What differs from a live lane: providers' own counts are not used, since they are of other requests; and the
//! clock is that of the events.

mod account;
mod compare;
mod digest;
mod history;
mod index;
mod levels;
mod names;
mod needs;
mod play;
mod pool;
mod reach;
mod rereads;
mod result;
mod said;
mod sheet;
mod watch;

use crate::drive::{context_job, run_build};
use crate::future::BoxFuture;
pub use compare::{PairedDifference, PairedVerdict, PolicyDifference, PolicyGain};
pub use history::histories;
use history::read_history;
pub use result::{
    PolicyResult, Recall, RecallCounts, ReplyRecall, SimulatedHistory, Simulation, SummaryWriter,
};
pub use watch::OnSimulated;

use crate::catalog::Catalog;
use crate::compactor::Compactor;
use crate::engine::Engine;
use crate::error::Error;
use crate::parallel::{self, on_thread};
use crate::request::build::Build;
use crate::request::job::BuildJob;
use crate::request::lane::LaneChoice;
use crate::request::options::ContextOptions;
use crate::request::stages::Loaded;
use crate::request::target::{SessionModel, Target};
use crate::session::Session;
use crate::summarize::Summarise;
use index::Index;
use play::{Play, PlayedWindow};
use std::fmt;
use std::sync::Arc;
use watch::Watch;
use wunderblock_core::policy::{Permille, Policy};
use wunderblock_core::units::Tokens;

/// How far windows are varied, in thousandths: what a policy keeps jumps with the place of a cut, and a window a little
/// larger or smaller puts the cut elsewhere.
const JITTER: u64 = 120;

/// What is asked of a simulation.
#[derive(Clone)]
pub struct SimulateOptions {
    /// What the requests are for: model, window, reserve, shares, and the lane whose preamble they begin with. Its sources,
    /// its query and its compactor are not used.
    pub context: ContextOptions,
    /// The policies, each under its name.
    pub policies: Vec<Arc<Policy>>,
    /// The name of the one that the others are compared with.
    pub against: Box<str>,
    /// How many windows each history is played in, spread evenly from 12 % below the window to 12 % above; 0 and 1 for the
    /// window itself.
    pub windows: u64,
    /// The size of every summary of every policy; none for what each policy says.
    pub summary_tokens: Option<Tokens>,
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

    /// A policy as it is played.
    fn played(&self, policy: &Arc<Policy>) -> Arc<Policy> {
        let Some(size) = self.summary_tokens else { return Arc::clone(policy) };
        let mut sized = Policy::clone(policy);
        let summary = &mut sized.summary;
        (summary.target, summary.condensed, summary.by_model, summary.at_least) = (size, size, size, size);
        // No less for a short range, and no more for one that demands much.
        (summary.share, summary.overage) = (Permille(1_000), Permille(1_000));
        summary.floor = summary.floor.min(size);
        if summary.input > Tokens::ZERO {
            summary.input = summary.input.max(Tokens(2 * size.0));
        }
        Arc::new(sized)
    }

    /// The windows a history is played in.
    fn windows(&self, catalog: &Catalog, target: &Target) -> Result<Vec<PlayedWindow>, Error> {
        let of = |factor: u64| {
            let window = Tokens(target.budget.window.0 * factor / 1_000);
            let asked = ContextOptions {
                window: Some(window),
                reserve: self.context.reserve,
                ..self.requests(target)
            };
            let target = Target::of(catalog, &asked, &SessionModel::default())?;
            Ok(PlayedWindow { requests: Arc::new(self.requests(&target)), target })
        };
        factors(self.windows).into_iter().map(of).collect()
    }
}

/// What windows are multiplied by, in thousandths: `count` of them, spread evenly.
fn factors(count: u64) -> Vec<u64> {
    match count {
        0 | 1 => vec![1_000],
        _ => (0..count).map(|nth| 1_000 - JITTER + 2 * JITTER * nth / (count - 1)).collect(),
    }
}

impl Engine {
    /// Replays histories under each policy as if they were live. The sessions of a history are played one after the other, as
    /// if they were one: some programs keep one history in many; [`histories`](crate::histories) tells. Nothing is
    /// recorded. Histories in which no model replies are left out and counted. `None` if the watcher stopped it.
    ///
    /// # Errors
    /// When the ledger cannot be read, no request could be built because nothing was said in any of them.
    pub fn simulate<'a>(
        &'a self,
        histories: &'a [Vec<Session>],
        options: &'a SimulateOptions,
    ) -> BoxFuture<'a, Option<Simulation>> {
        Box::pin(async move {
            let policies = options.policies.iter().map(|policy| options.played(policy)).collect();
            let options = &SimulateOptions { policies, ..options.clone() };
            let watch = Arc::new(Watch::new(options.progress.clone()));
            let mut played = Vec::new();
            let mut silent = None;
            for sessions in histories {
                match self.play(sessions, options, &watch).await {
                    Ok(Some(found)) => played.push(found),
                    Ok(None) => return Ok(None),
                    Err(error @ Error::Silence(_)) => silent = silent.or(Some(error)),
                    Err(error) => return Err(error),
                }
            }
            match silent {
                _ if histories.is_empty() => Err(Error::NoSession(String::new())),
                Some(error) if played.is_empty() => Err(error),
                _ => Ok(Some(pool::pool(played, histories.len(), options))),
            }
        })
    }

    /// Plays a history in each window under each policy.
    async fn play(
        &self,
        sessions: &[Session],
        options: &SimulateOptions,
        watch: &Arc<Watch>,
    ) -> Result<Option<SimulatedHistory>, Error> {
        let (Some(first), Some(last)) = (sessions.first(), sessions.last()) else {
            return Err(Error::NoSession(String::new()));
        };
        let job = context_job(last, &options.context);
        let Loaded { snapshot, target, .. } = run_build(last, Build::loaded(job)).await??;
        let lane = snapshot.lane().clone();
        let job = BuildJob {
            options: Arc::new(options.requests(&target)),
            lane: LaneChoice::Named(lane.clone()),
            ..context_job(first, &options.context)
        };
        let history = read_history(self, sessions, (job, lane), &target).await?;
        let windows = options.windows(&self.config.catalog, &target)?;
        let (redactor, watch) = (Arc::clone(&self.config.redactor), Arc::clone(watch));
        let (options, sessions) = (options.clone(), sessions.len() as u64);
        on_thread(move || {
            let index = Index::of(&history, &target)?;
            if index.moments.is_empty() {
                return Err(Error::Silence(history.job.stream.clone()));
            }
            let policies = options.policies.iter();
            let plays: Vec<_> =
                policies.flat_map(|policy| windows.iter().map(move |window| (policy, window))).collect();
            watch.expect(index.moments.len() as u64 * plays.len() as u64);
            let ran = parallel::map(plays, |(policy, window)| {
                let (summariser, policy) = (options.summariser.clone(), Arc::clone(policy));
                let compactor = Compactor { summariser, ..Compactor::new(policy) };
                Play::new(&history, &index, window, compactor).run(&redactor, &watch)
            })?;
            let Some(results) = ran.into_iter().collect::<Option<Vec<PolicyResult>>>() else {
                return Ok(None);
            };
            let found = pool::history((&history, &index), (&target, &windows), results);
            Ok(Some(SimulatedHistory { sessions, ..found }))
        })
        .await?
    }
}

#[cfg(test)]
mod tests {
    use super::factors;

    #[test]
    fn windows_are_spread_evenly_around_the_one_that_was_asked_for() {
        assert_eq!(factors(0), [1_000]);
        assert_eq!(factors(1), [1_000]);
        assert_eq!(factors(2), [880, 1_120]);
        assert_eq!(factors(5), [880, 940, 1_000, 1_060, 1_120]);
    }
}
