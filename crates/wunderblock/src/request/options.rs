//! What is asked of a build.

use super::sources::Sources;
use crate::compactor::Compactor;
use wunderblock_core::allocate::Shares;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Seq, Tokens};

/// The name of no policy.
const OFF: &str = "off";

/// What is asked of a build. The default builds a request for the transcript's last model, and compacts its lane by the
/// default policy where that finds it due.
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// Which consumer's view. Without a name the session's latest lane for the same model, window and policy, else a new
    /// one, the first of which is the main lane.
    pub lane: Option<LaneId>,
    /// The model; the transcript's last one if none, else the catalog's default.
    pub model: Option<String>,
    /// The model's window, which beats every other source.
    pub window: Option<Tokens>,
    /// Kept free for the answer.
    pub reserve: Option<Tokens>,
    /// Whether the agent program that the session is of sends the request, with its own system prompt and tools: room for them
    /// is kept, as much as its recorded usage tells.
    pub harness: bool,
    /// The format; the model's own if none.
    pub dialect: Option<Dialect>,
    /// Older entries are ranked by this and come back where there is room.
    pub query: Option<String>,
    /// The user's next turn. It is appended to the session before the request is built, so the next request repeats it.
    pub prompt: Option<String>,
    /// As of this position; the head if none. Only for requests that are not recorded.
    pub at: Option<Seq>,
    /// What enters from outside the ledger.
    pub sources: Sources,
    /// Which section may take how much.
    pub shares: Shares,
    /// Thresholds to warn at, in hundredths of a request's limit, ascending.
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
            harness: false,
            dialect: None,
            query: None,
            prompt: None,
            at: None,
            sources: Sources::default(),
            shares: Shares::default(),
            warn: vec![70, 85, 95],
            compactor: Some(Compactor::default()),
        }
    }
}

impl ContextOptions {
    /// The default without a policy: nothing is compacted, and tool results enter as they are.
    #[must_use]
    pub fn uncompacted() -> Self {
        Self { compactor: None, ..Self::default() }
    }

    /// The name of the policy by which the lane is compacted.
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

/// The model a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    name: String,
    window: Option<Tokens>,
}

impl Model {
    /// A model by its name, as the provider takes it. Its window is the catalog's.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), window: None }
    }

    /// The model with a window of this size, in tokens.
    #[must_use]
    pub fn window(self, tokens: u64) -> Self {
        Self { window: Some(Tokens(tokens)), ..self }
    }
}
