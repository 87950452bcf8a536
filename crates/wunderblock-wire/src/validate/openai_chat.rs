//! Rules of the OpenAI chat completions API.

use super::findings::{Violations, is_name};
use super::node::{NodeFields, NodeKind, ValueNode, text};
use std::collections::BTreeSet;

/// Maximum number of calls in one message ("array too long").
const CALLS: usize = 128;
/// Maximum number of characters in a call's id ("string too long").
const ID_CHARS: usize = 40;

/// Calls that wait for their results: their ids, and the path of their message.
#[derive(Default)]
struct Open {
    ids: BTreeSet<String>,
    legacy: Option<String>,
    path: String,
}

pub(super) fn check(body: &ValueNode<'_>, findings: &mut Violations) {
    let Some(fields) = body.object() else {
        findings.add("", "shape", "the body is not an object");
        return;
    };
    let model = text(&fields, "model").unwrap_or_default();
    findings.demand(!model.is_empty(), "model", "missing-field", "a model is required");
    if let Some(tools) = fields.get("tools") {
        check_tools(*tools, findings);
    }
    let Some(messages) = fields.get("messages").and_then(|node| node.list()) else {
        findings.add("messages", "missing-field", "a list of messages is required");
        return;
    };
    findings.demand(!messages.is_empty(), "messages", "empty", "at least one message is required");
    let mut open = Open::default();
    for (at, message) in messages.into_iter().enumerate() {
        let path = format!("messages[{at}]");
        match message.kind() {
            NodeKind::Object(fields) => check_message(&path, &fields, &mut open, findings),
            NodeKind::Unreadable(reason) => findings.add(&path, "json", reason),
            _ => findings.add(&path, "shape", "a message must be an object"),
        }
    }
    open.close(findings);
}

impl Open {
    /// Reports the open calls, because the next message is not a result.
    fn close(&mut self, findings: &mut Violations) {
        for id in std::mem::take(&mut self.ids) {
            findings.add(&self.path, "unanswered-call", format!("`{id}` has no result directly after it"));
        }
    }
}

fn check_message(path: &str, fields: &NodeFields<'_>, open: &mut Open, findings: &mut Violations) {
    let role = text(fields, "role").unwrap_or_default();
    match role.as_str() {
        "tool" => {
            let id = text(fields, "tool_call_id");
            let id_path = format!("{path}.tool_call_id");
            findings.demand(id.is_some(), &id_path, "missing-field", "the id of the call is required");
            let id = id.unwrap_or_default();
            findings.demand(open.ids.remove(&id), path, "orphan-result", &id);
            check_content(path, &role, fields.get("content").copied(), findings);
            return;
        }
        "function" => {
            let name = text(fields, "name").unwrap_or_default();
            let called = open.legacy.take();
            findings.demand(called.as_ref() == Some(&name), path, "orphan-result", &name);
            return;
        }
        _ => {}
    }
    open.close(findings);
    open.legacy = None;
    match role.as_str() {
        "assistant" => check_assistant(path, fields, open, findings),
        "user" | "system" | "developer" => {
            check_content(path, &role, fields.get("content").copied(), findings)
        }
        role => findings.add(&format!("{path}.role"), "role", format!("unknown role `{role}`")),
    }
}

fn check_assistant(path: &str, fields: &NodeFields<'_>, open: &mut Open, findings: &mut Violations) {
    let given = |name: &str| fields.get(name).copied().filter(|node| !node.is_null());
    if let Some(content) = given("content") {
        check_content(path, "assistant", Some(content), findings);
    }
    let says = ["content", "tool_calls", "function_call", "refusal", "audio"]
        .iter()
        .any(|name| given(name).is_some());
    findings.demand(says, path, "empty", "an assistant's message must have content or calls");
    open.legacy = given("function_call").and_then(|call| {
        check_function(&format!("{path}.function_call"), call, findings);
        call.text_of("name")
    });
    path.clone_into(&mut open.path);
    let Some(calls) = given("tool_calls") else { return };
    let path = format!("{path}.tool_calls");
    let Some(calls) = calls.list() else {
        findings.add(&path, "shape", "tool calls must be a list");
        return;
    };
    findings.demand(!calls.is_empty(), &path, "empty", "a list of calls must not be empty");
    findings.demand(calls.len() <= CALLS, &path, "too-many-calls", "a message may have at most 128 calls");
    for (at, call) in calls.into_iter().enumerate() {
        let path = format!("{path}[{at}]");
        let id = call.text_of("id").unwrap_or_default();
        let fits = (1..=ID_CHARS).contains(&id.chars().count());
        findings.demand(fits, &format!("{path}.id"), "call-id", &id);
        findings.demand(open.ids.insert(id.clone()), &path, "duplicate-call", &id);
        let fields = call.object().unwrap_or_default();
        match text(&fields, "type").as_deref() {
            Some("function") => match fields.get("function") {
                Some(function) => check_function(&format!("{path}.function"), *function, findings),
                None => findings.add(&path, "missing-field", "a function is required"),
            },
            Some("custom") => {
                let custom = fields.get("custom").and_then(|node| node.object()).unwrap_or_default();
                let full = text(&custom, "name").is_some() && text(&custom, "input").is_some();
                findings.demand(full, &path, "missing-field", "a custom call must have a name and an input");
            }
            _ => findings.add(&path, "missing-field", "the type of a call must be `function` or `custom`"),
        }
    }
}

fn check_function(path: &str, function: ValueNode<'_>, findings: &mut Violations) {
    let name = function.text_of("name").unwrap_or_default();
    findings.demand(is_name(&name, 64), &format!("{path}.name"), "tool-name", &name);
    let is_text = function.text_of("arguments").is_some();
    findings.demand(is_text, &format!("{path}.arguments"), "arguments", "arguments must be a string");
}

fn check_content(path: &str, role: &str, content: Option<ValueNode<'_>>, findings: &mut Violations) {
    let path = format!("{path}.content");
    let parts = match content.map(ValueNode::kind) {
        Some(NodeKind::Text(_)) => return,
        Some(NodeKind::List(parts)) => parts,
        Some(NodeKind::Unreadable(reason)) => return findings.add(&path, "json", reason),
        _ => return findings.add(&path, "missing-field", "a string or a list of parts is required"),
    };
    findings.demand(!parts.is_empty(), &path, "empty", "a list of parts must not be empty");
    for (at, part) in parts.into_iter().enumerate() {
        check_part(&format!("{path}[{at}]"), role, part, findings);
    }
}

fn check_part(path: &str, role: &str, part: ValueNode<'_>, findings: &mut Violations) {
    let fields = match part.kind() {
        NodeKind::Object(fields) => fields,
        NodeKind::Unreadable(reason) => return findings.add(path, "json", reason),
        _ => return findings.add(path, "shape", "a part must be an object"),
    };
    let kind = text(&fields, "type").unwrap_or_default();
    let inner = |name: &str| fields.get(kind.as_str()).and_then(|node| node.text_of(name));
    let holds = match (kind.as_str(), role) {
        ("text", _) => text(&fields, "text").is_some(),
        ("refusal", "assistant") => text(&fields, "refusal").is_some(),
        ("image_url", "user") => {
            let url = inner("url");
            check_image_url(path, url.as_deref(), findings);
            url.is_some_and(|url| !url.is_empty())
        }
        ("input_audio", "user") => {
            let format = inner("format").unwrap_or_default();
            findings.demand(format == "wav" || format == "mp3", path, "media-type", &format);
            inner("data").is_some()
        }
        ("file", "user") => inner("file_id").is_some() || inner("file_data").is_some(),
        _ => {
            findings.add(
                path,
                "part-kind",
                format!("unsupported part `{kind}` in a message of role `{role}`"),
            );
            return;
        }
    };
    findings.demand(holds, path, "missing-field", "missing content of the part");
}

/// Checks the type of an image that is sent as data.
pub(super) fn check_image_url(path: &str, url: Option<&str>, findings: &mut Violations) {
    let Some(data) = url.and_then(|url| url.strip_prefix("data:")) else { return };
    let types = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let known = types.iter().any(|mime| data.starts_with(&format!("{mime};base64,")));
    findings.demand(known, path, "media-type", &data.chars().take(40).collect::<String>());
}

fn check_tools(tools: ValueNode<'_>, findings: &mut Violations) {
    let Some(tools) = tools.list() else {
        findings.add("tools", "shape", "`tools` must be a list");
        return;
    };
    findings.demand(!tools.is_empty(), "tools", "empty", "a list of tools must not be empty");
    for (at, tool) in tools.into_iter().enumerate() {
        let path = format!("tools[{at}]");
        let fields = tool.object().unwrap_or_default();
        if text(&fields, "type").as_deref() != Some("function") {
            findings.demand(
                text(&fields, "type").is_some(),
                &path,
                "missing-field",
                "a tool must have a type",
            );
            continue;
        }
        let function = fields.get("function").and_then(|node| node.object()).unwrap_or_default();
        let name = text(&function, "name").unwrap_or_default();
        findings.demand(is_name(&name, 64), &format!("{path}.function.name"), "tool-name", &name);
        let holds = function.get("parameters").is_none_or(|schema| schema.is_object());
        findings.demand(
            holds,
            &format!("{path}.function.parameters"),
            "tool-schema",
            "a schema must be an object",
        );
    }
}
