//! A hook's input, without the differences between agents.

use std::path::PathBuf;
use wunderblock_core::units::Millis;

/// An agent that calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// OpenCode, through the plugin that the settings of this program install.
    OpenCode,
}

impl HookAgent {
    /// All agents, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::GeminiCli, Self::OpenCode];

    /// Returns the agent's name on the command line, for example `claude-code`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::OpenCode => "opencode",
        }
    }

    /// Returns the agent with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }
}

/// A call of a hook by an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall<'a> {
    /// The agent.
    pub agent: HookAgent,
    /// Name of the event, as the agent writes it. Empty if it is missing.
    pub name: String,
    /// The event.
    pub event: HookEvent<'a>,
    /// The agent's id of the session.
    pub session: Option<String>,
    /// File to which the agent writes the session. The file may not exist yet, and it may lag behind the event.
    pub transcript: Option<PathBuf>,
    /// Working directory of the session.
    pub cwd: Option<PathBuf>,
    /// Model of the session, as the agent names it.
    pub model: Option<String>,
    /// The agent's id of the turn, or of the prompt that began it.
    pub turn: Option<String>,
    /// The sub-agent in which the event happened, with its type. `None` for the main agent.
    pub inside: Option<Delegation>,
    /// Whether the prompt is the first one since the agent was started, or the first of its session: the agent takes in
    /// no context when a session begins or continues, so that the prompt is answered instead.
    pub begins: bool,
    /// Time of the event in ISO 8601, if the agent gives it.
    pub time: Option<String>,
}

/// An event at which an agent calls its hook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEvent<'a> {
    /// A session begins, or continues after an interruption.
    SessionStart(SessionSource),
    /// The user, or a program in the user's place, submits a prompt. Contains the text of the prompt.
    Prompt(String),
    /// A tool is about to run.
    ToolStart(UsedTool<'a>),
    /// A tool has run, or has failed.
    ToolEnd(UsedTool<'a>, ToolOutcome<'a>),
    /// A call of a tool is not permitted. Contains the reason, if one is given.
    PermissionDenied(UsedTool<'a>, Option<String>),
    /// The agent is about to compact the session. The text is what the user asked the compaction to keep.
    BeforeCompaction(CompactTrigger, Option<String>),
    /// The agent has compacted the session. The text is the summary, if the agent gives it.
    AfterCompaction(CompactTrigger, Option<String>),
    /// A turn ends. The text is the last message of the agent, if it is given.
    TurnEnd(TurnStop, Option<String>),
    /// A sub-agent begins its work.
    SubagentStart(Delegation),
    /// A sub-agent ends its work.
    SubagentEnd(Delegation),
    /// The session ends. Contains the reason as the agent writes it, for example `logout`.
    SessionEnd(Option<String>),
    /// An event without a meaning here. [`HookCall::name`] names it.
    Other,
}

/// The reason for the start of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionSource {
    /// A new session.
    Startup,
    /// An earlier session continues.
    Resume,
    /// The user cleared the conversation.
    Clear,
    /// The conversation was compacted and continues with its summary.
    Compact,
    /// A copy of an earlier session begins.
    Fork,
    /// A reason without a meaning here, as the agent writes it. Empty if it is missing.
    Other(String),
}

/// The cause of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactTrigger {
    /// The user asked for it.
    Manual,
    /// The conversation nearly fills the window.
    Auto,
    /// A cause without a meaning here, as the agent writes it. Empty if it is missing.
    Other(String),
}

/// The way in which a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnStop {
    /// The agent has finished its answer.
    Finished,
    /// The user interrupted the turn.
    Interrupted,
    /// An error ended the turn. Contains the error as the agent writes it.
    Failed(String),
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedTool<'a> {
    /// The agent's id of the call.
    pub id: Option<String>,
    /// Name of the tool. Empty if it is missing.
    pub name: String,
    /// Input of the tool, as the text of a JSON value.
    pub input: Option<&'a str>,
}

/// The result of a call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutcome<'a> {
    /// Output of the tool, as the text of a JSON value.
    pub output: Option<&'a str>,
    /// Error of the tool, if it failed.
    pub error: Option<String>,
    /// Whether the user interrupted the tool.
    pub interrupted: bool,
    /// Time for which the tool ran, without the time for permissions and hooks.
    pub duration: Option<Millis>,
}

/// Work that an agent gives to a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegation {
    /// The agent's id of the sub-agent.
    pub id: Option<String>,
    /// Type of the sub-agent, for example `Explore`.
    pub kind: Option<String>,
    /// Model that the sub-agent is asked to use.
    pub model: Option<String>,
    /// Task of the sub-agent.
    pub prompt: Option<String>,
    /// File to which the agent writes the sub-agent's session.
    pub transcript: Option<PathBuf>,
    /// Last message of the sub-agent.
    pub message: Option<String>,
}

/// What a hook gives to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// Text that the agent adds to the conversation. An empty text adds nothing.
    ///
    /// Claude Code replaces a text of more than 10,000 characters by a file name and a preview, and Codex one of
    /// about 2,500 tokens. Gemini CLI replaces `<` and `>` by entities.
    pub context: Option<String>,
    /// Input with which the tool runs instead of its own, as the text of a JSON object with all fields.
    pub input: Option<String>,
}
