//! Messages of ChatGPT. A message has an author, one content of a type, and a recipient: `all`, or the tool that it
//! calls.

use super::{ChatExport, injected};
use crate::transcript::parsing::object::{Object, quoted, string};
use crate::transcript::parsing::seen::hash;
use crate::transcript::parsing::time;
use crate::transcript::record::TranscriptRecord;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};

/// Recipients that are not tools.
const PEOPLE: [&str; 4] = ["", "all", "assistant", "user"];

/// A call whose result may follow.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// Hash of the id of the latest message in the chain that begins with the call.
    last: u64,
    call: Box<str>,
    /// Whether the call has its result. A tool may write several messages.
    answered: bool,
}

impl ChatExport {
    /// Reads a node of the tree of a conversation.
    pub(super) fn node(&mut self, record: &mut TranscriptRecord, node: &Object<'_>, id: &str) {
        let Some(message) = node.object("message") else { return };
        record.at = time::field(&message, "create_time");
        let content = message.object("content").unwrap_or_default();
        let kind = content.text("content_type").unwrap_or_default();
        record.kind = kind.as_ref().into();
        let author = message.object("author").unwrap_or_default();
        let parts = parts_of(&kind, &content);
        let parent = hash([node.text("parent").unwrap_or_default().as_ref()]);
        let follows = self.call.as_ref().is_some_and(|call| call.last == parent);
        let is_unknown = parts.is_none();
        let parts = parts.unwrap_or_else(|| found_text(&content));
        match author.text("role").as_deref() {
            Some("user") => self.user(record, &message, &kind, parts),
            Some("assistant") => self.assistant(record, &message, parts, id),
            Some("tool") => self.tool(record, &author, parts, follows),
            Some("system") if !parts.is_empty() => record.say(Message::new(Role::System, parts)),
            Some("system") => {}
            _ => record.set_opaque("a message of ChatGPT without a known author"),
        }
        if let Some(call) = self.call.as_mut().filter(|_| follows) {
            call.last = hash([id]);
        }
        if is_unknown {
            record.set_opaque(format!("unknown content of ChatGPT: `{kind}`"));
        }
    }

    fn user(&self, record: &mut TranscriptRecord, message: &Object<'_>, kind: &str, parts: Vec<Part>) {
        let data = message.object("metadata").unwrap_or_default();
        let files = data.array("attachments").unwrap_or_default();
        for file in files.into_iter().filter_map(Object::of) {
            let name = file.word("name").or_else(|| file.word("id")).unwrap_or_default();
            record.say(injected(format!("⟨attached file {name}⟩"), "attachment"));
        }
        if parts.is_empty() {
            return;
        }
        let said = Message::new(Role::User, parts);
        record.say(match kind {
            "user_editable_context" => said.standing(MessageOrigin::Injected("custom instructions".into())),
            _ if data.flag("is_visually_hidden_from_conversation") => {
                said.standing(MessageOrigin::Injected("hidden".into()))
            }
            _ => said,
        });
    }

    fn assistant(&mut self, record: &mut TranscriptRecord, message: &Object<'_>, parts: Vec<Part>, id: &str) {
        let kind = &*record.kind;
        if kind == "model_editable_context" {
            let parts = parts.into_iter();
            let memory = parts.map(|part| Message::new(Role::User, vec![part]));
            memory.for_each(|said| record.say(said.standing(MessageOrigin::Injected("memory".into()))));
            return;
        }
        let recipient = message.text("recipient").unwrap_or_default();
        let is_call = !PEOPLE.contains(&&*recipient) && kind != "thoughts" && kind != "reasoning_recap";
        let parts = if is_call {
            let call: Box<str> = format!("call-{id}").into();
            self.call = Some(OpenCall { last: hash([id]), call: call.clone(), answered: false });
            let input = arguments(&spoken(&parts)).into();
            let name = recipient.as_ref().into();
            vec![Part::ToolCall { call: CallId(call), name, input, gist: None, extra: None }]
        } else {
            parts
        };
        if parts.is_empty() {
            return;
        }
        let data = message.object("metadata").unwrap_or_default();
        let model = data.word("model_slug").or_else(|| self.model.clone());
        record.say(Message { api_id: Some(id.into()), model, ..Message::new(Role::Assistant, parts) });
    }

    /// Reads the message of a tool: the result of the call before it. What a tool says without a call, or after its
    /// result, is an injected message.
    fn tool(
        &mut self,
        record: &mut TranscriptRecord,
        author: &Object<'_>,
        content: Vec<Part>,
        follows: bool,
    ) {
        let call = self.call.as_mut().filter(|call| follows && !call.answered);
        if let Some(call) = call {
            call.answered = true;
            let (call, failed) = (CallId(call.call.clone()), &*record.kind == "system_error");
            let result = Part::ToolResult { call, content, failed, extra: None };
            record.say(Message::new(Role::Tool, vec![result]));
        } else if !content.is_empty() {
            let name = author.word("name").unwrap_or_else(|| "tool".into());
            record.say(Message::new(Role::User, content).standing(MessageOrigin::Injected(name)));
        }
    }
}

/// Returns the parts of a content, or `None` if its type is unknown. Empty texts are not parts.
fn parts_of(kind: &str, content: &Object<'_>) -> Option<Vec<Part>> {
    let fields: &[&str] = match kind {
        "text" | "multimodal_text" => {
            let parts = content.array("parts").unwrap_or_default();
            return Some(parts.into_iter().filter_map(part_of).collect());
        }
        "thoughts" => {
            let thoughts = content.array("thoughts").unwrap_or_default();
            let thoughts = thoughts.into_iter().filter_map(|thought| {
                let text = joined(&Object::of(thought)?, &["summary", "content"])?;
                Some(Part::Thinking { text: text.into(), signature: None, extra: None })
            });
            return Some(thoughts.collect());
        }
        "computer_output" => {
            let screen = content.get("screenshot").and_then(part_of);
            return Some(screen.into_iter().collect());
        }
        "reasoning_recap" => return Some(Vec::new()),
        "code" | "execution_output" => &["text"],
        "citable_code_output" => &["output_str"],
        "tether_browsing_display" => &["summary", "result"],
        "tether_quote" | "sonic_webpage" => &["title", "url", "text"],
        "system_error" => &["name", "text"],
        "user_editable_context" => &["user_profile", "user_instructions"],
        "model_editable_context" => &["model_set_context"],
        _ => return None,
    };
    Some(joined(content, fields).map(Part::text).into_iter().collect())
}

/// Returns the text in a content of unknown type.
fn found_text(content: &Object<'_>) -> Vec<Part> {
    let parts = content.array("parts").unwrap_or_default().into_iter().filter_map(string);
    let parts: Vec<Part> = parts.map(|text| Part::text(text.into_owned())).collect();
    if parts.is_empty() {
        joined(content, &["text", "result"]).map(Part::text).into_iter().collect()
    } else {
        parts
    }
}

/// Returns a part of a content. The files of an export are not in its JSON, so a part that is a file becomes a line
/// that names it.
fn part_of(value: &RawValue) -> Option<Part> {
    if let Some(text) = string(value) {
        return Some(text.into_owned()).filter(|text| !text.is_empty()).map(Part::text);
    }
    let opaque = || Part::Opaque { dialect: Dialect::Neutral, raw: value.get().into() };
    let Some(part) = Object::of(value) else { return Some(opaque()) };
    let kind = part.text("content_type").unwrap_or_default();
    let inner = part.object("audio_asset_pointer").unwrap_or_default();
    let pointer = part.word("asset_pointer").or_else(|| inner.word("asset_pointer"));
    let named = |what: &str| pointer.as_ref().map(|pointer| Part::text(format!("⟨{what} {pointer}⟩")));
    let known = match kind.as_ref() {
        "image_asset_pointer" => named("image"),
        "audio_asset_pointer" | "real_time_user_audio_video_asset_pointer" => named("recording"),
        "video_container_asset_pointer" => named("video"),
        _ => joined(&part, &["title", "url", "text", "result"]).map(Part::text),
    };
    // A recording of which nothing was understood has an empty text.
    if known.is_none() && part.has("text") { None } else { Some(known.unwrap_or_else(opaque)) }
}

/// Returns the texts of some fields, one per line, or `None` if all of them are empty.
fn joined(object: &Object<'_>, keys: &[&str]) -> Option<String> {
    let texts: Vec<Box<str>> = keys.iter().filter_map(|key| object.word(key)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn spoken(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => text.inline(),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the arguments of a call as an object. Other text becomes the field `input` of one.
fn arguments(text: &str) -> String {
    match text.trim() {
        "" => "{}".to_owned(),
        object if Object::parse(object).is_ok() => object.to_owned(),
        _ => format!("{{\"input\":{}}}", quoted(text)),
    }
}
