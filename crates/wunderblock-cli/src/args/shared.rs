//! Arguments that several commands take.

use super::compaction::PolicyArgs;
use super::documents::InArg;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;
use wunderblock_core::message::Dialect;
use wunderblock_settings::{ReaderChoice, RequestChoice, SourceChoice};
use wunderblock_wire::transcript::{AgentFormat, Format};

/// A session, given by its id or a short id, optionally with a position after `#`, or by the path of a transcript.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct SessionArg {
    /// A session's id, a short one, or a transcript's path (imported first)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

/// Format of transcripts: `None` to detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormatArg(pub(crate) Option<Format>);

impl FormatArg {
    /// Name of the format that is detected.
    pub(crate) const AUTO: &'static str = "auto";

    /// Returns the parser of a format's name. OpenClaw writes pi's format.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        let names = Format::ALL.into_iter().map(Format::name);
        let names = std::iter::once(Self::AUTO).chain(names).chain(["openclaw"]);
        PossibleValuesParser::new(names).map(|name| Self(Format::from_name(&name)))
    }
}

/// Sessions that a command considers.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Only some sessions")]
pub(crate) struct SessionFilterArgs {
    /// Only this project: a folder (`.` is this one), which names its repository with all worktrees and clones, or a name
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only this user
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Only this agent, such as codex
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only this run inside a session, by the name that its recorder gave
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Only sessions with this tag; several tags must all be there
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Only what was said since then: 2w, 3d, 12h, 2026-11-01, or 2026-11-01T09:30:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
}

/// Where a search looks: in one session, or in some sessions, and at which messages.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct SearchedArgs {
    /// Only this session
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["project", "user", "agent", "run", "tag"])]
    pub(crate) session: Option<String>,
    /// Only sessions, or only documents that were indexed
    #[arg(long = "in", value_enum, value_name = "WHAT", conflicts_with = "session")]
    pub(crate) within: Option<InArg>,
    #[command(flatten)]
    pub(crate) sessions: SessionFilterArgs,
    #[command(flatten)]
    pub(crate) messages: MessageFilterArgs,
}

/// Messages that a search considers.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Only some messages")]
pub(crate) struct MessageFilterArgs {
    /// Only messages of this role
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,
    /// Only calls of this tool, and their results
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// Only calls about this file or folder, and their results
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    System,
    User,
    Assistant,
    Tool,
    Harness,
    Hook,
    Peer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    Neutral,
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
}

/// Form in which a session is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportTo {
    /// One request with the whole session.
    Request(Dialect),
    /// Transcript of an agent.
    Transcript(AgentFormat),
}

impl ExportTo {
    /// All forms: the agents, then the dialects.
    const ALL: [Self; 8] = [
        Self::Transcript(AgentFormat::ClaudeCode),
        Self::Transcript(AgentFormat::Codex),
        Self::Transcript(AgentFormat::Pi),
        Self::Request(Dialect::Neutral),
        Self::Request(Dialect::Anthropic),
        Self::Request(Dialect::OpenaiChat),
        Self::Request(Dialect::OpenaiResponses),
        Self::Request(Dialect::Gemini),
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Request(dialect) => dialect.name(),
            Self::Transcript(agent) => agent.format().name(),
        }
    }

    /// Returns the parser of a form's name.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(Self::ALL.map(Self::name))
            .try_map(|name| Self::ALL.into_iter().find(|form| form.name() == name).ok_or("unknown format"))
    }
}

/// The model that reads the request, and its limits.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ReaderArgs {
    /// Model [default: the transcript's last one, else the catalog's default]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Context window, whatever provider and catalog say
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u64>,
    /// Tokens to keep free for the answer
    #[arg(long, value_name = "TOKENS")]
    pub(crate) reserve: Option<u64>,
}

impl ReaderArgs {
    /// Returns the choice as data.
    pub(crate) fn choice(&self) -> ReaderChoice {
        ReaderChoice { model: self.model.clone(), window: self.window, reserve: self.reserve }
    }
}

/// How a request is built.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "The request")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) reader: ReaderArgs,
    /// Keep room for what the agent itself adds (system prompt, tools), learned from its usage
    #[arg(long)]
    pub(crate) harness: bool,
    /// Bring back older messages about this, if there is room
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Bring back, without being asked, what bears on a new turn
    #[arg(long)]
    pub(crate) recall: bool,
    /// Lane [default: the latest for this model, window and policy, or a new one]
    #[arg(long, value_name = "NAME")]
    pub(crate) lane: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

impl BuildArgs {
    /// Returns the choice as data, for the next request in its model's format.
    pub(crate) fn choice(&self) -> RequestChoice {
        RequestChoice {
            reader: self.reader.choice(),
            harness: self.harness,
            query: self.query.clone(),
            recall: self.recall,
            lane: self.lane.clone(),
            compaction: self.policy.choice(),
            sources: self.sources.choice(),
            at: None,
            dialect: None,
        }
    }
}

/// Inputs from outside the ledger. Inputs that are not given stay as they are recorded for the lane.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "From outside the ledger (kept from the last request if not given)")]
pub(crate) struct SourceArgs {
    /// Working directory: its instruction files and skills enter
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Find instruction files in the whole project of --cwd
    #[arg(long)]
    pub(crate) scan: bool,
    /// Your own instructions for this session; requires --cwd
    #[arg(long, value_name = "FILE")]
    pub(crate) instructions: Vec<PathBuf>,
    /// Safety policy: nothing overrides it
    #[arg(long, value_name = "FILE")]
    pub(crate) safety: Vec<PathBuf>,
    /// System text, after that of the transcript
    #[arg(long, value_name = "FILE")]
    pub(crate) system: Vec<PathBuf>,
    /// Tools to declare: a JSON array in any provider's format
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Directories of skills: DIR/NAME/SKILL.md
    #[arg(long, value_name = "DIR")]
    pub(crate) skills: Vec<PathBuf>,
    /// List the agent types of a product: claude-code, codex, gemini-cli, opencode
    #[arg(long, value_name = "PRODUCT")]
    pub(crate) agents: Option<String>,
    /// Memory that is always present
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Vec<PathBuf>,
    /// A JSON or TOML list of {uri, name, description, text, pinned}
    #[arg(long, value_name = "FILE")]
    pub(crate) resources: Option<PathBuf>,
    /// State of the work, JSON or TOML: plan, todo, results, failures, …
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Apply changed tools, skills, agents, memory, resources now, at the cost of the cache
    #[arg(long)]
    pub(crate) now: bool,
}

impl SourceArgs {
    /// Returns the choice as data.
    fn choice(&self) -> SourceChoice {
        SourceChoice {
            cwd: self.cwd.clone(),
            scan: self.scan,
            instructions: self.instructions.clone(),
            safety: self.safety.clone(),
            system: self.system.clone(),
            tools: self.tools.clone(),
            skills: self.skills.clone(),
            agents: self.agents.clone(),
            memory: self.memory.clone(),
            resources: self.resources.clone(),
            state: self.state.clone(),
            now: self.now,
        }
    }
}
