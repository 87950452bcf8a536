//! A range as records: one for each text, call and result, each with its position.

use crate::extract::stamp;
use crate::task::{Earlier, Material};
use std::collections::HashMap;
use wunderblock_core::author::Author;
use wunderblock_core::fence::plain;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Body, MessageOrigin, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;
use wunderblock_core::view::ViewEntry;
use wunderblock_redact::Redactor;

/// Maximum number of characters that are shown of a call's arguments if no gist sums them up.
const ARGUMENTS_CHARS: usize = 200;

/// Speaker of a record. The speaker determines how far, and in which order, records are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpeakerKind {
    User,
    Assistant,
    Call,
    Result,
    /// The operator, or text inserted by a harness.
    Note,
    Earlier,
}

/// One text, call or result of a range, or an earlier summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PromptRecord {
    pub(super) from: Seq,
    pub(super) to: Seq,
    pub(super) kind: SpeakerKind,
    /// Position, role and subject.
    pub(super) head: String,
    /// Text of the record, without secrets; empty if the head says everything.
    pub(super) body: String,
}

/// Returns the records of a range, in order.
pub(super) fn records(material: &Material<'_>, redactor: &Redactor) -> Vec<PromptRecord> {
    let mut reader =
        RecordReader { redactor, bodies: material.bodies, calls: HashMap::new(), records: Vec::new() };
    let mut earlier = material.earlier.iter().peekable();
    for entry in &material.entries {
        while let Some(summary) = earlier.next_if(|summary| summary.from <= entry.seq) {
            reader.earlier(summary);
        }
        reader.entry(entry);
    }
    earlier.for_each(|summary| reader.earlier(summary));
    reader.records
}

/// Adds the time after the position of each record, for summarisers that write a log.
pub(super) fn tell_times(records: &mut [PromptRecord], material: &Material<'_>) {
    let times: HashMap<Seq, String> =
        material.entries.iter().map(|entry| (entry.seq, stamp(entry.at))).collect();
    for record in records.iter_mut().filter(|record| record.kind != SpeakerKind::Earlier) {
        if let Some(time) = times.get(&record.from) {
            let at = format!("#{}", record.from);
            record.head = record.head.replacen(&at, &format!("{at} {time}"), 1);
        }
    }
}

struct RecordReader<'m> {
    redactor: &'m Redactor,
    bodies: &'m dyn Bodies,
    /// Description of each call, which is repeated in the result of the call.
    calls: HashMap<&'m CallId, String>,
    records: Vec<PromptRecord>,
}

impl<'m> RecordReader<'m> {
    fn clean(&self, text: &str) -> String {
        self.redactor.redact(text).text.into_owned()
    }

    fn earlier(&mut self, summary: &Earlier<'_>) {
        let Earlier { at, from, to, text, .. } = *summary;
        let head = format!("#{at} earlier summary, of #{from} to #{to}:");
        let body = self.clean(text);
        self.records.push(PromptRecord { from, to, kind: SpeakerKind::Earlier, head, body });
    }

    fn entry(&mut self, entry: &'m ViewEntry) {
        let message = &entry.message;
        let (kind, who) = match (&message.standing, message.role) {
            (MessageOrigin::Aside(_), _) => return,
            (MessageOrigin::Failed(why), _) => {
                let head = format!("#{} a turn that failed ({})", entry.seq, self.clean(&plain(why)));
                return self.push(entry, SpeakerKind::Note, head, String::new());
            }
            (MessageOrigin::Injected(what), _) => (SpeakerKind::Note, format!("put in ({})", plain(what))),
            (MessageOrigin::Said, Role::System) => (SpeakerKind::Note, "system".to_owned()),
            (MessageOrigin::Said, Role::User) => match message.author() {
                Author::Person => (SpeakerKind::User, "user".to_owned()),
                other => (SpeakerKind::Note, format!("put in ({})", other.name())),
            },
            (MessageOrigin::Said, Role::Assistant) => (SpeakerKind::Assistant, "assistant".to_owned()),
            (MessageOrigin::Said, Role::Tool) => (SpeakerKind::Result, "tool".to_owned()),
        };
        for part in &message.parts {
            self.part(entry, part, kind, &who);
        }
    }

    fn push(&mut self, entry: &ViewEntry, kind: SpeakerKind, head: String, body: String) {
        self.records.push(PromptRecord { from: entry.seq, to: entry.seq, kind, head, body });
    }

    fn part(&mut self, entry: &'m ViewEntry, part: &'m Part, kind: SpeakerKind, who: &str) {
        let seq = entry.seq;
        match part {
            Part::Thinking { .. } => {}
            Part::Text { text, .. } => {
                let body = self.text(text);
                if !body.trim().is_empty() {
                    self.push(entry, kind, format!("#{seq} {who}:"), body);
                }
            }
            Part::ToolCall { call, name, input, gist, .. } => {
                let gist = self.gist(name, input, gist.as_deref());
                let what = format!("{} {gist}", self.clean(&plain(name)));
                self.push(entry, SpeakerKind::Call, format!("#{seq} {who} calls {what}"), String::new());
                self.calls.insert(call, what);
            }
            Part::ToolResult { call, content, failed, .. } => {
                let what = self.calls.get(call).cloned().unwrap_or_else(|| "an earlier call".to_owned());
                let failed = if *failed { ", which failed" } else { "" };
                let body: Vec<String> = content.iter().map(|inner| self.inner(inner)).collect();
                let head = format!("#{seq} result of {}{failed}:", what.trim_end());
                self.push(entry, SpeakerKind::Result, head, body.join("\n"));
            }
            Part::Media { .. } | Part::Opaque { .. } => {
                let word = self.inner(part);
                self.push(entry, kind, format!("#{seq} {who}: {word}"), String::new());
            }
        }
    }

    /// Returns the content of a result. Content other than text becomes a word in brackets.
    fn inner(&self, part: &Part) -> String {
        match part {
            Part::Text { text, .. } => self.text(text),
            Part::Media { mime, .. } if mime.is_empty() => "⟨medium⟩".to_owned(),
            Part::Media { mime, .. } => format!("⟨{}⟩", plain(mime)),
            _ => "⟨block⟩".to_owned(),
        }
    }

    fn text(&self, body: &Body) -> String {
        self.bodies.of(body).map_or_else(|| "⟨erased⟩".to_owned(), |text| self.clean(text))
    }

    /// Describes a call in one line. The gist is computed again from the arguments without secrets, because the
    /// recorded gist may have been cut in the middle of a secret, and the rules do not detect a secret that was cut.
    fn gist(&self, name: &str, input: &Body, recorded: Option<&str>) -> String {
        let Some(text) = self.bodies.of(input) else {
            return recorded.map(|gist| self.clean(gist)).unwrap_or_default();
        };
        let text = self.clean(text);
        wunderblock_wire::gist(name, &text)
            .unwrap_or_else(|| plain(&text.chars().take(ARGUMENTS_CHARS).collect::<String>()))
    }
}
