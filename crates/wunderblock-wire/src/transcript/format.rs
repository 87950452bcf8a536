//! Transcript formats and their names.

use wunderblock_core::message::Dialect;

/// A transcript format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Claude Code sessions (JSONL, a tree over `parentUuid`).
    ClaudeCode,
    /// Codex rollouts (JSONL, old and new).
    Codex,
    /// pi and OpenClaw sessions (JSONL v1 to v3).
    Pi,
    /// Gemini CLI sessions and saved chats: JSONL or a JSON document.
    GeminiCli,
    /// Copilot CLI sessions: JSONL of events.
    Copilot,
    /// OpenCode sessions: the members of a session as JSONL, or an export as a JSON document.
    OpenCode,
    /// Conversations of Cursor's editor: the values of its database as JSONL.
    Cursor,
    /// Conversations of an export of ChatGPT's data: the nodes of a conversation as JSONL.
    ChatGpt,
    /// Conversations of an export of claude.ai's data: the messages of a conversation as JSONL.
    ClaudeAi,
    /// droid sessions, and its output as a stream (JSONL).
    Droid,
    /// Grok CLI chats (JSONL).
    Grok,
    /// Kimi Code sessions (JSONL).
    Kimi,
    /// Qwen Code sessions (JSONL, a tree over `parentUuid`).
    Qwen,
    /// Antigravity CLI sessions (JSONL).
    Antigravity,
    /// Requests of Anthropic Messages, with or without replies: a JSON document or JSONL.
    Anthropic,
    /// Requests of OpenAI Responses, with or without replies: a JSON document or JSONL.
    OpenaiResponses,
    /// Requests of Gemini `generateContent`, with or without replies: a JSON document or JSONL.
    Gemini,
    /// SWE-agent trajectories (a JSON document).
    SweAgent,
    /// Results of tau-bench (a JSON document), or its example dialogues (JSONL).
    TauBench,
    /// OpenAI chat messages: a JSON document or JSONL.
    OpenaiChat,
    /// aider's Markdown history.
    Aider,
    /// JSON lines of an unknown shape, whose role and text are taken from wherever they are found.
    JsonLines,
    /// One JSON document of an unknown shape.
    JsonDocument,
    /// Our own export: the events of a session, one per line.
    Wunderblock,
}

/// Unit in which a reader takes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileShape {
    /// Line by line, in constant memory.
    Lines,
    /// The whole file at once.
    Document,
}

impl Format {
    /// All formats, in the order in which detection prefers them.
    pub const ALL: [Self; 24] = [
        Self::Wunderblock,
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::GeminiCli,
        Self::Copilot,
        Self::OpenCode,
        Self::Cursor,
        Self::ChatGpt,
        Self::ClaudeAi,
        Self::Droid,
        Self::Grok,
        Self::Kimi,
        Self::Qwen,
        Self::Antigravity,
        Self::Anthropic,
        Self::OpenaiResponses,
        Self::Gemini,
        Self::SweAgent,
        Self::TauBench,
        Self::OpenaiChat,
        Self::Aider,
        Self::JsonLines,
        Self::JsonDocument,
    ];

    /// Returns the name of the format on the command line and in the ledger.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::GeminiCli => "gemini-cli",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
            Self::ChatGpt => "chatgpt",
            Self::ClaudeAi => "claude-ai",
            Self::Droid => "droid",
            Self::Grok => "grok",
            Self::Kimi => "kimi",
            Self::Qwen => "qwen",
            Self::Antigravity => "antigravity",
            Self::Anthropic => Dialect::Anthropic.name(),
            Self::OpenaiResponses => Dialect::OpenaiResponses.name(),
            Self::Gemini => Dialect::Gemini.name(),
            Self::SweAgent => "swe-agent",
            Self::TauBench => "tau-bench",
            Self::OpenaiChat => Dialect::OpenaiChat.name(),
            Self::Aider => "aider",
            Self::JsonLines => "json-lines",
            Self::JsonDocument => "json",
            Self::Wunderblock => "wunderblock",
        }
    }

    /// Returns the format of logs of requests in a dialect. The neutral dialect has none.
    pub(crate) const fn of_requests(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Anthropic => Some(Self::Anthropic),
            Dialect::OpenaiResponses => Some(Self::OpenaiResponses),
            Dialect::Gemini => Some(Self::Gemini),
            Dialect::OpenaiChat => Some(Self::OpenaiChat),
            Dialect::Neutral => None,
        }
    }

    /// Returns the format with this name. OpenClaw writes pi's format, so `openclaw` is a second name for `pi`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "openclaw" {
            return Some(Self::Pi);
        }
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
