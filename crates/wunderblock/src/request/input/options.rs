//! Options of a build.

use crate::request::input::sources::Sources;
use crate::rules::compactor::Compactor;
use wunderblock_core::allocate::Shares;
use wunderblock_core::decision::Injection;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Seq, Tokens};

/// Policy name for lanes without a policy.
const OFF: &str = "off";

/// Options of a build. By default, a build makes a request for the transcript's last model, and compacts the lane
/// under the default policy if compaction is due.
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// Lane of the request. `None` selects the session's latest lane for the same model, window and policy, or begins
    /// a new one. The first new lane is the main lane.
    pub lane: Option<LaneId>,
    /// Name of the model. `None` selects the transcript's last model, or the catalog's default.
    pub model: Option<String>,
    /// Context window of the model, in tokens. This value overrides every other source.
    pub window: Option<Tokens>,
    /// Tokens reserved for the answer.
    pub reserve: Option<Tokens>,
    /// Whether the session's own agent program sends the request, together with its system prompt and tools. The room
    /// kept for the prompt and tools is derived from recorded usage.
    pub harness: bool,
    /// Format of the request. `None` selects the model's own format.
    pub dialect: Option<Dialect>,
    /// Query that ranks older entries. The best entries are recalled if there is room.
    pub query: Option<String>,
    /// Whether to recall, without being asked, what bears on the user's newest turn: what the session itself no longer
    /// shows, and sessions of the same project, agent and user. This takes a search for each new turn and after each
    /// step.
    pub recall: bool,
    /// Texts of other sessions, best first. They enter the request at its tail if there is room, as recalled texts do,
    /// in the given order.
    pub handed: Vec<Injection>,
    /// Next turn of the user. The turn is appended to the session before the request is built, so later requests
    /// repeat it.
    pub prompt: Option<String>,
    /// Position as of which the request is built. `None` means the head. The position may be set only for requests
    /// that are not recorded.
    pub at: Option<Seq>,
    /// Sources outside the ledger.
    pub sources: Sources,
    /// Maximum share of each section.
    pub shares: Shares,
    /// Warning thresholds, in hundredths of the request's limit, ascending.
    pub warn: Vec<u8>,
    /// Settings for compacting the lane when it is due. `None` never compacts it.
    pub compactor: Option<Compactor>,
}

impl Default for ContextOptions {
    fn default() -> Self {
        Self {
            lane: None,
            model: None,
            window: None,
            reserve: None,
            harness: false,
            dialect: None,
            query: None,
            recall: false,
            handed: Vec::new(),
            prompt: None,
            at: None,
            sources: Sources::default(),
            shares: Shares::default(),
            warn: vec![85, 95],
            compactor: Some(Compactor::default()),
        }
    }
}

impl ContextOptions {
    /// Returns the default options without a policy: the lane is not compacted, and tool results are shown unchanged.
    #[must_use]
    pub fn uncompacted() -> Self {
        Self { compactor: None, ..Self::default() }
    }

    /// Returns the name of the policy that compacts the lane.
    pub(crate) fn policy(&self) -> &str {
        self.compactor.as_ref().map_or(OFF, |compactor| &compactor.policy.name)
    }
}

impl From<&Self> for ContextOptions {
    fn from(options: &Self) -> Self {
        options.clone()
    }
}

impl From<Model> for ContextOptions {
    fn from(model: Model) -> Self {
        Self { model: Some(model.name), window: model.window, ..Self::default() }
    }
}

/// Model of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    name: String,
    window: Option<Tokens>,
}

impl Model {
    /// Names a model as its provider does. The model's window comes from the catalog.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), window: None }
    }

    /// Sets the window of the model, in tokens.
    #[must_use]
    pub fn window(self, tokens: u64) -> Self {
        Self { window: Some(Tokens(tokens)), ..self }
    }
}
