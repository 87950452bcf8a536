//! Sweeping: turns the content that precedes a lane's view into summaries, one chunk at a time, from the oldest end.
//!
//! A chunk is read, summarised and released. Without a model, one chunk per core is written at a time. Every few
//! chunks the new summaries are published. Therefore, a sweep needs memory only for these chunks and the current
//! summaries, takes linear time, and can resume after an interruption, because a gap is a range without a summary.

use crate::base::error::Error;
use crate::base::parallel::workers;
use crate::compaction::compact::accounting::account::MadeNode;
use crate::compaction::compact::editing::found::told;
use crate::compaction::compact::options::{CompactOptions, CompactionStage};
use crate::compaction::compact::prepare::build_bench;
use crate::compaction::compact::summaries::adopt::adoptable;
use crate::compaction::compact::summaries::call_budget::CallBudget;
use crate::compaction::compact::summaries::paid::PaidSummaries;
use crate::compaction::compact::summaries::writing::{Writing, WritingMeans, WritingTask, write_apart};
use crate::compaction::compact::sweeping::archive::archive;
use crate::compaction::compact::sweeping::chunk::chunk;
use crate::ledger::recording::record::MadeFrom;
use crate::ledger::texts::Texts;
use crate::limits;
use crate::request::desk::Desk;
use crate::request::input::lane::LaneChoice;
use crate::request::input::snapshot::{LaneWanted, view_handles};
use crate::rules::token_costs::TokenCosts;
use std::collections::BTreeSet;
use wunderblock_core::calibration::ModelCalibration;
use wunderblock_core::compact::{Detail, SummaryJob};
use wunderblock_core::compaction::{CompactionOutcome, SessionCompacted};
use wunderblock_core::decision::PlacedSummary;
use wunderblock_core::event::{Fact, LaneTarget, NewEvent, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Body, Part, Role};
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::{self, Trim, TrimReason};
use wunderblock_core::policy::{Action, ArchiveSizes, Permille};
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_core::view::{SummaryNode, View, ViewEntry};
use wunderblock_store::StoreError;
use wunderblock_summary::attempt::SummaryDraft;

/// Number of new summaries that are published together.
const BATCH: usize = 32;
/// Maximum part of a chunk that its summary may take: about lossless-claw's 2,400 of 20,000.
const SHARE: Permille = Permille(120);
/// Maximum part of a chunk that its catalogue may take: a few lines.
const CATALOGUE: Permille = Permille(30);
/// Minimum target of a summary, in tokens: lossless-claw's minimum.
const LEAST: Tokens = Tokens(192);
/// Approximate bytes of text per token, used to decide how much to read and to size a chunk.
const BYTES_PER_TOKEN: u64 = 4;
/// Fan-outs of leaves and nodes if the policy specifies none: lossless-claw's `leafMinFanout` and
/// `condensedMinFanout`.
const FANS: (u64, u64) = (8, 4);

/// Level that records give to the step of a sweep.
pub(in crate::compaction::compact) const SWEEP: &str = "sweep";

/// A summary in the swept part.
#[derive(Clone)]
pub(in crate::compaction::compact) struct SweptSummary {
    pub(in crate::compaction::compact) placed: PlacedSummary,
    pub(in crate::compaction::compact) level: u32,
    text: Body,
    items: Option<Body>,
    pub(in crate::compaction::compact) tokens: Tokens,
}

/// A new summary that is not published yet, with its job.
struct Fresh {
    at: Seq,
    job: SummaryJob,
    draft: SummaryDraft,
    tokens: Tokens,
}

impl SweptSummary {
    /// Converts the summary into a source of another.
    pub(in crate::compaction::compact) fn into_source(self) -> SummaryNode {
        let Self { placed: PlacedSummary { at, from, to }, level, text, items, .. } = self;
        SummaryNode { at, from, to, level, text, items, made: Millis::ZERO, unchecked: None }
    }
}

#[derive(Default)]
pub(in crate::compaction::compact) struct Swept {
    pub(in crate::compaction::compact) made: Vec<MadeNode>,
    /// Number of summaries of other programs that the lane begins with.
    pub(in crate::compaction::compact) adopted: usize,
}

/// State of a running sweep.
struct Sweep<'a> {
    /// Epoch from which summaries are made.
    epoch: u64,
    options: &'a CompactOptions,
    lane: &'a LaneId,
    budget: &'a CallBudget,
    window: Tokens,
    /// Sizes above which summaries become a catalogue; `None` if they are condensed into summaries.
    archive: Option<ArchiveSizes>,
    /// Hidden positions: no summary is made from them.
    hidden: BTreeSet<Seq>,
    calibration: Option<ModelCalibration>,
    /// Model and window that the lane's requests are for.
    target: LaneTarget,
    /// The lane's state as last published.
    trim: Trim,
    /// Summaries that existed before the sweep. They stay.
    kept: Vec<PlacedSummary>,
    /// Entries before the frontier that every request shows: the operator's words, pins, the user's newest turn.
    held: Vec<Seq>,
    /// The user's newest turn, if it lies before the frontier.
    user: Option<Seq>,
    /// The project's latest instructions among the swept entries, unless they are long.
    instructions: Option<Seq>,
    /// Summaries that the sweep has placed.
    standing: Vec<SweptSummary>,
    fresh: Vec<Fresh>,
    /// Head after which the positions of new events begin.
    head: Seq,
    begins: Seq,
    /// Last position of the current gap.
    end: Seq,
    /// First position shown.
    frontier: Seq,
    made: Vec<MadeNode>,
    /// Summaries that models wrote before.
    paid: PaidSummaries,
}

/// Summarises the content that precedes the lane's view and has no summary yet. Returns the summaries made.
pub(in crate::compaction::compact) async fn sweep(
    desk: &Desk,
    options: &CompactOptions,
    lane: &LaneId,
    budget: &CallBudget,
) -> Result<Swept, Error> {
    if !options.compactor.policy.covers() {
        return Ok(Swept::default());
    }
    let mut bench = build_bench(desk, options).await?;
    let paid = PaidSummaries::read(desk, options, &bench.view).await?;
    let trim = bench.view.trim().clone();
    // A lane without a frontier may begin at its floor.
    let frontier = if trim.drop_before == Seq::START { bench.floor } else { trim.drop_before };
    let (view, user) = (&bench.view, bench.view.newest_user());
    let stays = |entry: &&ViewEntry| {
        let is_pinned = view.pinned().contains(&entry.seq);
        is_pinned || entry.message.role == Role::System || user == Some(entry.seq)
    };
    let held = view.entries().filter(stays).map(|entry| entry.seq).filter(|seq| *seq < frontier).collect();
    let mut kept = trim.nodes.clone();
    let stood = kept.len();
    if kept.is_empty() {
        let adopted = adoptable(desk, &mut bench).await?.into_iter();
        let adopted = adopted.take_while(|node| node.to < frontier);
        kept.extend(adopted.map(|SummaryNode { at, from, to, .. }| PlacedSummary { at, from, to }));
    }
    let mut sweep = Sweep {
        epoch: bench.epoch,
        options,
        lane,
        budget,
        window: bench.budget.window,
        archive: options.compactor.policy.archive(bench.budget.limit().tokens),
        hidden: bench.view.hidden().clone(),
        calibration: bench.calibration.clone(),
        target: bench.target.clone(),
        kept,
        held,
        user: user.filter(|seq| *seq < frontier),
        instructions: None,
        frontier,
        trim,
        standing: Vec::new(),
        fresh: Vec::new(),
        head: desk.standing().await?.0,
        begins: Seq(2),
        end: Seq::START,
        made: Vec::new(),
        paid,
    };
    while sweep.finds_gap() {
        let at_once = sweep.at_once();
        let done = at_once == 0 || !sweep_chunks(desk, &mut sweep, &bench.costs, at_once).await?;
        if done || sweep.fresh.len() >= BATCH {
            publish_sweep(desk, &mut sweep).await?;
        }
        if done {
            break;
        }
    }
    publish_sweep(desk, &mut sweep).await?;
    Ok(Swept { adopted: sweep.kept.len() - stood, made: sweep.made })
}

/// A chunk that was read.
enum Chunk {
    /// A chunk whose summary is being written.
    Writing(Writing),
    /// A chunk so short that the summary before it covers it, if that is not recorded yet.
    Short(Box<WritingTask>),
}

/// Reads and summarises the next chunks. Returns whether the sweep continues.
async fn sweep_chunks(
    desk: &Desk,
    sweep: &mut Sweep<'_>,
    costs: &TokenCosts,
    at_once: usize,
) -> Result<bool, Error> {
    let (mut chunks, mut goes_on) = (Vec::new(), true);
    while chunks.len() < at_once && sweep.finds_gap() {
        goes_on = sweep.tell();
        if !goes_on {
            break;
        }
        let Some(chunk) = read_chunk(desk, sweep, costs).await? else { break };
        chunks.push(chunk);
    }
    goes_on &= !chunks.is_empty();
    for chunk in chunks {
        match chunk {
            Chunk::Writing(writing) => {
                let (job, draft) = desk.wait(writing).await??;
                sweep.put(job, draft, costs);
            }
            Chunk::Short(work) if sweep.stretch(work.job.from, work.job.to) => {}
            Chunk::Short(work) => {
                let (job, draft) = desk.wait(sweep.write(desk, *work, costs)?).await??;
                sweep.put(job, draft, costs);
            }
        }
        while let Some((job, earlier)) = condense(sweep) {
            let work = WritingTask { job, entries: Vec::new(), texts: Texts::default(), earlier };
            let (job, draft) = desk.wait(sweep.write(desk, work, costs)?).await??;
            sweep.put(job, draft, costs);
        }
    }
    Ok(goes_on)
}

/// Reads the next chunk and starts writing its summary.
async fn read_chunk(desk: &Desk, sweep: &mut Sweep<'_>, costs: &TokenCosts) -> Result<Option<Chunk>, Error> {
    let chunk = chunk(&sweep.options.compactor.policy, sweep.window);
    let text = Bytes(chunk.0.saturating_mul(BYTES_PER_TOKEN));
    let events = desk.events(sweep.begins, sweep.end, limits::VIEW_EVENTS, text).await?;
    let Some(last) = events.last().map(|event| event.seq) else { return Ok(None) };
    let mut view = View::new(sweep.lane.clone());
    let said = events.iter().filter(|event| matches!(event.fact, Some(Fact::MessageAppended(_))));
    said.for_each(|event| view.apply(event));
    // An exchange that continues after the chunk belongs to the next one, unless nothing precedes it.
    let arrangement = arrange(&view);
    let open = arrangement.exchanges.iter().filter(|unit| unit.is_waiting() || unit.last == last);
    let cut = open.map(|unit| unit.key).min().filter(|key| last < sweep.end && *key > sweep.begins);
    let to = cut.map_or(last, Seq::prev);
    let told = told(&view, &arrangement, &sweep.hidden);
    let entries: Vec<ViewEntry> = told.filter(|entry| entry.seq <= to).cloned().collect();
    let most = Bytes(plan::instructions_max(sweep.window).0.saturating_mul(BYTES_PER_TOKEN));
    sweep.instructions = plan::latest_instructions(&entries, most).or(sweep.instructions);
    let mut texts = Texts::default();
    desk.texts(&mut texts, view_handles(&view).collect::<Vec<_>>()).await?;
    let bodies = entries.iter().flat_map(|entry| &entry.message.parts).flat_map(Part::bodies);
    let bytes: u64 = bodies.map(|body| body.bytes().0).sum();
    let tokens = Tokens(bytes / BYTES_PER_TOKEN);
    let summary = &sweep.options.compactor.policy.summary;
    // The summaries of a whole session must fit side by side, however long the policy's own summaries are.
    let catalogues = sweep.options.compactor.policy.catalogues();
    let most = match (catalogues, sweep.archive) {
        (true, _) => CATALOGUE,
        // Summaries for which there is no room are archived later, so their size needs no cap here.
        (false, Some(_)) => Permille::ONE,
        (false, None) => SHARE,
    };
    let share = summary.share.min(most).of(tokens);
    let target = share.max(LEAST).min(summary.target.max(LEAST));
    let job = SummaryJob {
        from: sweep.begins,
        to,
        entries: entries.iter().map(|entry| entry.seq).collect(),
        sources: Vec::new(),
        level: 0,
        detail: if catalogues { Detail::Catalogue } else { Detail::Full },
        tokens,
        target,
        splits: false,
        inner: false,
    };
    sweep.begins = to.next();
    let is_short = tokens <= Tokens(limits::SWEEP_LEAST);
    let mut work = WritingTask { job, entries, texts, earlier: Vec::new() };
    if is_short {
        // A catalogue has a line even for a few words.
        work.job.detail = Detail::Catalogue;
        return Ok(Some(Chunk::Short(Box::new(work))));
    }
    Ok(Some(Chunk::Writing(sweep.write(desk, work, costs)?)))
}

/// Appends the summaries made since the last publication.
async fn publish_sweep(desk: &Desk, sweep: &mut Sweep<'_>) -> Result<(), Error> {
    if sweep.next_trim().nodes == sweep.trim.nodes {
        return Ok(());
    }
    for _ in 0..limits::BUILD_RETRIES {
        let trim = sweep.next_trim();
        let events = sweep_events(desk, sweep, &trim)?;
        let made = MadeFrom::session(sweep.epoch, sweep.frontier);
        match desk.append(Some(sweep.head), events, made).await {
            Ok(()) => {
                sweep.published(trim);
                return Ok(());
            }
            Err(Error::Store(StoreError::EpochMoved { .. })) => {
                return Err(Error::Overtaken(sweep.lane.clone()));
            }
            Err(Error::Store(StoreError::HeadMoved { actual, .. })) => {
                let wanted = LaneWanted {
                    lane: LaneChoice::Named(sweep.lane.clone()),
                    at: None,
                    text: Bytes(limits::USUAL_WINDOW.0),
                    reach: None,
                    ignores_steps: false,
                    names: false,
                };
                let now = desk.lane(wanted).await?;
                // Only a step of this lane contradicts the sweep; other events just move its positions.
                if *now.view.trim() != sweep.trim {
                    return Err(Error::Overtaken(sweep.lane.clone()));
                }
                sweep.shift(actual);
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::Restless)
}

fn sweep_events(desk: &Desk, sweep: &Sweep<'_>, trim: &Trim) -> Result<Vec<NewEvent>, Error> {
    let policy = &sweep.options.compactor.policy.name;
    let compaction = CompactionOutcome {
        policy: policy.clone(),
        level: SWEEP.into(),
        trigger: format!("a sweep through position {}", sweep.begins.prev()).into(),
        tokens_before: Tokens::ZERO,
        tokens_after: Tokens::ZERO,
        rungs: Vec::new(),
        focus: sweep.options.focus.as_deref().map(Into::into),
        calibration: sweep.calibration.clone(),
    };
    let trimmed = ViewTrimmed {
        lane: sweep.lane.clone(),
        trim: trim.clone(),
        reason: TrimReason::Compacted,
        target: Some(sweep.target.clone()),
        compaction: Some(Box::new(compaction)),
    };
    let mut events = vec![desk.event(sweep.head.next(), Fact::ViewTrimmed(trimmed))?];
    for fresh in &sweep.fresh {
        let made = SessionCompacted {
            lane: Some(sweep.lane.clone()),
            summary: Some(Body::from(fresh.draft.text.as_str())),
            items: fresh.draft.items.as_deref().map(Body::from),
            trigger: Some("manual".into()),
            tokens_before: Some(fresh.job.tokens),
            tokens_after: Some(fresh.tokens),
            level: fresh.job.level,
            sources: fresh.job.sources.clone(),
            policy: Some(policy.clone()),
            prompt: fresh.draft.prompt.clone(),
            focus: sweep.options.focus.as_deref().map(Into::into),
            manner: Some(fresh.draft.manner),
            check: fresh.draft.check.clone(),
            rejected: fresh.draft.rejected.clone(),
            spent: fresh.draft.spent.clone(),
            ..SessionCompacted::new(fresh.job.from, fresh.job.to, fresh.draft.producer.clone())
        };
        events.push(desk.event(fresh.at, Fact::SessionCompacted(Box::new(made)))?);
    }
    Ok(events)
}

impl Sweep<'_> {
    /// Returns the number of chunks to summarise at the same time; 0 if the policy's maximum number of summaries is
    /// reached.
    fn at_once(&self) -> usize {
        let compactor = &self.options.compactor;
        let cores = if compactor.summariser.is_some() { 1 } else { workers() };
        let made = self.made.len() + self.fresh.len();
        let most = compactor.policy.limits.sweep_nodes.get();
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        cores.min(most.saturating_sub(made))
    }

    /// Reports the progress. Returns whether to continue.
    fn tell(&self) -> bool {
        let stage = CompactionStage::Swept { through: self.begins.prev(), of: self.frontier.prev() };
        self.options.progress.as_ref().is_none_or(|progress| progress(&stage))
    }

    fn write(&self, desk: &Desk, work: WritingTask, costs: &TokenCosts) -> Result<Writing, Error> {
        let told = Box::new(|_| true);
        let means = WritingMeans { costs, budget: self.budget, told, paid: self.paid.clone() };
        write_apart(desk, self.options, work, means)
    }

    /// Places a summary that was written.
    fn put(&mut self, job: SummaryJob, draft: SummaryDraft, costs: &TokenCosts) {
        let tokens = costs.text(&draft.text).tokens;
        // The step's event takes the first position after the head.
        let at = Seq(self.head.0 + 2 + self.fresh.len() as u64);
        let placed = PlacedSummary { at, from: job.from, to: job.to };
        self.standing.retain(|standing| !job.sources.contains(&standing.placed.at));
        let text = Body::from(draft.text.as_str());
        let items = draft.items.as_deref().map(Body::from);
        self.standing.push(SweptSummary { placed, level: job.level, text, items, tokens });
        self.standing.sort_by_key(|standing| standing.placed.from);
        self.fresh.push(Fresh { at, job, draft, tokens });
    }

    /// Returns the lane's state with the swept summaries.
    fn next_trim(&self) -> Trim {
        let swept = self.standing.iter().map(|standing| standing.placed);
        let mut nodes: Vec<PlacedSummary> = swept.chain(self.kept.iter().copied()).collect();
        nodes.sort_unstable_by_key(|placed| placed.from);
        let drop_before = self.trim.drop_before.max(self.frontier);
        let stub_before = self.trim.stub_before.max(drop_before);
        let mut trim = Trim { drop_before, stub_before, nodes, ..self.trim.clone() };
        trim.keep.extend(self.user.into_iter().chain(self.instructions));
        trim.keep.sort_unstable();
        trim.keep.dedup();
        trim.holding(&self.held).holding(self.instructions.as_slice())
    }

    /// Moves to the next position before the frontier that no kept summary covers. Returns whether a block could be
    /// marked.
    fn finds_gap(&mut self) -> bool {
        let over = |at: Seq| self.kept.iter().find(|placed| (placed.from..=placed.to).contains(&at));
        while let Some(placed) = over(self.begins) {
            self.begins = placed.to.next();
        }
        let next = self.kept.iter().map(|placed| placed.from).filter(|from| *from > self.begins).min();
        self.end = next.map_or(self.frontier, |from| from.min(self.frontier)).prev();
        self.begins < self.frontier
    }

    /// Extends the summary that ends before a short chunk to cover the chunk, unless the summary is already recorded.
    /// A short chunk is a few words between the events of two programs. Returns whether a summary was extended.
    fn stretch(&mut self, from: Seq, to: Seq) -> bool {
        let last = self.standing.iter_mut().find(|standing| standing.placed.to.next() == from);
        let Some(standing) = last else { return false };
        let fresh =
            self.fresh.iter_mut().find(|fresh| fresh.at == standing.placed.at && fresh.job.level == 0);
        let Some(fresh) = fresh else { return false };
        standing.placed.to = to;
        fresh.job.to = to;
        true
    }

    fn published(&mut self, trim: Trim) {
        for fresh in std::mem::take(&mut self.fresh) {
            self.head = self.head.max(fresh.at);
            self.made.push(MadeNode::new(fresh.at, &fresh.job, &fresh.draft, fresh.tokens));
        }
        self.trim = trim;
    }

    /// Moves unpublished positions behind a head that has moved.
    fn shift(&mut self, head: Seq) {
        let old = self.head;
        let by = head.0.saturating_sub(old.0);
        let moved = |at: Seq| if at > old { Seq(at.0 + by) } else { at };
        for standing in &mut self.standing {
            standing.placed.at = moved(standing.placed.at);
        }
        for fresh in &mut self.fresh {
            fresh.at = moved(fresh.at);
            fresh.job.sources.iter_mut().for_each(|at| *at = moved(*at));
        }
        self.head = head;
    }
}

/// Returns the job that combines the newest summaries of one level into one summary of the next level, if there are
/// enough of them.
fn condense(sweep: &Sweep<'_>) -> Option<(SummaryJob, Vec<SummaryNode>)> {
    let policy = &sweep.options.compactor.policy;
    if let Some(sizes) = sweep.archive {
        return archive(&sweep.standing, sizes);
    }
    let fans = policy.steps.iter().find_map(|act| match act {
        Action::Condense { leaves, nodes, .. } => Some((*leaves, *nodes)),
        _ => None,
    });
    let (leaves, nodes) = fans.unwrap_or(FANS);
    let level = sweep.standing.last()?.level;
    let fan = usize::try_from(if level == 0 { leaves } else { nodes }).unwrap_or(usize::MAX).max(2);
    let newest = sweep.standing.iter().rev().take_while(|standing| standing.level == level).take(fan);
    let mut run: Vec<SweptSummary> = newest.cloned().collect();
    run.reverse();
    let joins = |two: &[SweptSummary]| matches!(two, [a, b] if a.placed.to.next() == b.placed.from);
    if run.len() < fan || !run.windows(2).all(joins) {
        return None;
    }
    let tokens: Tokens = run.iter().map(|standing| standing.tokens).sum();
    let summary = &policy.summary;
    let detail = if policy.catalogues() { Detail::Catalogue } else { Detail::Full };
    let target = summary.condensed.min(Tokens(tokens.0 / 2).max(summary.at_least));
    one_of(&run, (tokens, target), detail)
}

/// Returns the job for making one summary from a run of summaries, and the sources of that job.
pub(in crate::compaction::compact) fn one_of(
    run: &[SweptSummary],
    sizes: (Tokens, Tokens),
    detail: Detail,
) -> Option<(SummaryJob, Vec<SummaryNode>)> {
    let placed: Vec<(PlacedSummary, u32)> =
        run.iter().map(|standing| (standing.placed, standing.level)).collect();
    let job = SummaryJob::of_summaries(&placed, sizes.0, sizes.1, detail)?;
    Some((job, run.iter().cloned().map(SweptSummary::into_source).collect()))
}
