//! Sessions replayed under many policies, as if they were live.
//!
//! ```text
//! ledger ─ history ─► events, texts, counts ─ index ─► entities of every part, requests, references of each reply
//!                                       │
//!   per window and policy, on a thread: └► Lane: plan ─ due? ─ climb ─ apply ─ plan ─ render ─► Sheet ─► Account
//!                                                                                                        │
//!                                  all histories: sums of results ─ compare: draws of the same replies ◄─┘
//! ```
//! Before every reply of the model, a request is built from everything that precedes the reply. Each request is built
//! by the code that builds live requests, with the same plan, measurement, ladder and renderer, on a lane that exists
//! only in memory. Nothing is recorded. Two things differ from a live lane: providers' own counts are not used,
//! because they belong to other requests, and the clock is that of the events.

mod account;
mod compare;
mod levels;
mod play;
mod pool;
mod reach;
pub(crate) mod reading;
mod result;
mod sheet;
mod watch;

use crate::base::apart::apart;
use crate::base::future::BoxFuture;
use crate::compaction::drive::run_build;
pub use compare::{PairedDifference, PairedVerdict, PolicyDifference, PolicyGain};
pub use reading::history::histories;
use reading::history::read_history;
pub use result::{
    PolicyResult, RecallCounts, RecallShares, ReplyRecall, SimulatedHistory, Simulation, SummaryWriter,
};
pub use watch::OnSimulated;

use crate::base::error::Error;
use crate::base::parallel::{self, on_thread};
use crate::ledger::engine::Engine;
use crate::ledger::session::Session;
use crate::request::build::Build;
use crate::request::input::options::ContextOptions;
use crate::request::input::target::{SessionModel, Target};
use crate::request::stages::Loaded;
use crate::rules::catalog::Catalog;
use crate::rules::compactor::Compactor;
use play::{Play, PlayedWindow};
use reading::index::Index;
use std::fmt;
use std::sync::Arc;
use watch::Watch;
use wunderblock_core::policy::{Optional, Permille, Policy};
use wunderblock_core::units::Tokens;
use wunderblock_summary::Summarise;

/// Largest change in a window's size, in thousandths. What a policy keeps depends on the position of a cut, and a
/// slightly larger or smaller window moves the cut.
const JITTER: u64 = 120;

/// End of the name of a policy that is played with unasked recall.
const RECALLS: &str = "+recall";

/// Options of a simulation.
#[derive(Clone)]
pub struct SimulateOptions {
    /// Options of the requests: model, window, reserve, shares, and the lane whose preamble they begin with. The
    /// sources, the query and the compactor in these options are ignored.
    pub context: ContextOptions,
    /// Policies to play, identified by their names.
    pub policies: Vec<Arc<Policy>>,
    /// Name of the policy that the others are compared with.
    pub against: Box<str>,
    /// Number of windows in which each history is played, spread evenly from 12 % below the window to 12 % above.
    /// With 0 or 1, a history is played only in the window itself.
    pub windows: u64,
    /// Whether each policy is also played with unasked recall, as `NAME+recall`.
    pub recall: bool,
    /// Size of every summary of every policy, in tokens; `None` uses each policy's own size.
    pub summary_tokens: Option<Tokens>,
    /// Summariser; `None` for the extractive one, which needs no model.
    pub summariser: Option<Arc<dyn Summarise>>,
    /// Callback that receives the progress and can stop the simulation.
    pub progress: Option<OnSimulated>,
}

impl fmt::Debug for SimulateOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.policies.iter().map(|policy| &*policy.name).collect();
        f.debug_struct("SimulateOptions").field("policies", &names).finish_non_exhaustive()
    }
}

impl SimulateOptions {
    /// Returns the options of each request: the session's own model and window, without sources.
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

    /// Returns the policies to play for a policy: itself, and the same with recall.
    fn played(&self, policy: &Arc<Policy>) -> Vec<Arc<Policy>> {
        let sized = self.sized(policy);
        let named =
            |sized: &Policy| Policy { name: format!("{}{RECALLS}", sized.name).into(), ..sized.clone() };
        let recalls = self.recall.then(|| Arc::new(named(&sized)));
        std::iter::once(sized).chain(recalls).collect()
    }

    /// Returns a policy, or a copy with the size of summaries replaced, if the options set one.
    fn sized(&self, policy: &Arc<Policy>) -> Arc<Policy> {
        let Some(size) = self.summary_tokens else { return Arc::clone(policy) };
        let mut sized = Policy::clone(policy);
        let summary = &mut sized.summary;
        (summary.target, summary.condensed, summary.by_model, summary.at_least) = (size, size, size, size);
        // Even a short range gets a summary of the full size, and no summary may exceed that size.
        (summary.share, summary.overage) = (Permille(1_000), Permille(1_000));
        summary.floor = summary.floor.min(size);
        if let Some(input) = summary.input.get() {
            summary.input = Optional::new(input.max(Tokens(2 * size.0)));
        }
        Arc::new(sized)
    }

    /// Returns the windows a history is played in.
    fn windows(&self, catalog: &Catalog, target: &Target) -> Result<Vec<PlayedWindow>, Error> {
        let of = |factor: u64| {
            let window = Tokens(target.budget.window.0 * factor / 1_000);
            let asked = ContextOptions {
                window: Some(window),
                reserve: self.context.reserve,
                ..self.requests(target)
            };
            let target = Target::of(catalog, &asked, &SessionModel::default())?;
            Ok(PlayedWindow { requests: self.requests(&target), target })
        };
        factors(self.windows).into_iter().map(of).collect()
    }
}

/// Returns `count` factors of windows, in thousandths, spread evenly.
fn factors(count: u64) -> Vec<u64> {
    match count {
        0 | 1 => vec![1_000],
        _ => (0..count).map(|nth| 1_000 - JITTER + 2 * JITTER * nth / (count - 1)).collect(),
    }
}

impl Engine {
    /// Replays histories under each policy as if they were live. The sessions of a history are played one after the
    /// other as a single session, because some programs split one history into several sessions: see
    /// [`histories`](crate::histories). Nothing is recorded. Histories without a reply of the model are left out and
    /// counted. Returns `None` if the progress callback stopped the simulation.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read, or if there is no history with a reply of the model.
    pub fn simulate<'a>(
        &'a self,
        histories: &'a [Vec<Session>],
        options: &'a SimulateOptions,
    ) -> BoxFuture<'a, Option<Simulation>> {
        let (engine, histories, options) = (self.clone(), histories.to_vec(), options.clone());
        Box::pin(apart(move || async move { simulate(&engine, &histories, &options).await }))
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
        let job = last.house().job(&options.context);
        let Loaded { snapshot, target, .. } = run_build(last, Build::loaded(job)).await??;
        let lane = snapshot.lane().clone();
        let history = read_history(self, sessions, first.house(), lane, &target).await?;
        let windows = options.windows(&self.config.catalog, &target)?;
        let watch = Arc::clone(watch);
        let (options, sessions) = (options.clone(), sessions.len() as u64);
        on_thread(move || {
            let index = Index::of(&history, &target)?;
            if index.moments.is_empty() {
                return Err(Error::Silence(history.house.stream.clone()));
            }
            let policies = options.policies.iter();
            let plays: Vec<_> =
                policies.flat_map(|policy| windows.iter().map(move |window| (policy, window))).collect();
            watch.expect(index.moments.len() as u64 * plays.len() as u64);
            let ran = parallel::map(plays, |(policy, window)| {
                let (summariser, policy) = (options.summariser.clone(), Arc::clone(policy));
                let compactor = Compactor { summariser, ..Compactor::new(policy) };
                let recalls = options.recall && compactor.policy.name.ends_with(RECALLS);
                Play::new(&history, &index, window, compactor, recalls).run(&watch)
            })?;
            let Some(results) = ran.into_iter().collect::<Option<Vec<PolicyResult>>>() else {
                return Ok(None);
            };
            let found = pool::history(&history, &index, &target, &windows, results);
            Ok(Some(SimulatedHistory { sessions, ..found }))
        })
        .await?
    }
}

async fn simulate(
    engine: &Engine,
    histories: &[Vec<Session>],
    options: &SimulateOptions,
) -> Result<Option<Simulation>, Error> {
    let policies = options.policies.iter().flat_map(|policy| options.played(policy)).collect();
    let options = &SimulateOptions { policies, ..options.clone() };
    let watch = Arc::new(Watch::new(options.progress.clone()));
    let mut played = Vec::new();
    let mut silent = None;
    for sessions in histories {
        match engine.play(sessions, options, &watch).await {
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
