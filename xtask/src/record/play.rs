//! Plays the scenario step by step.

use super::scenario::{Scenario, ScenarioStep, ScriptedReply, ToolUse};
use super::transcript::{CalledTool, ConversationPosition, TranscriptWriter};
use super::tree::RepositoryCopy;
use super::{comment, tools};
use crate::program::ChoreResult;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The title of the session.
const TITLE: &str = "A --since filter, a clip that is too long, and a look at pairing";

/// Plays steps on a copy of the repository and writes them to a transcript.
pub(super) struct Player {
    pub(super) tree: RepositoryCopy,
    pub(super) transcript: TranscriptWriter,
    marks: HashMap<String, ConversationPosition>,
    /// Results of the tools that the last reply called.
    answers: String,
    /// The assistant's latest text.
    said: String,
}

impl Player {
    pub(super) fn new(tree: RepositoryCopy) -> Self {
        let transcript = TranscriptWriter::new();
        Self { tree, transcript, marks: HashMap::new(), answers: String::new(), said: String::new() }
    }

    /// Plays the session.
    pub(super) fn play(&mut self, parts: &[Scenario]) -> ChoreResult<()> {
        for part in parts {
            for (index, step) in part.steps.iter().enumerate() {
                self.step(step).map_err(|error| format!("{}, step {}: {error}", part.name, index + 1))?;
            }
        }
        self.transcript.title(TITLE)
    }

    fn step(&mut self, step: &ScenarioStep) -> ChoreResult<()> {
        match step {
            ScenarioStep::User(text) => self.transcript.user(text),
            ScenarioStep::Reply(reply) => self.reply(reply),
            ScenarioStep::Mark(name) => {
                self.marks.insert(name.clone(), self.transcript.head.clone());
                Ok(())
            }
            ScenarioStep::Back(name) => {
                let head = self.marks.get(name).ok_or_else(|| format!("no mark `{name}`"))?;
                self.transcript.head = head.clone();
                Ok(())
            }
            ScenarioStep::Compact(summary) => self.transcript.compacted(summary),
            ScenarioStep::Pulled { path, old, new, message } => {
                tools::replace(&self.tree, path, old, new)?;
                self.tree.behind(&format!("git commit --quiet -am '{message}'")).map(drop)
            }
        }
    }

    fn reply(&mut self, reply: &ScriptedReply) -> ChoreResult<()> {
        let mut blocks: Vec<Value> = Vec::new();
        if let Some(thought) = &reply.thinking {
            let thought = comment::fill(thought, &self.answers)?;
            blocks.push(json!({ "type": "thinking", "thinking": thought }));
        }
        if let Some(text) = &reply.text {
            self.said = comment::fill(text, &self.answers)?;
            blocks.push(json!({ "type": "text", "text": self.said }));
        }
        for tool in &reply.tools {
            let (name, input) = tools::input(tool);
            blocks.push(self.transcript.tool_use(name, input));
        }
        let called = self.transcript.reply(blocks, reply.tools.is_empty())?;
        if reply.tools.is_empty() {
            return self.transcript.turn_ends();
        }
        let mut answers = Vec::new();
        for (tool, called) in reply.tools.iter().zip(&called) {
            answers.push(self.answer(tool, called)?);
        }
        self.answers = answers.join("\n");
        match &reply.expect {
            Some(text) if !self.answers.contains(text) => {
                Err(format!("`{text}` is not in:\n{}", self.answers).into())
            }
            _ => Ok(()),
        }
    }

    fn answer(&mut self, tool: &ToolUse, called: &CalledTool) -> ChoreResult<String> {
        // The sub-agent's last words are the result of the call.
        if let ToolUse::Task { prompt, steps, .. } = tool {
            let agent = self.sub_agent(prompt, steps)?;
            let said = self.said.clone();
            self.transcript.result(called, &said, false, Some(&agent))?;
            return Ok(said);
        }
        let answer = tools::run(tool, &self.tree)?;
        self.transcript.wait(tools::duration(tool));
        let text = if answer.text.is_empty() { "(no output)" } else { &answer.text };
        self.transcript.result(called, text, answer.failed, None)?;
        Ok(answer.text)
    }

    fn sub_agent(&mut self, prompt: &str, steps: &[ScenarioStep]) -> ChoreResult<String> {
        let (head, agent) = self.transcript.enter();
        self.transcript.user(prompt)?;
        for step in steps {
            self.step(step)?;
        }
        self.transcript.leave(head);
        Ok(agent)
    }
}
