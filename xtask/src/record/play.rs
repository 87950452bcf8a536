//! Walks through the scenario.

use super::scenario::{Step, Tool};
use super::transcript::{Called, Head, Transcript, Written};
use super::tree::Tree;
use super::{comment, tools};
use crate::program::Outcome;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The title of the session.
const TITLE: &str = "A --since filter, a clip that is too long, and a look at pairing";

/// Plays steps on a tree and has them written down.
pub(super) struct Player {
    tree: Tree,
    transcript: Transcript,
    marks: HashMap<&'static str, Head>,
    /// What the tools answered to the last reply.
    answers: String,
    /// The last words of a turn.
    said: String,
}

impl Player {
    pub(super) fn new(tree: Tree) -> Self {
        let transcript = Transcript::new();
        Self { tree, transcript, marks: HashMap::new(), answers: String::new(), said: String::new() }
    }

    pub(super) fn finish(self) -> (Tree, Written) {
        (self.tree, self.transcript.finish())
    }

    /// Plays the session.
    pub(super) fn play(&mut self, steps: &[Step]) -> Outcome<()> {
        for (index, step) in steps.iter().enumerate() {
            self.step(step).map_err(|error| format!("step {}: {error}", index + 1))?;
        }
        self.transcript.title(TITLE)
    }

    fn step(&mut self, step: &Step) -> Outcome<()> {
        match *step {
            Step::User(text) => self.transcript.user(text),
            Step::Call(text, tools) => self.call(None, text, tools),
            Step::Think(thought, text, tools) => self.call(Some(thought), text, tools),
            Step::Say(text) => {
                self.said = comment::fill(text, &self.answers)?;
                let block = json!({ "type": "text", "text": self.said });
                self.transcript.reply(vec![block], true)?;
                self.transcript.turn_ends()
            }
            Step::Expect(text) if self.answers.contains(text) => Ok(()),
            Step::Expect(text) => Err(format!("`{text}` is not in:\n{}", self.answers).into()),
            Step::Mark(name) => {
                self.marks.insert(name, self.transcript.head());
                Ok(())
            }
            Step::Back(name) => {
                let head = self.marks.get(name).cloned().ok_or_else(|| format!("no mark `{name}`"))?;
                self.transcript.go_to(head);
                Ok(())
            }
            Step::Compact(summary) => self.transcript.compacted(summary),
            Step::Pulled { path, old, new, message } => {
                tools::replace(&self.tree, path, old, new)?;
                self.tree.behind(&format!("git commit --quiet -am '{message}'")).map(drop)
            }
        }
    }

    fn call(&mut self, thought: Option<&str>, text: &str, tools: &[Tool]) -> Outcome<()> {
        let mut blocks: Vec<Value> = Vec::new();
        if let Some(thought) = thought {
            let thought = comment::fill(thought, &self.answers)?;
            blocks.push(json!({ "type": "thinking", "thinking": thought }));
        }
        if !text.is_empty() {
            blocks.push(json!({ "type": "text", "text": comment::fill(text, &self.answers)? }));
        }
        for tool in tools {
            let (name, input) = tools::input(tool);
            blocks.push(self.transcript.tool_use(name, input));
        }
        let called = self.transcript.reply(blocks, false)?;
        let mut answers = Vec::new();
        for (tool, called) in tools.iter().zip(&called) {
            answers.push(self.answer(tool, called)?);
        }
        self.answers = answers.join("\n");
        Ok(())
    }

    fn answer(&mut self, tool: &Tool, called: &Called) -> Outcome<String> {
        if let Tool::Task(_, prompt, steps) = *tool {
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

    fn sub_agent(&mut self, prompt: &str, steps: &[Step]) -> Outcome<String> {
        let (head, agent) = self.transcript.enter();
        self.transcript.user(prompt)?;
        for step in steps {
            self.step(step)?;
        }
        self.transcript.leave(head);
        Ok(agent)
    }
}
