//! Building a request: load, count, reduce, recall, read the sources, compose, plan, render, encode, record.
//!
//! ```text
//! ledger ─ load ─► View ─ reduce ─────► plan ─► (trim, injections) ─ render ─► Request ─ encode ─► bytes
//! sources ─ offer ─► Offer ─ compose ─► Preamble, tail ─┘                                └─► report
//!                  └────────── recorded before it is used: preamble.changed … context.built ──────┘
//! ```
//! What is recorded is appended only if the session has not grown meanwhile; if it has, the build starts anew.

mod aim;
mod bench;
mod decide;
pub(crate) mod load;
mod need;
mod offer;
mod prefix;
mod provider;
mod recall;
mod record;
mod reduce;
mod relief;
mod replay;
mod sources;
mod step;
mod target;

pub(crate) use aim::Aim;
pub(crate) use bench::{Bench, Sized};
pub(crate) use offer::Shelf;
pub use prefix::{CachePlan, Recorded};
pub(crate) use prefix::{billed, cached};
pub use provider::StateProvider;
pub use replay::{Difference, Replayed};
pub use sources::{Given, Instructions, OfferedTool, Resource, Skill, Sources};

use crate::catalog::CacheMode;
use crate::compact::{Compacted, Compactor};
use crate::engine::Engine;
use crate::error::Error;
use crate::gauge::Scales;
use crate::limits;
use crate::reduce::Means;
use crate::session::Session;
use crate::store::{BodyCount, StoreError, TallyRow};
use crate::tokens::Counter;
use decide::{Workbench, take_in};
use load::{Loaded, Texts, Wanted};
use recall::Recalled;
use reduce::Reduced;
use relief::Relief;
use std::collections::BTreeMap;
use std::sync::Arc;
use step::Step;
use target::Target;
use wunderblock_core::allocate::Shares;
use wunderblock_core::budget::{BudgetReport, Certainty};
use wunderblock_core::compact::Due;
use wunderblock_core::compose::Composed;
use wunderblock_core::event::{Stem, ViewTrimmed};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::instruction::Finding;
use wunderblock_core::message::{Dialect, Message};
use wunderblock_core::plan::TrimReason;
use wunderblock_core::policy::Reduce;
use wunderblock_core::ports::Gauge;
use wunderblock_core::preamble::{Block, Change, Preamble, Shown};
use wunderblock_core::render::{Line, Rendered, Scene, render};
use wunderblock_core::report::{Tally, report};
use wunderblock_core::request::{CachePoint, Request};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Cost, Millis, Seq, Tokens};
use wunderblock_core::usage::{Anchor, Calibration};
use wunderblock_core::view::View;
use wunderblock_wire::{Dropped, Encoded};

/// The part of its last window a lane's window must grow by for what was left out to be considered anew, as a divisor: a
/// fifth, as large as a step.
const WIDENED_DIVISOR: u64 = 5;

/// What is asked of a build. The default builds the main lane's request for the transcript's last model.
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// Which consumer's view; the main lane if none.
    pub lane: Option<LaneId>,
    /// The model; the transcript's last one if none, else the catalog's default.
    pub model: Option<String>,
    /// The model's window, which beats every other source.
    pub window: Option<Tokens>,
    /// Kept free for the answer.
    pub reserve: Option<Tokens>,
    /// The format; the model's own if none.
    pub dialect: Option<Dialect>,
    /// Older entries are ranked by this and come back where there is room.
    pub query: Option<String>,
    /// As of this position; the head if none. Only for requests that are not recorded.
    pub at: Option<Seq>,
    /// What enters from outside the ledger.
    pub sources: Sources,
    /// Which section may take how much.
    pub shares: Shares,
    /// Warn when a request passes so many hundredths of its limit, ascending.
    pub warn: Vec<u8>,
    /// How the lane is compacted when it is due; never if none.
    pub compactor: Option<Compactor>,
}

impl Default for ContextOptions {
    fn default() -> Self {
        Self {
            lane: None,
            model: None,
            window: None,
            reserve: None,
            dialect: None,
            query: None,
            at: None,
            sources: Sources::default(),
            shares: Shares::default(),
            warn: vec![70, 85, 95],
            compactor: None,
        }
    }
}

/// A built request, and the account of it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The encoded request.
    pub body: Vec<u8>,
    /// How many bytes of it the lane's next request repeats, cache marks aside.
    pub stem: Bytes,
    /// BLAKE3 of it, hexadecimal.
    pub digest: String,
    /// The format.
    pub dialect: Dialect,
    /// The model.
    pub model: String,
    /// Whether the catalog knows the model.
    pub model_known: bool,
    /// Where every token went.
    pub report: BudgetReport,
    /// What the format could not carry.
    pub dropped: Vec<Dropped>,
    /// Where the request is recorded, if it was.
    pub recorded: Option<Seq>,
    /// The position of the newest event it was built from.
    pub through: Seq,
    /// Why the lane took a step with this request, if it did.
    pub step: Option<TrimReason>,
    /// What stands before the conversation; none if nothing does.
    pub preamble: Option<Arc<Preamble>>,
    /// What of that is not as it was in the lane's request before.
    pub changes: Vec<Change>,
    /// What has changed at its source and waits for the lane's next step.
    pub pending: Vec<Change>,
    /// What is to be known about the sources: refused, ignored, unreadable, left out.
    pub findings: Vec<Finding>,
    /// What the provider counted last, and what has come since.
    pub anchor: Option<Anchor>,
    /// What our counts were multiplied by.
    pub calibration: Option<Calibration>,
    /// What is expected of the provider's cache, and what the request costs.
    pub cache: CachePlan,
    /// The highest threshold of the limit that it has passed, in hundredths.
    pub warned: Option<u8>,
    /// The compaction that was made for it.
    pub compacted: Option<Box<Compacted>>,
    /// That a compaction is due, which is left to a worker.
    pub due: Option<Due>,
    /// The view it was rendered from.
    pub(crate) view: Arc<View>,
    /// The texts it was rendered with.
    pub(crate) texts: Arc<Texts>,
    /// What counts its texts.
    counter: Counter,
}

impl Session {
    /// Builds the next request and records it. When even the least does not fit, that is recorded, too: as
    /// `turn.completed` with `context_overflow` and the breakdown.
    ///
    /// # Errors
    /// [`Error::OverBudget`] when even the least does not fit; otherwise when the ledger cannot be used.
    pub async fn context(&self, options: &ContextOptions) -> Result<Built, Error> {
        let mut relief = Relief::default();
        if let Some(compactor) = &options.compactor {
            let lane = options.lane.clone().unwrap_or_else(LaneId::main);
            self.settled(&compactor.policy, &lane).await?;
        }
        for _ in 0..limits::BUILD_RETRIES {
            let mut reduced = Reduced::default();
            let drafted = self.draft(options, &mut reduced).await;
            if relief.is_open() && self.relieve(options, (&drafted, reduced), &mut relief).await? {
                continue;
            }
            let draft = match drafted {
                Err(Error::OverBudget(refusal)) => {
                    let lane = options.lane.clone().unwrap_or_else(LaneId::main);
                    self.record_overflow(&lane, &refusal, &relief.course(options.compactor.as_ref())).await?;
                    return Err(Error::OverBudget(refusal));
                }
                other => other?,
            };
            match self.record(&draft).await {
                Err(Error::Store(StoreError::HeadMoved { .. })) => {}
                Err(error) => return Err(error),
                Ok(recorded) => {
                    let Relief { compacted, due, .. } = relief;
                    return Ok(Built { recorded: Some(recorded), compacted, due, ..draft.built });
                }
            }
        }
        Err(Error::Restless)
    }

    /// Builds the request that [`Session::context`] would build, and records nothing.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub async fn explain(&self, options: &ContextOptions) -> Result<Built, Error> {
        let draft = self.draft(options, &mut Reduced::default()).await?;
        let due = match &options.compactor {
            Some(compactor) if options.at.is_none() => {
                self.is_due(compactor, &draft.sized(self.engine.now())).await?
            }
            _ => None,
        };
        Ok(Built { due, ..draft.built })
    }

    /// Builds a request. What enters it shorter is told even where no request fits.
    async fn draft(&self, options: &ContextOptions, reduced: &mut Reduced) -> Result<Draft, Error> {
        let engine = &self.engine;
        let lane = options.lane.clone().unwrap_or_else(LaneId::main);
        let (mut loaded, target) = self.fitting(&lane, options).await?;
        let scales = Scales::new(target.row.counter(), target.dialect).remembering(engine.known.counts());
        let (gauge, fresh) = engine.gauge(&loaded.view, &loaded.counts, scales).await?;
        let calibration = engine.calibration(&loaded, &target.model, &gauge);
        let gauge = gauge.calibrated(calibration);
        let off = Reduce::default();
        let rules = options.compactor.as_ref().map_or(&off, |compactor| &compactor.policy.reduce);
        let room = target.budget.limit().tokens;
        let means = Means { rules, gauge: &gauge, reducer: engine.config.reducer };
        let looked = engine.reduce((&self.id, &lane), &mut loaded, &means, room).await?;
        *reduced = loaded.reduced.clone();
        let anchor = engine.anchor(&loaded, &target.model, &gauge);
        let Recalled { hits, mut texts, counts } =
            engine.recall(&self.id, &loaded, (options.query.as_deref(), &gauge)).await?;
        counts.iter().for_each(|(handle, count)| gauge.learn(*handle, *count));
        texts.0.extend(loaded.texts.0.clone().into_iter().chain(looked.0));
        let shelf = Shelf::new(&engine.tenant.key);
        let (offer, state) = offer::offer(&options.sources, &loaded.view, (&texts, &shelf));
        take_in(&shelf, &gauge, &mut texts);
        let desk = Workbench { lane: &lane, options, target: &target, gauge: &gauge, shelf: &shelf };
        let (step, composed) = self.decide(&desk, (&loaded, &hits), (&offer, &state), &mut texts).await?;
        let tallies = engine.supply(&self.id, &step, &mut texts).await?;
        let scene =
            Scene { stream: engine.stream_handle(&self.id), bodies: &texts, gauge: &gauge, tools: &[] };
        let mut rendered = render(&step.view, &step.plan.trim, scene);
        rendered.lines.insert(0, model_line(&target, &gauge));
        engine.known.keep(gauge.memory());
        let measured = Measured { calibration, anchor };
        engine.finish(&desk, &loaded, (step, composed, rendered), (tallies, measured, (fresh, texts)))
    }

    /// Loads as much as the window can hold. The window decides how far back to look, and the transcript may decide the
    /// window, so a second look can be needed; likewise when the lane has stepped for a smaller window than this one.
    async fn fitting(&self, lane: &LaneId, options: &ContextOptions) -> Result<(Loaded, Target), Error> {
        let engine = &self.engine;
        let guess = options.window.or_else(|| options.model.as_ref().map(|model| engine.window_of(model)));
        let guess = guess.unwrap_or(limits::USUAL_WINDOW);
        let look = |window: Tokens, ignores_steps: bool| Wanted {
            stream: &self.id,
            lane,
            at: options.at,
            text: Bytes(window.0.saturating_mul(limits::VIEW_BYTES_PER_TOKEN)),
            reach: None,
            ignores_steps,
        };
        let loaded = engine.load(&look(guess, false)).await?;
        let target = engine.target(options, &loaded)?;
        let window = target.budget.window;
        let trimmed = loaded.view.trim().drop_before > Seq::START;
        let grown = |last: Tokens| window.0 > last.0.saturating_add(last.0 / WIDENED_DIVISOR);
        // What a compaction has summarised stays summarised.
        let trimmed = trimmed && loaded.view.trim().nodes.is_empty();
        let widened = trimmed && loaded.before.as_ref().is_some_and(|(_, built)| grown(built.budget.window));
        if !widened && (window <= guess || loaded.floor <= loaded.view.trim().drop_before) {
            return Ok((loaded, target));
        }
        let wider = engine.load(&look(window, widened)).await?;
        let target = engine.target(options, &wider)?;
        Ok((wider, target))
    }
}

/// A build before it is recorded.
struct Draft {
    built: Built,
    step: Step,
    lane: LaneId,
    target: Target,
    stem: Stem,
    /// How much of its limit the lane's request before took, in hundredths.
    before: Option<u64>,
    /// When the lane's request before was built.
    built_before: Option<Millis>,
    /// The lane's newest step, and when it took it.
    last_step: Option<(Millis, ViewTrimmed)>,
    /// Whether the provider refused the lane's last request as too long.
    refused: bool,
    /// When the session began.
    opened_at: Millis,
    fresh: Fresh,
}

/// Bodies nobody had counted before.
type Fresh = Vec<(Handle, BodyCount)>;

/// What was learned from what providers measured.
struct Measured {
    calibration: Option<Calibration>,
    anchor: Option<Anchor>,
}

impl Engine {
    fn finish(
        &self,
        desk: &Workbench<'_>,
        loaded: &Loaded,
        (step, composed, rendered): (Step, Composed, Rendered),
        (tallies, measured, (fresh, texts)): (BTreeMap<Seq, TallyRow>, Measured, (Fresh, Texts)),
    ) -> Result<Draft, Error> {
        let (options, target) = (desk.options, desk.target.clone());
        if is_silent(&rendered.request.messages, step.view.preamble()) {
            return Err(Error::Silence(loaded.info.id.clone()));
        }
        let tally = |seq: Seq| {
            let row = tallies.get(&seq).copied().unwrap_or_default();
            let (tokens, certainty) = scaled(row, target.row.counter(), measured.calibration);
            Tally { messages: row.messages, tokens, certainty: certainty.max(target.certainty) }
        };
        let report =
            report(&rendered, target.budget, target.certainty, self.stream_handle(&loaded.info.id), &tally);
        let before = loaded.before.as_ref().map(|(at, built)| (*at, built.as_ref()));
        let preamble = step.view.preamble().cloned();
        let marks = preamble.as_ref().map_or(&[][..], |preamble| &preamble.cache);
        let blocks = rendered.request.messages.iter().map(|message| message.parts.len() as u64).sum();
        let points = prefix::points(&target, marks, (blocks, report.total_tokens), before);
        let encoded = encode(rendered, &target, Some(&points))?;
        self.check(&encoded, &target)?;
        let now = if options.at.is_some() { loaded.newest_at } else { self.now() };
        let cache =
            prefix::plan((&target, &encoded), (points, report.total_tokens), (now, before), &loaded.reports);
        let percent = |tokens: Tokens, limit: Tokens| tokens.0.saturating_mul(100) / limit.0.max(1);
        // What the provider counted of the lane's own last request, and what has come since, is nearer than any estimate.
        let own = |anchor: &&Anchor| step.view.last_built().is_some_and(|at| anchor.seq > at);
        let anchored = measured.anchor.as_ref().filter(own).map(Anchor::total);
        let now_at = percent(report.total_tokens.max(anchored.unwrap_or_default()), report.limit);
        let warned = options.warn.iter().copied().filter(|warn| now_at >= u64::from(*warn)).max();
        let was_at = before.map(|(_, built)| percent(built.total_tokens, built.budget.limit().tokens));
        let stem = prefix::stem(&encoded);
        let built = Built {
            digest: blake3::hash(&encoded.bytes).to_hex().to_string(),
            stem: Bytes(encoded.stem as u64),
            body: encoded.bytes,
            dialect: target.dialect,
            model: target.model.clone(),
            model_known: target.known,
            report,
            dropped: encoded.dropped,
            recorded: None,
            through: loaded.head(),
            step: step.plan.step,
            preamble,
            changes: composed.changes,
            pending: composed.pending,
            findings: composed.findings,
            anchor: measured.anchor,
            calibration: measured.calibration,
            cache,
            warned,
            compacted: None,
            due: None,
            view: Arc::new(step.view.clone()),
            texts: Arc::new(texts),
            counter: target.row.counter(),
        };
        Ok(Draft {
            built,
            step,
            lane: desk.lane.clone(),
            target,
            stem,
            before: was_at,
            built_before: before.map(|(at, _)| at),
            last_step: loaded.step.clone(),
            refused: loaded.refused,
            opened_at: loaded.info.opened_at,
            fresh,
        })
    }

    /// What the provider would refuse is not sent.
    fn check(&self, encoded: &Encoded, target: &Target) -> Result<(), Error> {
        let dialect = target.dialect.name();
        if Bytes(encoded.bytes.len() as u64) > target.budget.max_bytes {
            let (bytes, most) = (encoded.bytes.len(), target.budget.max_bytes);
            let first = format!("it has {bytes} bytes, the provider takes {most}");
            return Err(Error::Invalid { dialect, first });
        }
        let violations = wunderblock_wire::validate(target.dialect, &encoded.bytes);
        // A session that ends with the assistant's words waits for the user's: whoever sends the request adds them.
        let waits = |rule: &str| matches!(rule, "prefill" | "trailing-space");
        match violations.iter().find(|violation| !waits(violation.rule)) {
            Some(first) => {
                Err(Error::Invalid { dialect, first: format!("{}: {}", first.path, first.detail) })
            }
            None => Ok(()),
        }
    }
}

/// Whether nothing of the conversation is in a request: a preamble alone is nothing to send.
fn is_silent(messages: &[Message], preamble: Option<&Arc<Preamble>>) -> bool {
    let has_message = |preamble: &Arc<Preamble>| {
        let shown = |block: &Block| block.shown != Shown::Out && !block.authority.commands();
        preamble.blocks.iter().any(shown) || preamble.tools.iter().any(|tool| tool.deferred.is_some())
    };
    messages.len() <= usize::from(preamble.is_some_and(has_message))
}

/// A request says which model it is for, and what it says is counted.
fn model_line(target: &Target, gauge: &Scales) -> Line {
    let model = &target.model;
    let is_told = target.row.cache.mode == CacheMode::Explicit;
    let cost = gauge.text(model) + REQUEST_FRAME + if is_told { CACHE_FRAME } else { Cost::ZERO };
    Line::outside(Section::System, format!("the model's name, {model}"), cost)
}

/// Around everything: the names of the fields, the most the model may answer.
const REQUEST_FRAME: Cost = Cost::new(0, 128);
/// Where to cache up to: a mark at the end, or the names of the places.
const CACHE_FRAME: Cost = Cost::new(12, 96);

/// About how many tokens the ledger holds up to a position, for the model of a request.
pub(crate) fn tally_tokens(row: TallyRow, built: &Built) -> Tokens {
    scaled(row, built.counter, built.calibration).0
}

/// The part of an o200k count that a model's own count exceeds it by is not known for text nobody looked at; it is taken
/// for code.
fn scaled(row: TallyRow, counter: Counter, calibration: Option<Calibration>) -> (Tokens, Certainty) {
    use crate::tokens::{Class, Counted};
    let (o200k, certainty) = match row.tokens {
        Some(tokens) => (tokens.0, Certainty::Exact),
        None => (row.text.0.div_ceil(4), Certainty::Estimated),
    };
    let o200k = u32::try_from(o200k).unwrap_or(u32::MAX);
    let tokens = counter.scale(Counted { o200k, class: Class::Code }, None);
    let learned = calibration.map_or(tokens, |calibration| calibration.of(tokens));
    (learned.max(Tokens(u64::from(o200k))), certainty)
}

fn encode(rendered: Rendered, target: &Target, points: Option<&[CachePoint]>) -> Result<Encoded, Error> {
    let request = Request {
        model: Some(target.model.as_str().into()),
        max_output: Some(target.budget.reserve),
        cache: points.map(<[CachePoint]>::to_vec),
        ..rendered.request
    };
    Ok(wunderblock_wire::encode(target.dialect, &request)?)
}
