//! What may enter a request from outside the ledger, as the caller hands it in.
//!
//! Every kind of source is a small typed input. None of them says what it weighs: that follows from what it is.

use super::provider::StateProvider;
use crate::sources::{InstructionRules, Workspace};
use wunderblock_core::instruction::Finding;
use wunderblock_core::request::Tool;
use wunderblock_core::state::WorkState;

/// All sources of a request. What is `None` stays as the lane has it on record; an empty list means: nothing of it.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Runtime safety policy: nothing overrides it.
    pub safety: Option<Vec<Given>>,
    /// System and developer text, after that of the transcript.
    pub system: Option<Vec<Given>>,
    /// Instruction files.
    pub instructions: Option<Instructions>,
    /// Tools to declare.
    pub tools: Option<Vec<OfferedTool>>,
    /// Skills to list.
    pub skills: Option<Vec<Skill>>,
    /// Memory that is always present.
    pub memory: Option<Vec<Given>>,
    /// Resources to list, and those that are pinned.
    pub resources: Option<Vec<Resource>>,
    /// Where the work stands.
    pub state: Option<WorkState>,
    /// Who else knows where the work stands: asked at each build.
    pub providers: Vec<StateProvider>,
    /// What the caller has to say of them: it goes into the report.
    pub findings: Vec<Finding>,
    /// Whether what is frozen (tools, skills, memory, resources) changes now, at the price of the cached beginning.
    pub now: bool,
}

/// A named text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it is called: a path, a title.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Where instruction files are looked for.
#[derive(Clone, Debug)]
pub struct Instructions {
    /// Where work happens.
    pub workspace: Workspace,
    /// Which files count, and from where.
    pub rules: InstructionRules,
    /// Instructions of the person for this session only.
    pub session: Vec<Given>,
}

/// A tool, declared or named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    /// The tool.
    pub tool: Tool,
    /// Only its name shall be in the request, until it is asked for.
    pub deferred: bool,
}

impl From<Tool> for OfferedTool {
    fn from(tool: Tool) -> Self {
        Self { tool, deferred: false }
    }
}

/// A skill: name and description go into the request, the body is read by its handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// What is read on demand.
    pub body: String,
}

/// A resource, as MCP servers offer them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// What it is called.
    #[serde(default)]
    pub name: String,
    /// What it is, in a sentence.
    #[serde(default)]
    pub description: String,
    /// What it holds, if that was fetched.
    #[serde(default)]
    pub text: Option<String>,
    /// Whether its text stands in every request.
    #[serde(default)]
    pub pinned: bool,
}
