//! Reads the inputs of hooks, and writes their answers.

use crate::hook::call::{Delegation, HookAgent, HookAnswer, HookCall, HookEvent};
use crate::hook::contract::Contract;
use crate::hook::{claude_code, codex, gemini_cli, opencode};
use crate::json::{ObjectWriter, RawFields, is_object, raw};
use crate::outcome::WireError;

const fn contract(agent: HookAgent) -> &'static Contract {
    match agent {
        HookAgent::ClaudeCode => &claude_code::CONTRACT,
        HookAgent::Codex => &codex::CONTRACT,
        HookAgent::GeminiCli => &gemini_cli::CONTRACT,
        HookAgent::OpenCode => &opencode::CONTRACT,
    }
}

impl<'a> HookCall<'a> {
    /// Reads the input of a hook. A byte order mark before the object is skipped.
    ///
    /// An agent's output may contain bytes that are not UTF-8; read such input with [`String::from_utf8_lossy`].
    ///
    /// # Errors
    /// Returns an error if the text is not a JSON object.
    pub fn decode(agent: HookAgent, text: &'a str) -> Result<Self, WireError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = raw(text)?;
        let fields =
            RawFields::of(document).ok_or_else(|| WireError::shape("the input of a hook", "an object"))?;
        Ok(contract(agent).call(agent, &fields))
    }

    /// Returns the work that this call of a tool gives to a sub-agent. `None` for other tools and other events.
    ///
    /// Agents delegate by a tool, and only its input contains the model and the task.
    #[must_use]
    pub fn delegation(&self) -> Option<Delegation> {
        let (HookEvent::ToolStart(tool) | HookEvent::ToolEnd(tool, _) | HookEvent::PermissionDenied(tool, _)) =
            &self.event
        else {
            return None;
        };
        contract(self.agent).delegation(tool)
    }

    /// Returns the name under which a transcript of the agent knows the session of a sub-agent.
    #[must_use]
    pub fn child_session(&self, delegation: &Delegation) -> Option<String> {
        let id = delegation.id.as_deref()?;
        Some(match self.agent {
            HookAgent::ClaudeCode => format!("agent-{id}"),
            _ => id.to_owned(),
        })
    }

    /// Returns what to write to standard output so that the agent takes in the answer. `None` if there is nothing to
    /// write: the answer is empty, or the agent takes in no such answer at this event.
    #[must_use]
    pub fn answer(&self, answer: &HookAnswer) -> Option<String> {
        let contract = contract(self.agent);
        let context = answer.context.as_deref().filter(|text| !text.trim().is_empty());
        let context = context.filter(|_| contract.takes_context(&self.name));
        let input = answer.input.as_deref().filter(|text| raw(text).is_ok_and(is_object));
        let input = input.zip(contract.input_field(&self.name));
        if context.is_none() && input.is_none() {
            return None;
        }
        let mut specific = ObjectWriter::default().text("hookEventName", &self.name);
        if let Some(context) = context {
            specific = specific.text("additionalContext", context);
        }
        if let Some((input, field)) = input {
            if contract.needs_permission {
                specific = specific.text("permissionDecision", "allow");
            }
            specific = specific.raw(field, input);
        }
        Some(ObjectWriter::default().raw("hookSpecificOutput", &specific.finish()).finish())
    }
}
