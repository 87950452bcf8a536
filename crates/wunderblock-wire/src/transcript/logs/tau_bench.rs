//! Results of tau-bench: a JSON document of runs, each with its messages under `traj`, or JSON lines of example
//! dialogues, each written as one text (`messages_display`).
//!
//! Source: tau-bench's repository (`tau_bench/types.py`, `EnvRunResult`; `few_shot_data`).

use super::generic;
use super::openai_chat::OpenaiChat;
use crate::transcript::parsing::elements;
use crate::transcript::parsing::object::{Object, array};
use crate::transcript::record::{ByteSpan, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use wunderblock_core::message::{Message, MessageOrigin, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("system", "system message"),
    ("user", "message"),
    ("assistant", "message with its tool calls"),
    ("tool", "tool result"),
    (
        "messages_display",
        "the messages of a dialogue that is written as one text; output of tools is injected",
    ),
    ("document", "kept in the source: tasks, rewards and other data around the messages"),
];

/// Text that a dialogue contains in place of a reply that only calls a tool.
const NOTHING: &str = "None";

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct TauBench {
    /// Number of runs by task and trial.
    runs: BTreeMap<String, usize>,
}

impl TauBench {
    /// Reads a run or a dialogue, or a list of them.
    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return Vec::new() };
        let runs = array(value).unwrap_or_else(|| vec![value]);
        let parts: Vec<&str> = runs.iter().map(|run| run.get()).collect();
        let spans = elements::spans(&parts, text, span);
        let records = runs.into_iter().zip(spans).flat_map(|(run, span)| self.run(span, run));
        let mut records = elements::with_rest(records.collect(), text, span);
        // What is around the runs belongs to the first of them, so that the file has no session without messages.
        let first = records.iter().find_map(|record| record.session.clone());
        records
            .iter_mut()
            .filter(|record| record.session.is_none())
            .for_each(|record| record.session.clone_from(&first));
        records
    }

    fn run(&mut self, span: ByteSpan, run: &RawValue) -> Vec<TranscriptRecord> {
        let object = Object::of(run).unwrap_or_default();
        let mut records = match (object.array("traj"), object.text("messages_display")) {
            (Some(list), _) => messages(&list, run.get(), span),
            (None, Some(shown)) => vec![dialogue(&shown, span)],
            (None, None) => return vec![TranscriptRecord::opaque(span, "element", "a run without messages")],
        };
        let session = self.session(&object, span);
        records.iter_mut().for_each(|record| record.session = Some(session.clone()));
        if let Some(first) = records.iter_mut().find(|record| !record.items.is_empty()) {
            first.open("tau-bench");
        }
        records
    }

    /// Returns the name of a run's session: its task and trial, or its line.
    fn session(&mut self, run: &Object<'_>, span: ByteSpan) -> Box<str> {
        let number = |key| {
            run.number(key).map(|number| number.to_string()).or_else(|| run.word(key).map(String::from))
        };
        let Some(task) = number("task_id") else { return format!("line-{}", span.line).into() };
        let name = format!("task-{task}-trial-{}", number("trial").unwrap_or_else(|| "0".to_owned()));
        let count = self.runs.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => name.into(),
            count => format!("{name}-{count}").into(),
        }
    }
}

fn messages(list: &[&RawValue], run: &str, span: ByteSpan) -> Vec<TranscriptRecord> {
    let parts: Vec<&str> = list.iter().map(|element| element.get()).collect();
    let mut chat = OpenaiChat::default();
    let records = list.iter().zip(elements::spans(&parts, run, span)).map(|(element, span)| {
        let mut record = TranscriptRecord::bookkeeping(span, "message");
        match Object::of(element) {
            Some(object) => chat.message(&mut record, &object),
            None => record.set_opaque("expected a message, found another value"),
        }
        record
    });
    elements::with_rest(records.collect(), run, span)
}

fn dialogue(shown: &str, span: ByteSpan) -> TranscriptRecord {
    let mut record = TranscriptRecord::bookkeeping(span, "messages_display");
    for message in generic::turns(shown) {
        let is_nothing =
            message.role == Role::Assistant && message == Message::text(Role::Assistant, NOTHING);
        record.say(match is_nothing {
            true => message.standing(MessageOrigin::Aside("nothing was said".into())),
            false => message,
        });
    }
    if record.items.is_empty() {
        record.set_opaque("a dialogue without messages");
    }
    record
}

/// Returns whether an object is a run or a dialogue.
pub(in crate::transcript) fn is_run(object: &Object<'_>) -> bool {
    let is_result = object.has("task_id") && ["traj", "reward"].iter().any(|key| object.has(key));
    is_result || object.has("messages_display")
}
