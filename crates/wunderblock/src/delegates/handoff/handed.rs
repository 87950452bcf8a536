//! What is handed to a delegate, and the context that comes of it.

use crate::lanes::context::Built;
use crate::ledger::session::Session;
use crate::request::input::options::ContextOptions;
use crate::rules::catalog::MicroDollars;
use wunderblock_core::delegate::brief::{Bounds, Brief, Narrowed};
use wunderblock_core::delegate::context::{ContextMode, ForkObstacle};
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::tools::ToolPattern;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_summary::changes_files;

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

/// Size and cost of a delegate's first request, without the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModePrice {
    /// Mode of the context.
    pub mode: ContextMode,
    /// Size of the request in tokens.
    pub tokens: Tokens,
    /// Tokens that the provider should find in its cache, if the parent's latest request is still there.
    pub cached: Tokens,
    /// Cost of sending the request; `None` if the price is unknown.
    pub cost: Option<MicroDollars>,
}

/// Request of the parent as it is now.
pub(super) struct ParentRequest<'a> {
    pub(super) session: &'a Session,
    pub(super) built: Built,
    /// Message that hands the task over.
    pub(super) message: String,
}

impl DelegateContext {
    pub(super) fn new(mode: ContextMode, built: Built, shared: Option<(Bytes, Bytes)>) -> Self {
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
    pub(super) fn wants_newest(&self) -> bool {
        self.excerpt.newest.unwrap_or_else(|| self.definition.is_none_or(explores))
    }
}

/// Returns whether a delegate only looks: its definition lists its tools, and none of them changes files.
#[must_use]
pub fn explores(definition: &AgentDefinition) -> bool {
    let allowed = definition.tools.allow.as_deref();
    allowed.is_some_and(|tools| !tools.iter().any(|tool| &*tool.name == "*" || changes_files(&tool.name)))
}
