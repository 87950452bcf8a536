//! Tools by which agents give work to sub-agents, for hooks and for transcripts.

use crate::hook::call::Delegation;
use crate::hook::fields::word;
use crate::json::RawFields;
use wunderblock_core::event::SubagentOutcome;

/// Tools of one agent that give work to a sub-agent.
pub(super) struct DelegatingTools {
    /// Names of the tools.
    names: &'static [&'static str],
    /// Fields of the input: type of the sub-agent, model, task.
    fields: [&'static str; 3],
    /// Beginnings of results that only report that the sub-agent works in the background.
    launched: &'static [&'static str],
    /// Beginnings of failed results after the user or the parent ended the work.
    stopped: &'static [&'static str],
}

/// The tool was called `Task` before it was called `Agent`.
pub(super) const CLAUDE_CODE: DelegatingTools = DelegatingTools {
    names: &["Agent", "Task"],
    fields: ["subagent_type", "model", "prompt"],
    launched: &["Async agent launched", "Remote agent launched"],
    stopped: &["[Request interrupted by user", "The user doesn't want to proceed with this tool use"],
};

/// Every sub-agent works in the background, until another tool reports its result. The result of the start is an
/// object, and an error is a text.
pub(super) const CODEX: DelegatingTools = DelegatingTools {
    names: &["spawn_agent"],
    fields: ["agent_type", "model", "message"],
    launched: &["{"],
    stopped: &[],
};

pub(super) const GEMINI_CLI: DelegatingTools = DelegatingTools {
    names: &["invoke_agent"],
    fields: ["agent_name", "model", "prompt"],
    launched: &[],
    stopped: &[],
};

pub(super) const OPENCODE: DelegatingTools = DelegatingTools {
    names: &["task"],
    fields: ["subagent_type", "model", "prompt"],
    launched: &[],
    stopped: &["Tool execution aborted"],
};

/// Copilot CLI, which calls no hooks here.
const COPILOT: DelegatingTools = DelegatingTools {
    names: &["task"],
    fields: ["agent_type", "model", "prompt"],
    launched: &["Agent started in background"],
    stopped: &[],
};

const ALL: [&DelegatingTools; 5] = [&CLAUDE_CODE, &CODEX, &GEMINI_CLI, &OPENCODE, &COPILOT];

impl DelegatingTools {
    /// Returns the work that a call of a tool gives to a sub-agent. `None` for other tools.
    pub(super) fn delegation(&self, tool: &str, input: &str) -> Option<Delegation> {
        if !self.names.contains(&tool) {
            return None;
        }
        let input = RawFields::parse(input).unwrap_or_default();
        let [kind, model, prompt] = self.fields.map(|field| word(&input, field));
        Some(Delegation { kind, model, prompt, ..Delegation::default() })
    }
}

/// Returns whether a tool of any agent gives work to a sub-agent.
#[must_use]
pub fn delegates(tool: &str) -> bool {
    ALL.iter().any(|tools| tools.names.contains(&tool))
}

/// Returns the work that a call of a tool gives to a sub-agent, whichever agent made the call. `None` for other tools.
/// `input` is the text of a JSON object.
#[must_use]
pub fn delegation(tool: &str, input: &str) -> Option<Delegation> {
    let mut read = ALL.iter().filter_map(|tools| tools.delegation(tool, input));
    let first = read.next()?;
    // Agents whose tools have the same name differ in the field of the type.
    let typed = if first.kind.is_none() { read.find(|next| next.kind.is_some()) } else { None };
    Some(typed.unwrap_or(first))
}

/// Returns how the work ended, as the result of a delegating tool says. `None` if the result only reports that the
/// sub-agent works in the background.
#[must_use]
pub fn outcome(tool: &str, result: &str, failed: bool) -> Option<SubagentOutcome> {
    let of = || ALL.iter().filter(|tools| tools.names.contains(&tool));
    let begins = |beginning: &&str| result.trim_start().starts_with(beginning);
    if failed {
        let stopped = of().flat_map(|tools| tools.stopped).any(begins);
        return Some(if stopped { SubagentOutcome::Stopped } else { SubagentOutcome::Failed });
    }
    (!of().flat_map(|tools| tools.launched).any(begins)).then_some(SubagentOutcome::Done)
}

/// Returns the words of the sub-agent in the text by which Claude Code notifies the parent. `None` for other texts, and
/// if the sub-agent left no words.
#[must_use]
pub fn notified_result(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("<task-notification>")?;
    let (_, result) = rest.split_once("<result>")?;
    Some(result.rsplit_once("</result>")?.0.trim())
}
