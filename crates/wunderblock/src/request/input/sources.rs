//! Sources outside the ledger, as the caller passes them in.
//!
//! Each kind of source is a small type. No source states its own authority, which follows from its kind.

use crate::request::input::provider::StateProvider;
use wunderblock_core::delegate::definition::AgentDefinition;
use wunderblock_core::delegate::listing;
use wunderblock_core::instruction::Finding;
use wunderblock_core::request::Tool;
use wunderblock_core::state::WorkState;
use wunderblock_sources::{InstructionRules, Workspace};

/// All sources of a request. A section that is `None` keeps what the lane has on record; an empty list removes its
/// content.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Runtime safety policy, which nothing overrides.
    pub safety: Option<Vec<Given>>,
    /// System and developer texts. These texts follow those of the transcript.
    pub system: Option<Vec<Given>>,
    /// Instruction files.
    pub instructions: Option<Instructions>,
    /// Tools to declare.
    pub tools: Option<Vec<OfferedTool>>,
    /// Skills to list.
    pub skills: Option<Vec<Skill>>,
    /// Agent types to list: the delegates to which the model can hand work. Once a lane has listed them, changes are
    /// told at the tail, and the list stays as it is until the lane's beginning is rebuilt anyway.
    pub agents: Option<Vec<AgentType>>,
    /// Memory that is always shown.
    pub memory: Option<Vec<Given>>,
    /// Resources to list, and pinned ones to show.
    pub resources: Option<Vec<Resource>>,
    /// State of the work.
    pub state: Option<WorkState>,
    /// Providers that are asked for the state of the work at each build.
    pub providers: Vec<StateProvider>,
    /// Findings of the caller about the sources, which become part of the report.
    pub findings: Vec<Finding>,
    /// Whether frozen sections (tools, skills, agent types, memory, resources) change now, at the cost of the cached beginning.
    pub now: bool,
}

/// Text with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Name of the text: a path or a title.
    pub name: String,
    /// Content of the text.
    pub text: String,
}

/// Search paths and rules for instruction files.
#[derive(Clone, Debug)]
pub struct Instructions {
    /// Workspace in which the agent works.
    pub workspace: Workspace,
    /// Rules that decide which files apply, and where they are looked for.
    pub rules: InstructionRules,
    /// Instructions that the person gives for this session only.
    pub session: Vec<Given>,
}

/// Tool, declared in full or only by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    /// Declaration of the tool.
    pub tool: Tool,
    /// Whether the request contains only the tool's name until the tool is asked for.
    pub deferred: bool,
}

impl From<Tool> for OfferedTool {
    fn from(tool: Tool) -> Self {
        Self { tool, deferred: false }
    }
}

/// Skill: the request shows its name and description; its body is read by handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Name of the skill.
    pub name: String,
    /// Purpose of the skill, in a sentence.
    pub description: String,
    /// Text that is read on demand.
    pub body: String,
}

/// Agent type: a delegate, as a request lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentType {
    /// Name of the type.
    pub name: String,
    /// Line of the list, which includes the name. See [`line`](wunderblock_core::delegate::listing::line).
    pub line: String,
}

impl From<&AgentDefinition> for AgentType {
    fn from(definition: &AgentDefinition) -> Self {
        Self { name: definition.name.to_string(), line: listing::line(definition) }
    }
}

/// Resource, as offered by an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Address of the resource.
    pub uri: String,
    /// Name of the resource.
    #[serde(default)]
    pub name: String,
    /// Description of the resource, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Content of the resource, if it was fetched.
    #[serde(default)]
    pub text: Option<String>,
    /// Whether every request shows the content.
    #[serde(default)]
    pub pinned: bool,
}
