//! Sweeping: what lies before a lane's view becomes summaries, from the oldest end, a chunk at a time.
//!
//! A chunk is read, summarised and let go, one for each core at a time where no model is asked; every few chunks what there
//! is is published. So a sweep holds no more than these chunks and the summaries that stand, is linear in what it reads, and
//! goes on where it was interrupted: what has no summary yet is the mark of a gap.

use super::account::MadeNode;
use super::adopt::adoptable;
use super::archive::archive;
use super::call_budget::CallBudget;
use super::options::{CompactOptions, CompactionStage};
use super::prepare::build_bench;
use super::writing::{EarlierText, Writing, WritingMeans, WritingTask, write_apart};
use crate::drive::load::load_lane;
use crate::drive::read_view_texts;
use crate::error::Error;
use crate::limits;
use crate::parallel::workers;
use crate::record::{append_events, engine_event};
use crate::request::lane::LaneChoice;
use crate::request::snapshot::LaneWanted;
use crate::session::Session;
use crate::store::StoreError;
use crate::summarize::attempt::SummaryDraft;
use crate::texts::Texts;
use crate::token_costs::TokenCosts;
use std::collections::BTreeSet;
use wunderblock_core::calibration::ModelCalibration;
use wunderblock_core::compact::{Detail, SummaryJob};
use wunderblock_core::compaction::{CompactionOutcome, SessionCompacted};
use wunderblock_core::decision::PlacedSummary;
use wunderblock_core::event::{Fact, LaneTarget, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Body, Part};
use wunderblock_core::pair::{Arrangement, Exchange, arrange};
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::policy::{Action, ArchiveSizes, Permille, Policy};
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_core::view::{SummaryNode, View, ViewEntry};

/// New summaries that are published together.
const BATCH: usize = 32;
/// A chunk where the policy names none, in tokens: lossless-claw's `leafChunkTokens`.
const CHUNK: Tokens = Tokens(20_000);
/// The part of a chunk its summary takes at most: about lossless-claw's 2,400 of 20,000.
const SHARE: Permille = Permille(120);
/// The part of a chunk its catalogue takes at most: a few lines.
const CATALOGUE: Permille = Permille(30);
/// … and at least so many tokens: lossless-claw's least.
const LEAST: Tokens = Tokens(192);
/// Bytes of text to a token, about: only to find how much to read.
const BYTES_PER_TOKEN: u64 = 4;
/// Fan-outs where the policy names none: lossless-claw's `leafMinFanout` and `condensedMinFanout`.
const FANS: (u64, u64) = (8, 4);

/// The word for a step of a sweep, in records.
pub(super) const SWEEP: &str = "sweep";

/// A summary that stands in the swept part.
#[derive(Clone)]
pub(super) struct SweptSummary {
    pub(super) placed: PlacedSummary,
    pub(super) level: u32,
    text: String,
    pub(super) tokens: Tokens,
}

/// A summary that was made, with what it was made for.
struct Fresh {
    at: Seq,
    job: SummaryJob,
    draft: SummaryDraft,
    tokens: Tokens,
}

impl SweptSummary {
    /// As one that goes into another.
    pub(super) fn into_earlier(self) -> EarlierText {
        let PlacedSummary { at, from, to } = self.placed;
        EarlierText { at, from, to, level: self.level, text: self.text, unchecked: false }
    }
}

/// What a sweep came to.
#[derive(Default)]
pub(super) struct Swept {
    pub(super) made: Vec<MadeNode>,
    /// Summaries of other lanes that it took over.
    pub(super) adopted: usize,
}

/// A sweep under way.
struct Sweep<'a> {
    options: &'a CompactOptions,
    lane: &'a LaneId,
    budget: &'a CallBudget,
    /// The model's window.
    window: Tokens,
    /// When its summaries become a catalogue; none where they become summaries again.
    archive: Option<ArchiveSizes>,
    /// What no summary is made from.
    hidden: BTreeSet<Seq>,
    calibration: Option<ModelCalibration>,
    /// What the lane's requests are for.
    target: LaneTarget,
    /// The lane's state as it was published last.
    trim: Trim,
    /// Summaries that stood there before it, which stay.
    kept: Vec<PlacedSummary>,
    /// What it has put there.
    standing: Vec<SweptSummary>,
    fresh: Vec<Fresh>,
    /// The head behind which new positions begin.
    head: Seq,
    begins: Seq,
    /// The last position of the gap it is in.
    end: Seq,
    /// The first position that is shown.
    frontier: Seq,
    made: Vec<MadeNode>,
}

/// Summarises what lies before the lane's view and is in no summary yet. The answer is what was made.
pub(super) async fn sweep(
    session: &Session,
    options: &CompactOptions,
    lane: &LaneId,
    budget: &CallBudget,
) -> Result<Swept, Error> {
    if !options.compactor.policy.summarises() {
        return Ok(Swept::default());
    }
    let mut bench = build_bench(session, options).await?;
    let trim = bench.view.trim().clone();
    let frontier = match (trim.drop_before, bench.view.newest_user()) {
        (Seq::START, user) => user.map_or(bench.floor, |user| user.min(bench.floor)),
        (frontier, _) => frontier,
    };
    let mut kept = trim.nodes.clone();
    let stood = kept.len();
    if kept.is_empty() {
        let adopted = adoptable(session, &mut bench).await?.into_iter();
        let adopted = adopted.take_while(|node| node.to < frontier);
        kept.extend(adopted.map(|SummaryNode { at, from, to, .. }| PlacedSummary { at, from, to }));
    }
    let mut sweep = Sweep {
        options,
        lane,
        budget,
        window: bench.budget.window,
        archive: options.compactor.policy.archive(bench.budget.limit().tokens),
        hidden: bench.view.hidden().clone(),
        calibration: bench.calibration.clone(),
        target: bench.target.clone(),
        kept,
        frontier,
        trim,
        standing: Vec::new(),
        fresh: Vec::new(),
        head: session.info().await?.head,
        begins: Seq(2),
        end: Seq::START,
        made: Vec::new(),
    };
    while sweep.finds_gap() {
        let at_once = sweep.at_once();
        let done = at_once == 0 || !sweep_chunks(session, &mut sweep, &bench.costs, at_once).await?;
        if done || sweep.fresh.len() >= BATCH {
            publish_sweep(session, &mut sweep).await?;
        }
        if done {
            break;
        }
    }
    publish_sweep(session, &mut sweep).await?;
    Ok(Swept { adopted: sweep.kept.len() - stood, made: sweep.made })
}

/// A chunk that was read.
enum Chunk {
    /// Its summary is being written.
    Writing(Writing),
    /// It is too short for one.
    Short { from: Seq, to: Seq },
}

/// Reads and summarises the next chunks. Whether it goes on.
async fn sweep_chunks(
    session: &Session,
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
        let Some(chunk) = read_chunk(session, sweep, costs).await? else { break };
        chunks.push(chunk);
    }
    goes_on &= !chunks.is_empty();
    for chunk in chunks {
        match chunk {
            Chunk::Writing(writing) => sweep.put(writing.await?, costs),
            Chunk::Short { from, to } => sweep.stretch(from, to),
        }
        while let Some((job, earlier)) = condense(sweep) {
            let work = WritingTask { job, entries: Vec::new(), texts: Texts::default(), earlier };
            let written = sweep.write(session, work, costs)?.await?;
            sweep.put(written, costs);
        }
    }
    Ok(goes_on)
}

/// Reads the next chunk, and begins to summarise it.
async fn read_chunk(
    session: &Session,
    sweep: &mut Sweep<'_>,
    costs: &TokenCosts,
) -> Result<Option<Chunk>, Error> {
    let chunk = chunk(&sweep.options.compactor.policy, sweep.window);
    let text = Bytes(chunk.0.saturating_mul(BYTES_PER_TOKEN));
    let events = session.events(sweep.begins, sweep.end, (limits::VIEW_EVENTS, text)).await?;
    let Some(last) = events.last().map(|event| event.seq) else { return Ok(None) };
    let mut view = View::new(sweep.lane.clone());
    let said = events.iter().filter(|event| matches!(event.fact, Some(Fact::MessageAppended(_))));
    said.for_each(|event| view.apply(event));
    // What goes on behind the chunk begins the next one, unless it is all there is.
    let arrangement = arrange(&view);
    let open = arrangement.exchanges.iter().filter(|unit| unit.is_waiting() || unit.last == last);
    let cut = open.map(|unit| unit.key).min().filter(|key| last < sweep.end && *key > sweep.begins);
    let to = cut.map_or(last, Seq::prev);
    let told = told(&view, &arrangement, &sweep.hidden);
    let entries: Vec<ViewEntry> = told.filter(|entry| entry.seq <= to).cloned().collect();
    let mut texts = Texts::default();
    read_view_texts(&session.engine, &view, &mut texts).await?;
    let bodies = entries.iter().flat_map(|entry| &entry.message.parts).flat_map(Part::bodies);
    let bytes: u64 = bodies.map(|body| body.bytes().0).sum();
    let tokens = Tokens(bytes / BYTES_PER_TOKEN);
    let summary = &sweep.options.compactor.policy.summary;
    // However dense the policy's own summaries are, a whole session's must fit beside one another.
    let catalogues = sweep.options.compactor.policy.catalogues();
    let most = match (catalogues, sweep.archive) {
        (true, _) => CATALOGUE,
        // What has no room beside the others is archived.
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
    if tokens <= Tokens(limits::SWEEP_LEAST) {
        return Ok(Some(Chunk::Short { from: job.from, to }));
    }
    let work = WritingTask { job, entries, texts, earlier: Vec::new() };
    Ok(Some(Chunk::Writing(sweep.write(session, work, costs)?)))
}

/// The entries of a view that summaries may tell of: those of no exchange in which something is hidden.
pub(super) fn told<'v>(
    view: &'v View,
    arrangement: &Arrangement,
    hidden: &BTreeSet<Seq>,
) -> impl Iterator<Item = &'v ViewEntry> + use<'v> {
    let is_hidden = |unit: &&Exchange| unit.members.iter().any(|seq| hidden.contains(seq));
    let exchanges = arrangement.exchanges.iter().filter(is_hidden);
    let hidden: BTreeSet<Seq> = exchanges.flat_map(|unit| unit.members.iter().copied()).collect();
    view.entries().filter(move |entry| !hidden.contains(&entry.seq))
}

/// Appends what was made since the last time.
async fn publish_sweep(session: &Session, sweep: &mut Sweep<'_>) -> Result<(), Error> {
    if sweep.next_trim().nodes == sweep.trim.nodes {
        return Ok(());
    }
    for _ in 0..limits::BUILD_RETRIES {
        let trim = sweep.next_trim();
        let events = sweep_events(session, sweep, &trim)?;
        match append_events(&session.engine, &session.id, Some(sweep.head), events).await {
            Ok(_) => {
                sweep.published(trim);
                return Ok(());
            }
            Err(Error::Store(StoreError::HeadMoved { actual, .. })) => {
                let wanted = LaneWanted {
                    lane: LaneChoice::Named(sweep.lane.clone()),
                    at: None,
                    text: Bytes(limits::USUAL_WINDOW.0),
                    reach: None,
                    ignores_steps: false,
                };
                let now = load_lane(&session.engine, &session.id, &wanted).await?;
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

fn sweep_events(
    session: &Session,
    sweep: &Sweep<'_>,
    trim: &Trim,
) -> Result<Vec<wunderblock_core::event::NewEvent>, Error> {
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
    let mut events = vec![engine_event(session, sweep.head.next(), Fact::ViewTrimmed(trimmed))?];
    for fresh in &sweep.fresh {
        let made = SessionCompacted {
            lane: Some(sweep.lane.clone()),
            summary: Some(Body::from(fresh.draft.text.as_str())),
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
        events.push(engine_event(session, fresh.at, Fact::SessionCompacted(Box::new(made)))?);
    }
    Ok(events)
}

impl Sweep<'_> {
    /// How many chunks may be summarised at once; none where there are as many summaries as there may be.
    fn at_once(&self) -> usize {
        let compactor = &self.options.compactor;
        let cores = if compactor.summariser.is_some() { 1 } else { workers() };
        let made = self.made.len() + self.fresh.len();
        match usize::try_from(compactor.policy.limits.sweep_nodes).unwrap_or(usize::MAX) {
            0 => cores,
            most => cores.min(most.saturating_sub(made)),
        }
    }

    /// Says how far it is. Whether to go on.
    fn tell(&self) -> bool {
        let stage = CompactionStage::Swept { through: self.begins.prev(), of: self.frontier.prev() };
        self.options.progress.as_ref().is_none_or(|progress| progress(&stage))
    }

    fn write(&self, session: &Session, work: WritingTask, costs: &TokenCosts) -> Result<Writing, Error> {
        let told = Box::new(|_| true);
        write_apart(session, self.options, work, WritingMeans { costs, budget: self.budget, told })
    }

    /// Puts a summary in its place.
    fn put(&mut self, (job, draft): (SummaryJob, SummaryDraft), costs: &TokenCosts) {
        let tokens = costs.text(&draft.text).tokens;
        // The trim's event comes first.
        let at = Seq(self.head.0 + 2 + self.fresh.len() as u64);
        let placed = PlacedSummary { at, from: job.from, to: job.to };
        self.standing.retain(|standing| !job.sources.contains(&standing.placed.at));
        let text = draft.text.clone();
        self.standing.push(SweptSummary { placed, level: job.level, text, tokens });
        self.standing.sort_by_key(|standing| standing.placed.from);
        self.fresh.push(Fresh { at, job, draft, tokens });
    }

    /// The lane's state with what has been swept.
    fn next_trim(&self) -> Trim {
        let swept = self.standing.iter().map(|standing| standing.placed);
        let mut nodes: Vec<PlacedSummary> = swept.chain(self.kept.iter().copied()).collect();
        nodes.sort_unstable_by_key(|placed| placed.from);
        let drop_before = self.trim.drop_before.max(self.frontier);
        let stub_before = self.trim.stub_before.max(drop_before);
        Trim { drop_before, stub_before, nodes, ..self.trim.clone() }
    }

    /// Goes to the next position before the frontier that is under no summary. Whether there is one.
    fn finds_gap(&mut self) -> bool {
        let over = |at: Seq| self.kept.iter().find(|placed| (placed.from..=placed.to).contains(&at));
        while let Some(placed) = over(self.begins) {
            self.begins = placed.to.next();
        }
        let next = self.kept.iter().map(|placed| placed.from).filter(|from| *from > self.begins).min();
        self.end = next.map_or(self.frontier, |from| from.min(self.frontier)).prev();
        self.begins < self.frontier
    }

    /// A few words between two programs' events: a summary that ends before them stands for them, too, unless it is
    /// recorded already.
    fn stretch(&mut self, from: Seq, to: Seq) {
        let last = self.standing.iter_mut().find(|standing| standing.placed.to.next() == from);
        let Some(standing) = last else { return };
        let fresh =
            self.fresh.iter_mut().find(|fresh| fresh.at == standing.placed.at && fresh.job.level == 0);
        if let Some(fresh) = fresh {
            standing.placed.to = to;
            fresh.job.to = to;
        }
    }

    fn published(&mut self, trim: Trim) {
        for fresh in std::mem::take(&mut self.fresh) {
            self.head = self.head.max(fresh.at);
            self.made.push(MadeNode::new(fresh.at, &fresh.job, &fresh.draft, fresh.tokens));
        }
        self.trim = trim;
    }

    /// Moves what is not published yet behind a head that has moved.
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

fn chunk(policy: &Policy, window: Tokens) -> Tokens {
    if let Some(ahead) = policy.chunk_ahead(window) {
        return ahead;
    }
    let named = policy.steps.iter().find_map(|act| match act {
        Action::Summarise { chunk, .. } if *chunk > Tokens::ZERO => Some(*chunk),
        _ => None,
    });
    named.unwrap_or(CHUNK)
}

/// The newest summaries of one level, where there are enough of them to make one of the next.
fn condense(sweep: &Sweep<'_>) -> Option<(SummaryJob, Vec<EarlierText>)> {
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

/// One summary of several, and those.
pub(super) fn one_of(
    run: &[SweptSummary],
    sizes: (Tokens, Tokens),
    detail: Detail,
) -> Option<(SummaryJob, Vec<EarlierText>)> {
    let placed: Vec<(PlacedSummary, u32)> =
        run.iter().map(|standing| (standing.placed, standing.level)).collect();
    let job = SummaryJob::of_summaries(&placed, sizes, detail)?;
    Some((job, run.iter().cloned().map(SweptSummary::into_earlier).collect()))
}
