//! Stages of a build, from top to bottom.

use super::measured::{calibration, overhead};
use super::need::{Asking, Need, ShownWanted};
use super::packer::Packer;
use super::stages::{Bench, Gathered, Loaded, Planned, Rendered, Shortened, ShorterTexts, Stopped, Weighed};
use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::limits;
use crate::request::input::job::BuildJob;
use crate::request::input::lane::LaneChoice;
use crate::request::input::snapshot::{LaneWanted, Snapshot, planned_texts, view_handles};
use crate::request::input::target::Target;
use crate::request::steps::candidates::{Wanted, recall};
use crate::request::steps::compose::{self, decide};
use crate::request::steps::draft::{self, Draft, encode};
use crate::request::steps::named::bring_back;
use crate::request::steps::offer::{offer, outside};
use crate::request::steps::shorten::{resize, shorten};
use crate::request::steps::unasked::recall_unasked;
use crate::request::steps::work;
use crate::rules::token_costs::TokenCosts;
use std::collections::BTreeSet;
use std::sync::Arc;
use wunderblock_core::id::Handle;
use wunderblock_core::plan::Injection;
use wunderblock_core::render;
use wunderblock_core::units::{Bytes, Tokens};
use wunderblock_store::BodyCount;

pub(crate) use super::need::{Build, Polled};

impl Build<Result<Draft, Stopped>> {
    /// Builds the next request as bytes, with its report.
    pub(crate) fn draft(job: BuildJob) -> Self {
        Self::new(async move |ask| drafted(&job, &ask).await)
    }
}

/// Builds the state of a lane at the start of a compaction.
pub(crate) async fn bench(job: &BuildJob, ask: &Asking) -> Result<Bench, Error> {
    let mut lane = weigh(load(job, ask, false).await?, job, ask).await?;
    // Shortened texts are recorded before a compaction begins.
    let (head, epoch) = (lane.snapshot.view.head(), lane.snapshot.epoch);
    let shorter = ShorterTexts::of(head, epoch, resize(&mut lane, job)?);
    let shortened = Shortened { lane, shorter, texts: Texts::default() };
    compose::bench(gather(shortened, job, ask, Recalls::Nothing).await?, job, ask).await
}

/// Builds the next request as bytes, with its report.
pub(crate) async fn drafted(job: &BuildJob, ask: &Asking) -> Result<Draft, Stopped> {
    Ok(encode(rendered(job, ask).await?, job)?)
}

impl Build<Result<Weighed, Error>> {
    /// Builds a lane with the costs of its texts.
    pub(crate) fn weighed(job: BuildJob) -> Self {
        Self::new(async move |ask| weigh(load(&job, &ask, false).await?, &job, &ask).await)
    }
}

impl Build<Result<Loaded, Error>> {
    /// Builds a lane with the target of its next request.
    pub(crate) fn loaded(job: BuildJob) -> Self {
        Self::new(async move |ask| load(&job, &ask, false).await)
    }
}

/// Builds the next request without encoding it.
pub(crate) async fn rendered(job: &BuildJob, ask: &Asking) -> Result<Rendered, Stopped> {
    let loaded = load(job, ask, true).await?;
    let weighed = weigh(loaded, job, ask).await?;
    let shortened = shorten(weighed, job, ask).await?;
    let gathered = gather(shortened, job, ask, Recalls::Hits).await?;
    let planned = decide(gathered, job, ask).await?;
    Ok(show(planned, job, ask).await?)
}

/// Loads as much as the window can hold. The window decides how far back to read, and the transcript may decide the
/// window, so a second read may be needed. A second read is also needed if the lane was last built for another model
/// or window, and therefore begins again.
///
/// `names` states whether what the newest typed turn names is looked up, too.
async fn load(job: &BuildJob, ask: &Asking, names: bool) -> Result<Loaded, Error> {
    let options = &job.options;
    let look = |lane: LaneChoice, window: Tokens, ignores_steps: bool, names: bool| {
        let text = Bytes(window.0.saturating_mul(limits::VIEW_BYTES_PER_TOKEN));
        let wanted = LaneWanted { lane, at: options.at, text, reach: None, ignores_steps, names };
        ask.ask(|reply| Need::Lane(wanted, reply))
    };
    let window_of = |model: &String| job.catalog.lookup(model).row.window;
    let guess = options.window.or_else(|| options.model.as_ref().map(window_of));
    let guess = guess.unwrap_or(limits::USUAL_WINDOW);
    let mut snapshot = look(job.lane.clone(), guess, false, names).await?;
    let target = Target::of(&job.catalog, options, &snapshot.said())?;
    let window = target.budget.window;
    let resizes = snapshot.target().is_some_and(|was| was != target.lane());
    // A view that reaches back to the frontier is complete, even if its window was guessed too small.
    let is_whole = window <= guess || snapshot.floor <= snapshot.view.trim().drop_before;
    if resizes || !is_whole {
        // If the first read chose the lane, the second must read the same lane.
        let lane = LaneChoice::Named(snapshot.lane().clone());
        let named = snapshot.named;
        snapshot = look(lane, window, resizes, false).await?;
        snapshot.named = named;
    }
    let target = Target::of(&job.catalog, options, &snapshot.said())?;
    Ok(Loaded { snapshot, target, resizes })
}

/// Creates a cost model that knows every body of the view and is corrected by the providers' counts. Bodies without a
/// stored count are counted now.
async fn weigh(loaded: Loaded, job: &BuildJob, ask: &Asking) -> Result<Weighed, Error> {
    let Loaded { snapshot, mut target, resizes } = loaded;
    let costs = TokenCosts::new(target.row.counter(), target.dialect, Arc::clone(&job.counts));
    let mut fresh = count_bodies(&snapshot, &costs, ask).await?;
    let calibration = calibration(&snapshot, &job.catalog, &target.model, &costs);
    let costs = costs.calibrated(calibration);
    let learned = snapshot.before().filter(|_| !resizes).map(|(_, built)| built.overhead);
    let overhead = match learned {
        Some(learned) => learned,
        // Without a measurement, the overhead cannot be derived.
        None if !snapshot.is_measured() => None,
        None => {
            let opening = snapshot.opening.as_deref().unwrap_or(&snapshot);
            fresh.extend(count_bodies(opening, &costs, ask).await?);
            overhead(opening, &job.catalog, &target.model, &costs)
        }
    };
    if job.options.harness {
        target.budget.added = overhead.map_or(Tokens::ZERO, |overhead| overhead.tokens);
    }
    Ok(Weighed { snapshot, target, costs, calibration, overhead, fresh, resizes })
}

/// Adds the counts of a view's bodies to a cost model. Counts and returns the bodies without a stored count.
async fn count_bodies(
    snapshot: &Snapshot,
    costs: &TokenCosts,
    ask: &Asking,
) -> Result<Vec<(Handle, BodyCount)>, Error> {
    snapshot.counts.iter().for_each(|(handle, count)| costs.learn(*handle, *count));
    let unknown: BTreeSet<Handle> =
        view_handles(&snapshot.view).filter(|handle| !costs.knows(*handle)).collect();
    let mut texts = Texts::default();
    ask.texts(&mut texts, unknown).await?;
    let fresh: Vec<_> = texts.iter().map(|(handle, text)| (handle, costs.measure(text))).collect();
    fresh.iter().for_each(|(handle, count)| costs.learn(*handle, *count));
    Ok(fresh)
}

/// Content that a build recalls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recalls {
    /// Entries that match the query, and texts of other sessions.
    Hits,
    Nothing,
}

/// Collects what can be recalled, and reads the sources.
async fn gather(
    shortened: Shortened,
    job: &BuildJob,
    ask: &Asking,
    recalls: Recalls,
) -> Result<Gathered, Error> {
    let Shortened { lane, shorter, mut texts } = shortened;
    texts.extend(lane.snapshot.texts.clone());
    let packer = Packer::new(job.key);
    let handed: Vec<Injection> = job.options.handed.iter().map(|item| packer.packed(item)).collect();
    packer.unload(&lane.costs, &mut texts);
    let hits: Vec<Injection> = match recalls {
        Recalls::Hits => {
            let wanted = Wanted { query: job.options.query.as_deref(), handed };
            recall(&lane.snapshot, &wanted, &lane.costs, &mut texts, ask).await?
        }
        Recalls::Nothing => {
            ask.texts(&mut texts, planned_texts(&lane.snapshot.view)).await?;
            Vec::new()
        }
    };
    let (sources, view) = (&job.options.sources, &lane.snapshot.view);
    let outside = match outside(sources, view, &texts) {
        Some(wanted) => Some(ask.ask(|reply| Need::Outside(wanted, reply)).await?),
        None => None,
    };
    let (offer, mut state) = offer(sources, view, outside, &packer);
    let limit = lane.target.budget.limit().tokens;
    if recalls == Recalls::Hits {
        state.extend(work::standing(view, job.stream_handle(), limit, &lane.costs, &packer));
    }
    packer.unload(&lane.costs, &mut texts);
    Ok(Gathered { lane, shorter, texts, hits, offer, state, packer })
}

/// Loads the texts that a rendering shows and the running sums at the edges of its gaps, brings back what the newest turn
/// names, then what bears on it, and then renders the request.
async fn show(mut planned: Planned, job: &BuildJob, ask: &Asking) -> Result<Rendered, Error> {
    let (view, trim) = (&planned.decision.view, &planned.decision.plan.trim);
    let handles = planned.texts.missing(render::handles(view, trim));
    let edges = render::edges(view, trim);
    let named = Arc::clone(&planned.snapshot.named);
    let shown = ask.ask(|reply| Need::Shown(ShownWanted { handles, edges, named }, reply)).await?;
    planned.texts.extend(shown.texts);
    bring_back(&mut planned, shown.named, job, ask).await?;
    recall_unasked(&mut planned, job, ask).await?;
    Ok(draft::rendered(planned, shown.tallies, job))
}
