//! The context of a delegate: the first request of an agent to which a session hands work.
//!
//! ```text
//! parent's lane ─ explain ─► its request ─┬─ fork: the same bytes, and the brief
//! brief ──────────────────────────────────┤
//! definition, tools, instructions ────────┴─ a session of its own, aside: fresh
//!                                              + entries of the parent (slice), or a summary of it (summary)
//! ```
//! Every mode goes the same road as any other request, so each has a report that accounts for every token. Nothing is
//! recorded: the session of the delegate is kept in memory.

mod excerpt;
mod fresh;
mod price;
mod summary;

use crate::context::Built;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::request::options::ContextOptions;
use crate::session::Session;
use crate::summarize::changes_files;
pub use price::ModePrice;
use wunderblock_core::delegate::brief::{Bounds, Brief, Narrowed};
use wunderblock_core::delegate::context::{ContextMode, ForkObstacle, fork_obstacles};
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::tools::ToolPattern;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_wire::transcript::written_time;
use wunderblock_wire::without_marks;

/// Work that a session hands to a delegate.
#[derive(Clone, Debug)]
pub struct Handoff<'a> {
    /// Definition of the delegate; `None` for a copy of the parent.
    pub definition: Option<&'a AgentDefinition>,
    /// Id of the delegate's model.
    pub model: &'a str,
    /// Task of the delegate.
    pub brief: &'a Brief,
    /// Bounds of the parent's own work. Those of the delegate are within them.
    pub bounds: Bounds,
    /// Way in which the context begins.
    pub mode: ContextMode,
    /// Part of the parent's conversation for a slice.
    pub excerpt: Excerpt,
    /// Options of the parent's requests. Its lane is the one that is forked, sliced or summarised.
    pub parent: ContextOptions,
    /// Options of the delegate's requests: sources, window, policy. Tools that are not given are those of the parent.
    pub own: ContextOptions,
}

/// Part of a parent's conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Ranges of positions: first and last.
    pub positions: Vec<(Seq, Seq)>,
    /// Files: entries that read or change them.
    pub paths: Vec<String>,
    /// Whether the newest entries are added, as far as there is room. `None` leaves it to the definition: an agent that
    /// explores gets them, an agent that changes something does not.
    pub newest: Option<bool>,
}

/// Entry of the parent that a delegate gets, or that had no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedEntry {
    /// Position in the parent's session; [`Seq::START`] for a summary.
    pub seq: Seq,
    /// Description of the entry.
    pub what: Box<str>,
    /// Reason why it is handed over.
    pub why: Box<str>,
    /// Size of the text in tokens.
    pub tokens: Tokens,
}

/// Context of a delegate.
#[derive(Clone, Debug)]
pub struct DelegateContext {
    /// Mode of the context. A fork that is not possible is a slice.
    pub mode: ContextMode,
    /// Reasons why the delegate is not a fork, if a fork was asked for.
    pub obstacles: Vec<ForkObstacle>,
    /// Bounds that are narrower than the brief asks, because those of the parent are.
    pub narrowed: Vec<Narrowed>,
    /// First request of the delegate, with its report.
    pub built: Built,
    /// Bytes of the parent's request that the delegate's request repeats, and all that it could repeat: those up to the
    /// end of the conversation, without cache marks. `None` for a context that does not begin like the parent's.
    pub shared: Option<(Bytes, Bytes)>,
    /// Entries of the parent in the request.
    pub handed: Vec<HandedEntry>,
    /// Entries of the parent for which there was no room. They can be read by their positions.
    pub left_out: Vec<HandedEntry>,
    /// Patterns of the definition that match none of the tools.
    pub unmatched: Vec<ToolPattern>,
    /// Sizes and costs of this context, and of a fork and a fresh start for comparison.
    pub prices: Vec<ModePrice>,
}

/// Builds the first request of a delegate. Nothing is recorded.
///
/// # Errors
/// Returns an error if the brief has no goal, if the definition leaves no tool of those that there are, if the request
/// does not fit into the window, or if the ledger cannot be read.
pub(crate) fn delegate_context<'a>(
    session: &'a Session,
    handoff: &'a Handoff<'a>,
) -> BoxFuture<'a, DelegateContext> {
    Box::pin(async move {
        let (message, narrowed) = message(session, handoff)?;
        let parent = session.explain(ContextOptions { prompt: None, ..handoff.parent.clone() }).await?;
        let obstacles = fork_obstacles(handoff.definition, (handoff.model, &parent.draft.model));
        let mode = match handoff.mode {
            ContextMode::Fork if !obstacles.is_empty() => ContextMode::Slice,
            mode => mode,
        };
        let parent = ParentRequest { session, built: parent, message };
        let fresh = fresh::Start::of(&parent, handoff)?;
        let first = fresh.build(Vec::new()).await?;
        // A fork that does not fit is an error only if it is what was asked for.
        let fork = fork(&parent, handoff).await;
        let fork = if mode == ContextMode::Fork { Some(fork?) } else { fork.ok() };
        let mut context = match (mode, &fork) {
            (ContextMode::Fork, Some((built, shared))) => {
                DelegateContext::new(mode, built.clone(), Some(*shared))
            }
            (ContextMode::Slice, _) => {
                let pieces = excerpt::pieces(&parent, handoff).await?;
                fresh.with(mode, &first, pieces).await?
            }
            (ContextMode::Summary, _) => {
                let summary = summary::write(&parent, handoff, &first).await?;
                fresh.with(mode, &first, summary.into_iter().collect()).await?
            }
            (ContextMode::Fresh | ContextMode::Fork, _) => DelegateContext::new(mode, first.clone(), None),
        };
        context.obstacles = if handoff.mode == ContextMode::Fork { obstacles } else { Vec::new() };
        context.narrowed = narrowed;
        context.unmatched = fresh.unmatched;
        context.prices = price::compare(&parent, (&first, fork.as_ref()), &context);
        Ok(context)
    })
}

/// Request of the parent as it is now.
struct ParentRequest<'a> {
    session: &'a Session,
    built: Built,
    /// Message that hands the task over.
    message: String,
}

/// Returns the message that hands the task over, and the bounds that are narrower than asked.
fn message(session: &Session, handoff: &Handoff<'_>) -> Result<(String, Vec<Narrowed>), Error> {
    handoff.brief.check()?;
    let (bounds, narrowed) = handoff.brief.bounds.within(handoff.bounds, session.engine().now())?;
    let schema = match handoff.brief.schema.as_deref().map(serde_json::from_str::<serde_json::Value>) {
        None => None,
        Some(Ok(schema)) if schema.is_object() => Some(schema.to_string().into()),
        Some(Ok(_)) => return Err(Error::Config("the schema of the result is not a JSON object".to_owned())),
        Some(Err(error)) => {
            return Err(Error::Config(format!("the schema of the result is not JSON: {error}")));
        }
    };
    let brief = Brief { bounds, schema, ..handoff.brief.clone() };
    Ok((brief.text(written_time), narrowed))
}

impl DelegateContext {
    fn new(mode: ContextMode, built: Built, shared: Option<(Bytes, Bytes)>) -> Self {
        Self {
            mode,
            obstacles: Vec::new(),
            narrowed: Vec::new(),
            built,
            shared,
            handed: Vec::new(),
            left_out: Vec::new(),
            unmatched: Vec::new(),
            prices: Vec::new(),
        }
    }
}

impl Handoff<'_> {
    /// Returns whether the newest entries of the parent belong to a slice.
    fn wants_newest(&self) -> bool {
        self.excerpt.newest.unwrap_or_else(|| self.definition.is_none_or(explores))
    }
}

/// Returns whether a delegate only looks: its definition lists its tools, and none of them changes files.
#[must_use]
pub fn explores(definition: &AgentDefinition) -> bool {
    let allowed = definition.tools.allow.as_deref();
    allowed.is_some_and(|tools| !tools.iter().any(|tool| &*tool.name == "*" || changes_files(&tool.name)))
}

/// Builds the request of a fork: the parent's next request, with the brief as the next turn.
async fn fork(parent: &ParentRequest<'_>, handoff: &Handoff<'_>) -> Result<(Built, (Bytes, Bytes)), Error> {
    let options = ContextOptions { prompt: Some(parent.message.clone()), ..handoff.parent.clone() };
    let built = parent.session.explain(options).await?;
    let (own, base) = (without_marks(&built.draft.body), without_marks(&parent.built.draft.body));
    let shared = own.iter().zip(base.iter()).take_while(|(own, base)| own == base).count();
    let all = parent.built.draft.stem;
    Ok((built, (Bytes(shared as u64).min(all), all)))
}

/// Returns an id for a delegate's session that is kept in memory.
fn aside_id(parent: &StreamId) -> Result<StreamId, Error> {
    Ok(StreamId::new(format!("{}.delegate", parent.root()))?)
}
