//! Building a request: load, count, recall, plan, render, encode, record.
//!
//! ```text
//! ledger ─ load ─► View ─ gauge ─► plan ─► (trim, injections) ─ render ─► Request ─ encode ─► bytes
//!                                                                             └─► report
//!                  └────────── context.built records every input that went in ──────────┘
//! ```
//! What is recorded is appended only if the session has not grown meanwhile; if it has, the build starts anew.

pub(crate) mod load;
mod recall;
mod replay;

pub use replay::{Difference, Replayed};

use crate::catalog::Row;
use crate::engine::Engine;
use crate::error::Error;
use crate::gauge::Scales;
use crate::limits;
use crate::session::Session;
use crate::store::{BodyCount, StoreError, StreamInfo, TallyRow, Write};
use load::{Loaded, Texts, Wanted};
use std::collections::BTreeMap;
use wunderblock_core::budget::{Budget, BudgetReport, Certainty, Treatment, WindowSource};
use wunderblock_core::cost;
use wunderblock_core::event::{ContextBuilt, ContextInjected, Event, Fact, NewEvent, Source, ViewTrimmed};
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::message::{Body, Dialect};
use wunderblock_core::plan::{Ask, Fixed, Plan, TrimReason, plan};
use wunderblock_core::ports::Gauge;
use wunderblock_core::render::{self, Line, Rendered, Scene, render};
use wunderblock_core::report::{Tally, report};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Cost, Seq, Tokens};
use wunderblock_core::view::View;
use wunderblock_wire::{Dropped, Encoded};

/// The part of its last window a lane's window must grow by for what was left out to be considered anew, as a divisor: a
/// fifth, as large as a step.
const WIDENED_DIVISOR: u64 = 5;

/// What is asked of a build. The default builds the main lane's request for the transcript's last model.
#[derive(Clone, Debug, Default)]
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
    /// The tools to declare.
    pub tools: Vec<Tool>,
}

/// A built request, and the account of it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The encoded request.
    pub body: Vec<u8>,
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
}

/// The model a request is for, and what follows from it.
struct Target {
    model: String,
    known: bool,
    row: Row,
    dialect: Dialect,
    budget: Budget,
    certainty: Certainty,
}

impl Session {
    /// Builds the next request and records it.
    ///
    /// # Errors
    /// [`Error::OverBudget`] when even the least does not fit; otherwise when the ledger cannot be used.
    pub async fn context(&self, options: &ContextOptions) -> Result<Built, Error> {
        for _ in 0..limits::BUILD_RETRIES {
            let draft = self.draft(options).await?;
            match self.record(&draft).await {
                Err(Error::Store(StoreError::HeadMoved { .. })) => {}
                Err(error) => return Err(error),
                Ok(recorded) => return Ok(Built { recorded: Some(recorded), ..draft.built }),
            }
        }
        Err(Error::Restless)
    }

    /// Builds the request that [`Session::context`] would build, and records nothing.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub async fn explain(&self, options: &ContextOptions) -> Result<Built, Error> {
        Ok(self.draft(options).await?.built)
    }

    async fn draft(&self, options: &ContextOptions) -> Result<Draft, Error> {
        let engine = &self.engine;
        let lane = options.lane.clone().unwrap_or_else(LaneId::main);
        let (loaded, target) = self.fitting(&lane, options).await?;
        let (gauge, fresh) = engine
            .gauge(&loaded.view, &loaded.counts, Scales::new(target.row.counter(), target.dialect))
            .await?;
        let recalled = engine.recall(&self.id, &loaded, (options.query.as_deref(), &gauge)).await?;
        let mut gauge = gauge;
        for (handle, count) in &recalled.counts {
            gauge.learn(*handle, *count);
        }
        let fixed = fixed(&target.model, &options.tools, &gauge);
        let mut texts = recalled.texts;
        let ask = Ask {
            view: &loaded.view,
            budget: target.budget,
            gauge: &gauge,
            bodies: &texts,
            fixed: &fixed,
            must: &[],
            hits: &recalled.hits,
            recall: wunderblock_core::units::Tokens(u64::MAX),
            transcript: wunderblock_core::units::Tokens(u64::MAX),
            floor: loaded.floor,
        };
        let mut plan = plan(&ask)?;
        if loaded.anew {
            plan.step = Some(TrimReason::Widened);
        }
        let step = Step::of(plan, &loaded.view, &lane, engine, &self.id)?;
        let tallies = engine.supply(&self.id, &step, &mut texts).await?;
        let scene = Scene {
            stream: engine.stream_handle(&self.id),
            bodies: &texts,
            gauge: &gauge,
            tools: &options.tools,
        };
        let mut rendered = render(&step.view, &step.plan.trim, scene);
        rendered.lines.insert(0, model_line(&target.model, &gauge));
        engine.finish((options, &target), loaded.info, (step, rendered, tallies), fresh)
    }

    /// Loads as much as the window can hold. The window decides how far back to look, and the transcript may decide the
    /// window, so a second look can be needed; likewise when the lane has stepped for a smaller window than this one.
    async fn fitting(&self, lane: &LaneId, options: &ContextOptions) -> Result<(Loaded, Target), Error> {
        let engine = &self.engine;
        let guess = options.window.or_else(|| options.model.as_ref().map(|model| engine.window_of(model)));
        let guess = guess.unwrap_or(limits::USUAL_WINDOW);
        let look = |window: Tokens, anew: bool| Wanted {
            stream: &self.id,
            lane,
            at: options.at,
            text: Bytes(window.0.saturating_mul(limits::VIEW_BYTES_PER_TOKEN)),
            anew,
        };
        let loaded = engine.load(&look(guess, false)).await?;
        let target = engine.target(options, &loaded)?;
        let window = target.budget.window;
        let trimmed = loaded.view.trim().drop_before > Seq::START;
        let grown = |last: Tokens| window.0 > last.0.saturating_add(last.0 / WIDENED_DIVISOR);
        let widened = trimmed && loaded.last_window.is_some_and(grown);
        if !widened && (window <= guess || loaded.floor <= loaded.view.trim().drop_before) {
            return Ok((loaded, target));
        }
        let wider = engine.load(&look(window, widened)).await?;
        let target = engine.target(options, &wider)?;
        Ok((wider, target))
    }

    /// Appends what the build decided, unless the session has grown meanwhile.
    async fn record(&self, draft: &Draft) -> Result<Seq, Error> {
        let built = &draft.built;
        let mut events = draft.step.events.clone();
        let inputs = (!draft.tools.is_empty())
            .then(|| serde_json::to_string(&draft.tools))
            .transpose()
            .map_err(|error| Error::Config(format!("the tools cannot be recorded: {error}")))?;
        events.push(ContextBuiltParts { draft, inputs }.event(&self.id, self.engine.now())?);
        if !draft.fresh.is_empty() {
            let counts = Write::Counts { tenant: self.engine.tenant.no, counts: draft.fresh.clone() };
            // Derived: that it fails is no reason for the request to fail.
            let _ = self.engine.storage.commit(vec![counts]).await;
        }
        let appended = self.engine.append(&self.id, Some(built.through), events).await?;
        appended.last().map(|last| last.seq).ok_or_else(crate::engine::unexpected)
    }
}

/// A build before it is recorded.
struct Draft {
    built: Built,
    step: Step,
    lane: LaneId,
    budget: Budget,
    tools: Vec<Tool>,
    fresh: Vec<(Handle, BodyCount)>,
}

/// A plan, the events it means, and the view after them.
struct Step {
    plan: Plan,
    lane: LaneId,
    events: Vec<NewEvent>,
    view: View,
}

impl Step {
    fn of(plan: Plan, view: &View, lane: &LaneId, engine: &Engine, stream: &StreamId) -> Result<Self, Error> {
        let mut facts = Vec::new();
        if let Some(reason) = plan.step {
            facts.push(Fact::ViewTrimmed(ViewTrimmed {
                lane: lane.clone(),
                trim: plan.trim.clone(),
                reason,
            }));
        }
        if !plan.inject.is_empty() {
            facts.push(Fact::ContextInjected(ContextInjected {
                lane: lane.clone(),
                items: plan.inject.clone(),
            }));
        }
        let mut step = Self { view: view.clone(), lane: lane.clone(), events: Vec::new(), plan };
        let mut seq = step.plan.through;
        for fact in facts {
            seq = seq.next();
            let id = EventId::new(format!("{}@{seq}", fact.kind()))?;
            let at = engine.now();
            step.events.push(NewEvent { id: id.clone(), at, source: Source::Engine, fact: fact.clone() });
            step.view.apply(&Event {
                tenant: engine.config.tenant.clone(),
                stream: stream.clone(),
                seq,
                id,
                at,
                source: Source::Engine,
                fact: Some(fact),
            });
        }
        Ok(step)
    }
}

struct ContextBuiltParts<'a> {
    draft: &'a Draft,
    inputs: Option<String>,
}

impl ContextBuiltParts<'_> {
    fn event(self, stream: &StreamId, at: wunderblock_core::units::Millis) -> Result<NewEvent, Error> {
        let Draft { built, step, lane, budget, .. } = self.draft;
        let seq = Seq(built.through.0 + step.events.len() as u64 + 1);
        let fact = Fact::ContextBuilt(Box::new(ContextBuilt {
            lane: lane.clone(),
            model: built.model.as_str().into(),
            dialect: built.dialect,
            render: render::VERSION,
            budget: *budget,
            // What came back is recorded beside it; here it would be a second copy to erase.
            plan: Plan { inject: Vec::new(), ..step.plan.clone() },
            heads: vec![(stream.clone(), built.through)],
            inputs: self.inputs.map(Body::Inline),
            preamble: None,
            cache: Vec::new(),
            stem: None,
            common: None,
            expected_cached: None,
            calibration: None,
            sections: Vec::new(),
            total_tokens: built.report.total_tokens,
            encoded_bytes: Bytes(built.body.len() as u64),
            digest: built.digest.as_str().into(),
        }));
        Ok(NewEvent { id: EventId::new(format!("context.built@{seq}"))?, at, source: Source::Engine, fact })
    }
}

impl Engine {
    fn window_of(&self, model: &str) -> Tokens {
        self.config.catalog.lookup(model).row.window
    }

    fn target(&self, options: &ContextOptions, loaded: &Loaded) -> Result<Target, Error> {
        let model = options.model.clone().or_else(|| loaded.view.model().map(ToOwned::to_owned));
        let named = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        let found = self.config.catalog.lookup(&named);
        let row = found.row.clone();
        let provider =
            loaded.usage.as_ref().filter(|_| options.model.is_none()).and_then(|usage| usage.window);
        let (window, window_source) = match (options.window, provider) {
            (Some(window), _) => (window, WindowSource::Declared),
            (None, Some(window)) => (window, WindowSource::Provider),
            (None, None) if found.known => (row.window, WindowSource::Catalog),
            (None, None) => (row.window, WindowSource::Default),
        };
        let certainty = match row.vocabulary {
            Some(_) => Certainty::Exact,
            None => crate::tokens::certainty(row.family, crate::tokens::Class::Prose),
        };
        let margin = match certainty {
            Certainty::Exact => Tokens::ZERO,
            _ => Tokens(window.0 / limits::ESTIMATE_MARGIN_DIVISOR),
        };
        let most = Tokens(window.0 / limits::RESERVE_DIVISOR);
        let reserve =
            options.reserve.unwrap_or_else(|| limits::DEFAULT_RESERVE.min(row.max_output).min(most));
        // Some models take in less than their window less their answer.
        let unusable =
            row.max_input.filter(|_| options.window.is_none()).map(|input| window.saturating_sub(input));
        let reserve = reserve.max(unusable.unwrap_or_default());
        if reserve >= window {
            return Err(Error::Config(format!(
                "nothing is left of a window of {window} tokens when {reserve} are kept for the answer"
            )));
        }
        let budget = Budget { window, window_source, reserve, margin, max_bytes: row.max_bytes };
        let dialect = options.dialect.unwrap_or(row.dialect);
        Ok(Target { model: named, known: found.known, row, dialect, budget, certainty })
    }

    /// Loads the texts a rendering needs, and what the ledger holds up to the edges of its gaps, in one round trip.
    async fn supply(
        &self,
        stream: &StreamId,
        step: &Step,
        texts: &mut Texts,
    ) -> Result<BTreeMap<Seq, TallyRow>, Error> {
        use crate::store::{Answer, Query, codec};
        let mut handles: Vec<Handle> = render::handles(&step.view, &step.plan.trim).into_iter().collect();
        handles.retain(|handle| !texts.0.contains_key(handle));
        let seqs: Vec<Seq> = render::edges(&step.view, &step.plan.trim);
        let queries = vec![
            Query::Blobs { tenant: self.tenant.no, handles },
            Query::Tallies { tenant: self.tenant.no, stream: stream.clone(), seqs: seqs.clone() },
        ];
        let mut tallies = BTreeMap::new();
        for answer in self.storage.query(queries).await? {
            match answer {
                Answer::Blobs(blobs) => {
                    for blob in blobs.into_iter().flatten() {
                        texts.0.insert(blob.handle, codec::unpack_text(&blob.data)?);
                    }
                }
                Answer::Tallies(rows) => tallies.extend(seqs.iter().copied().zip(rows)),
                _ => return Err(crate::engine::unexpected()),
            }
        }
        Ok(tallies)
    }

    fn finish(
        &self,
        (options, target): (&ContextOptions, &Target),
        info: StreamInfo,
        (step, rendered, tallies): (Step, Rendered, BTreeMap<Seq, TallyRow>),
        fresh: Vec<(Handle, BodyCount)>,
    ) -> Result<Draft, Error> {
        if rendered.request.messages.is_empty() {
            return Err(Error::Silence(info.id));
        }
        let tally = |seq: Seq| tally_of(tallies.get(&seq).copied().unwrap_or_default(), target);
        let report = report(&rendered, target.budget, target.certainty, self.stream_handle(&info.id), &tally);
        let encoded = encode(rendered, target)?;
        if Bytes(encoded.bytes.len() as u64) > target.budget.max_bytes {
            return Err(Error::Invalid {
                dialect: target.dialect.name(),
                first: format!(
                    "it has {} bytes, the provider takes {}",
                    encoded.bytes.len(),
                    target.budget.max_bytes
                ),
            });
        }
        let violations = wunderblock_wire::validate(target.dialect, &encoded.bytes);
        // A session that ends with the assistant's words waits for the user's: whoever sends the request adds them.
        let waits = |rule: &str| matches!(rule, "prefill" | "trailing-space");
        if let Some(first) = violations.iter().find(|violation| !waits(violation.rule)) {
            let dialect = target.dialect.name();
            return Err(Error::Invalid { dialect, first: format!("{}: {}", first.path, first.detail) });
        }
        let built = Built {
            digest: blake3::hash(&encoded.bytes).to_hex().to_string(),
            body: encoded.bytes,
            dialect: target.dialect,
            model: target.model.clone(),
            model_known: target.known,
            report,
            dropped: encoded.dropped,
            recorded: None,
            through: step.plan.through,
            step: step.plan.step,
        };
        let lane = step.lane.clone();
        Ok(Draft { built, step, lane, budget: target.budget, tools: options.tools.clone(), fresh })
    }
}

/// What stands in every request.
fn fixed(model: &str, tools: &[Tool], gauge: &Scales) -> Vec<Fixed> {
    let name = model_line(model, gauge);
    let tools = tools.iter().map(|tool| Fixed {
        section: Section::Tools,
        what: format!("tool {}", tool.name),
        cost: cost::tool(tool, gauge),
    });
    std::iter::once(Fixed { section: name.section, what: name.what, cost: name.cost }).chain(tools).collect()
}

/// A request says which model it is for, and what it says is counted.
fn model_line(model: &str, gauge: &Scales) -> Line {
    Line {
        seq: None,
        section: Section::System,
        treatment: Treatment::Verbatim,
        cost: gauge.text(model) + REQUEST_FRAME,
        what: format!("the model's name, {model}"),
        handle: None,
    }
}

/// Around everything: the names of the fields, and the most the model may answer.
const REQUEST_FRAME: Cost = Cost::new(0, 128);

/// The model that is meant when neither the caller nor the transcript names one.
const DEFAULT_MODEL: &str = "claude-sonnet-4-5";

/// The part of an o200k count that a model's own count exceeds it by is not known for text nobody looked at; prose it is.
fn tally_of(row: TallyRow, target: &Target) -> Tally {
    use crate::tokens::{Class, Counted};
    let (o200k, certainty) = match row.tokens {
        Some(tokens) => (tokens.0, Certainty::Exact),
        None => (row.text.0.div_ceil(4), Certainty::Estimated),
    };
    let o200k = u32::try_from(o200k).unwrap_or(u32::MAX);
    let tokens = target.row.counter().scale(Counted { o200k, class: Class::Code }, None);
    Tally { messages: row.messages, tokens, certainty: certainty.max(target.certainty) }
}

fn encode(rendered: Rendered, target: &Target) -> Result<Encoded, Error> {
    let request = Request {
        model: Some(target.model.as_str().into()),
        max_output: Some(target.budget.reserve),
        ..rendered.request
    };
    Ok(wunderblock_wire::encode(target.dialect, &request)?)
}
