//! Arguments of `agents`.

use super::handoff::ContextDelegate;
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;
use wunderblock_settings::DefinitionChoice;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock agents list                            the delegates that your agents can use here
  wunderblock agents show feature-dev:code-reviewer  one of them, what it overrides, and its prompt
  wunderblock agents listing                         the lines that a main agent is told
  wunderblock agents resolve --type explore --parent-model claude-opus-5-5 --explain  which model it gets, and why
  wunderblock agents resolve --type plan --session 3f9c --record  the same for a session's model, kept in the session
  wunderblock agents list --commands                 the slash commands and skills that your agents can use here
  wunderblock agents show /deploy --arguments staging  the text of one of them, with its arguments
  wunderblock agents context explore --session 3f9c --goal Find…   what it would be handed, and the cost
  wunderblock agents tree 3f9c                       the delegates that a session had, and what they cost

A delegate is an agent to which another agent hands work. Definitions are read from the files of Claude Code, Codex,
Gemini CLI and OpenCode. The strongest layer counts: policy, then --define, project (the closest folder), user, plugin,
built-in. Rules for models are in a file that the settings name (docs/delegates.md).")]
pub(crate) struct Agents {
    #[command(subcommand)]
    pub(crate) command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the delegates, with their models, tools and layers, or the commands and skills
    List(ListAgents),
    /// Show a definition of a delegate, a command or a skill: its fields, what it overrides, its prompt
    Show(ShowAgent),
    /// Show which model a delegate gets, and why
    Resolve(ResolveAgent),
    /// Show the lines that tell a main agent of its delegates
    Listing(ListingArgs),
    /// Build the first request of a delegate: fresh, fork, slice or summary of its parent
    Context(Box<ContextDelegate>),
    /// Draw the delegates that a session had, with models, spend and tasks
    Tree(TreeArgs),
}

/// Where definitions are looked for.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct DefinitionArgs {
    /// Product whose definitions count: claude-code, codex, gemini-cli, opencode [default: all]
    #[arg(long, value_name = "PRODUCT")]
    pub(crate) product: Option<String>,
    /// File with a definition, or a JSON object of definitions by name; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) define: Vec<PathBuf>,
}

impl DefinitionArgs {
    /// Returns the choice as data.
    pub(crate) fn choice(&self) -> DefinitionChoice {
        DefinitionChoice { product: self.product.clone(), define: self.define.clone() }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListAgents {
    /// List the slash commands and skills instead
    #[arg(long, conflicts_with_all = ["server", "tool"])]
    pub(crate) commands: bool,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowAgent {
    /// Name of the delegate, or /NAME of a slash command or a skill
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Show the text of the command with these arguments, and what its product would run or insert
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) arguments: Option<String>,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ResolveAgent {
    /// Type of the delegate [default: that of --command, or general-purpose]
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) kind: Option<String>,
    /// Model of the call: an alias, a tier, an id, or `inherit`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Slash command or skill whose model, effort and type of delegate count
    #[arg(long, value_name = "/NAME", conflicts_with = "model")]
    pub(crate) command: Option<String>,
    /// Id of the parent's model [default: the latest model of --session]
    #[arg(long, value_name = "ID", required_unless_present = "session")]
    pub(crate) parent_model: Option<String>,
    /// Session of the parent
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Record the decision in the session
    #[arg(long, requires = "session")]
    pub(crate) record: bool,
    /// Size of the delegate's context, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) context: Option<u64>,
    /// The parent is planning, and changes nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// The delegate does utility work: summaries, titles, classification
    #[arg(long)]
    pub(crate) utility: bool,
    /// Show every rule that was tried
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListingArgs {
    /// File with an earlier listing: show only what changed since
    #[arg(long, value_name = "FILE")]
    pub(crate) since: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TreeArgs {
    /// Session
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

/// What there is where the delegates would run.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct ConditionArgs {
    /// MCP server that is connected; repeatable [default: not considered]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// Tool that the parent has; repeatable [default: not considered]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
}
