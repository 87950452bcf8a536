//! Rules of the OpenAI Responses API.

use super::findings::{Violations, is_name};
use super::node::{NodeFields, NodeKind, ValueNode, text};
use super::openai_chat::check_image_url;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of characters in the id of an item or a call ("string too long").
const ID_CHARS: usize = 64;

/// Calls and reasoning that later items must complete.
#[derive(Default)]
struct Open {
    /// Type of the expected output and path of the call, by call id.
    calls: BTreeMap<String, (&'static str, String)>,
    made: BTreeSet<String>,
    /// Path of reasoning that no item of the model has followed yet.
    reasoning: Option<String>,
    /// Whether the provider has earlier items of the conversation.
    continues: bool,
}

pub(super) fn check(body: &ValueNode<'_>, findings: &mut Violations) {
    let Some(fields) = body.object() else {
        findings.add("", "shape", "the body is not an object");
        return;
    };
    let given = |name: &str| fields.get(name).is_some_and(|node| !node.is_null());
    let model = text(&fields, "model").unwrap_or_default();
    findings.demand(!model.is_empty() || given("prompt"), "model", "missing-field", "a model is required");
    if let Some(tools) = fields.get("tools") {
        check_tools(*tools, findings);
    }
    let continues = given("previous_response_id") || given("conversation");
    let mut open = Open { continues, ..Open::default() };
    match fields.get("input").map(|node| node.kind()) {
        Some(NodeKind::Text(_)) => return,
        Some(NodeKind::List(items)) => {
            findings.demand(!items.is_empty(), "input", "empty", "at least one item is required");
            let last = items.len().saturating_sub(1);
            for (at, item) in items.into_iter().enumerate() {
                check_item(&format!("input[{at}]"), item, at == last, &mut open, findings);
            }
        }
        _ => findings.add("input", "missing-field", "a string or a list of items is required"),
    }
    open.close_reasoning(findings);
    for (id, (_, path)) in open.calls {
        findings.add(&path, "unanswered-call", format!("`{id}` has no output"));
    }
}

impl Open {
    fn close_reasoning(&mut self, findings: &mut Violations) {
        if let Some(path) = self.reasoning.take() {
            findings.add(&path, "orphan-reasoning", "reasoning must be followed by the item it led to");
        }
    }

    fn call(&mut self, path: &str, id: String, output: &'static str, findings: &mut Violations) {
        let fits = (1..=ID_CHARS).contains(&id.chars().count());
        findings.demand(fits, &format!("{path}.call_id"), "call-id", &id);
        findings.demand(self.made.insert(id.clone()), path, "duplicate-call", &id);
        self.calls.insert(id, (output, path.to_owned()));
    }

    fn answer(&mut self, path: &str, id: &str, kind: &str, findings: &mut Violations) {
        let waits = self.calls.get(id).is_some_and(|(output, _)| *output == kind);
        if waits {
            self.calls.remove(id);
        }
        let may_be_earlier = self.continues && !self.made.contains(id);
        findings.demand(waits || may_be_earlier, path, "orphan-result", id);
    }
}

fn check_item(path: &str, item: ValueNode<'_>, is_last: bool, open: &mut Open, findings: &mut Violations) {
    let fields = match item.kind() {
        NodeKind::Object(fields) => fields,
        NodeKind::Unreadable(reason) => return findings.add(path, "json", reason),
        _ => return findings.add(path, "shape", "an item must be an object"),
    };
    let word = text(&fields, "type");
    let kind = match word.as_deref() {
        None if fields.contains_key("role") => "message",
        None => return findings.add(path, "missing-field", "an item must have a type"),
        Some(kind) => kind,
    };
    if let Some(id) = text(&fields, "id") {
        findings.demand(id.chars().count() <= ID_CHARS, &format!("{path}.id"), "item-id", &id);
    }
    let is_answer = kind.ends_with("_output");
    let is_model = match kind {
        "message" => text(&fields, "role").as_deref() == Some("assistant"),
        "compaction" | "compaction_trigger" | "additional_tools" | "configuration_update" => false,
        "mcp_approval_response" => false,
        _ => !is_answer,
    };
    if is_model {
        if kind != "reasoning" {
            open.reasoning = None;
        }
    } else {
        open.close_reasoning(findings);
    }
    match kind {
        "message" => check_message(path, &fields, findings),
        "reasoning" => {
            let has_summary = fields.get("summary").is_some_and(|node| node.list().is_some());
            findings.demand(
                has_summary,
                path,
                "missing-field",
                "reasoning must have a summary, which may be empty",
            );
            open.reasoning = Some(path.to_owned());
        }
        "compaction" => {
            let sealed = text(&fields, "encrypted_content").is_some();
            findings.demand(sealed, path, "missing-field", "a compaction must have encrypted content");
        }
        "compaction_trigger" => {
            findings.demand(is_last, path, "trigger-place", "a compaction trigger must be the last item");
        }
        kind => check_call(path, kind, &fields, open, findings),
    }
}

fn check_call(path: &str, kind: &str, fields: &NodeFields<'_>, open: &mut Open, findings: &mut Violations) {
    let id = text(fields, "call_id");
    let (argument, output) = match kind {
        "function_call" => ("arguments", "function_call_output"),
        "custom_tool_call" => ("input", "custom_tool_call_output"),
        "function_call_output" | "custom_tool_call_output" => {
            findings.demand(id.is_some(), path, "missing-field", "the id of the call is required");
            open.answer(path, &id.unwrap_or_default(), kind, findings);
            return check_content(&format!("{path}.output"), "user", fields.get("output").copied(), findings);
        }
        _ => return,
    };
    findings.demand(id.is_some(), path, "missing-field", "a call must have an id");
    open.call(path, id.unwrap_or_default(), output, findings);
    let name = text(fields, "name").unwrap_or_default();
    findings.demand(is_name(&name, 64), &format!("{path}.name"), "tool-name", &name);
    let is_text = text(fields, argument).is_some();
    findings.demand(
        is_text,
        &format!("{path}.{argument}"),
        "arguments",
        "the argument of a call must be a string",
    );
}

fn check_message(path: &str, fields: &NodeFields<'_>, findings: &mut Violations) {
    let role = text(fields, "role").unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&role.as_str()) {
        findings.add(&format!("{path}.role"), "role", format!("unknown role `{role}`"));
        return;
    }
    check_content(&format!("{path}.content"), &role, fields.get("content").copied(), findings);
}

fn check_content(path: &str, role: &str, content: Option<ValueNode<'_>>, findings: &mut Violations) {
    let parts = match content.map(ValueNode::kind) {
        Some(NodeKind::Text(_)) => return,
        Some(NodeKind::List(parts)) => parts,
        Some(NodeKind::Unreadable(reason)) => return findings.add(path, "json", reason),
        _ => return findings.add(path, "missing-field", "a string or a list of parts is required"),
    };
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
    let any = |names: &[&str]| names.iter().any(|name| text(&fields, name).is_some());
    let holds = match (kind.as_str(), role) {
        ("output_text", "assistant") => any(&["text"]),
        ("refusal", "assistant") => any(&["refusal"]),
        ("input_text", "user" | "system" | "developer") => any(&["text"]),
        ("input_image", "user" | "system" | "developer") => {
            check_image_url(path, text(&fields, "image_url").as_deref(), findings);
            any(&["image_url", "file_id"])
        }
        ("input_file", "user" | "system" | "developer") => any(&["file_id", "file_data", "file_url"]),
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

fn check_tools(tools: ValueNode<'_>, findings: &mut Violations) {
    let Some(tools) = tools.list() else {
        findings.add("tools", "shape", "`tools` must be a list");
        return;
    };
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
        let name = text(&fields, "name").unwrap_or_default();
        findings.demand(is_name(&name, 64), &format!("{path}.name"), "tool-name", &name);
        let holds = fields.get("parameters").is_none_or(|schema| schema.is_object() || schema.is_null());
        findings.demand(holds, &format!("{path}.parameters"), "tool-schema", "a schema must be an object");
    }
}
