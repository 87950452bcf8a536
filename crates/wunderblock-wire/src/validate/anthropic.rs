//! Rules of the Anthropic Messages API.

use super::findings::{Violations, is_name};
use super::node::{NodeKind, ValueNode};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of `cache_control` fields in a request, including the automatic mark at its top level.
const CACHE_MARKS: usize = 4;

/// Adjacent messages with the same role, which the API combines.
struct MergedTurn<'a> {
    role: String,
    path: String,
    blocks: Vec<(String, ContentBlock<'a>)>,
}

/// A block, opened once for all checks, or a content that is a string.
enum ContentBlock<'a> {
    Plain(String),
    Opened(NodeKind<'a>),
}

impl ContentBlock<'_> {
    fn kind(&self) -> String {
        match self {
            Self::Plain(_) => "text".to_owned(),
            Self::Opened(node) => node.text_of("type").unwrap_or_default(),
        }
    }
}

pub(super) fn check(body: &ValueNode<'_>, findings: &mut Violations) {
    let Some(fields) = body.object() else {
        findings.add("", "shape", "the body is not an object");
        return;
    };
    let model = fields.get("model").and_then(|node| node.text()).unwrap_or_default();
    findings.demand(!model.is_empty(), "model", "missing-field", "a model is required");
    let max = fields.get("max_tokens").map(|node| node.kind());
    let counts = matches!(max, Some(NodeKind::Word(word)) if word.parse::<u64>().is_ok_and(|max| max > 0));
    findings.demand(counts, "max_tokens", "missing-field", "a positive number is required");
    let mut marks = usize::from(is_marked(&fields));
    if let Some(tools) = fields.get("tools") {
        check_tools(*tools, &mut marks, findings);
    }
    if let Some(system) = fields.get("system") {
        check_system(*system, &mut marks, findings);
    }
    let Some(messages) = fields.get("messages").and_then(|node| node.list()) else {
        findings.add("messages", "missing-field", "a list of messages is required");
        return;
    };
    findings.demand(!messages.is_empty(), "messages", "empty", "at least one message is required");
    let turns = combine(messages, findings);
    for turn in &turns {
        for (path, block) in &turn.blocks {
            check_block(path, block, &turn.role, &mut marks, findings);
        }
    }
    findings.demand(marks <= CACHE_MARKS, "", "cache-marks", "a request may have at most 4 `cache_control`");
    check_order(&turns, findings);
    check_pairs(&turns, findings);
    let thinks = fields.get("thinking").and_then(|node| node.text_of("type"));
    check_end(&turns, thinks.as_deref() == Some("enabled"), findings);
}

fn is_marked(fields: &BTreeMap<String, ValueNode<'_>>) -> bool {
    fields.get("cache_control").is_some_and(|mark| !mark.is_null())
}

fn check_tools(tools: ValueNode<'_>, marks: &mut usize, findings: &mut Violations) {
    let mut names = BTreeSet::new();
    let Some(tools) = tools.list() else {
        findings.add("tools", "shape", "`tools` must be a list");
        return;
    };
    for (at, tool) in tools.into_iter().enumerate() {
        let path = format!("tools[{at}]");
        let Some(fields) = tool.object() else {
            findings.add(&path, "shape", "a tool must be an object");
            continue;
        };
        *marks += usize::from(is_marked(&fields));
        let name = fields.get("name").and_then(|node| node.text());
        if let Some(name) = &name {
            findings.demand(names.insert(name.clone()), &format!("{path}.name"), "duplicate-tool", name);
        }
        let kind = fields.get("type").and_then(|node| node.text());
        if kind.is_some_and(|kind| kind != "custom") {
            continue;
        }
        let name = name.unwrap_or_default();
        findings.demand(is_name(&name, 128), &format!("{path}.name"), "tool-name", &name);
        let schema = fields.get("input_schema").copied();
        let is_object = schema.and_then(|schema| schema.text_of("type")).as_deref() == Some("object");
        let path = format!("{path}.input_schema");
        findings.demand(is_object, &path, "tool-schema", "a schema of type object is required");
    }
}

fn check_system(system: ValueNode<'_>, marks: &mut usize, findings: &mut Violations) {
    match system.kind() {
        NodeKind::Text(_) => {}
        NodeKind::List(blocks) => {
            for (at, block) in blocks.into_iter().enumerate() {
                let path = format!("system[{at}]");
                let block = ContentBlock::Opened(block.kind());
                findings.demand(
                    block.kind() == "text",
                    &path,
                    "system-block",
                    "system text must consist of text blocks",
                );
                check_block(&path, &block, "user", marks, findings);
            }
        }
        _ => findings.add("system", "shape", "expected a string or a list of text blocks"),
    }
}

fn combine<'a>(messages: Vec<ValueNode<'a>>, findings: &mut Violations) -> Vec<MergedTurn<'a>> {
    let mut turns: Vec<MergedTurn<'a>> = Vec::new();
    let last = messages.len().saturating_sub(1);
    for (at, message) in messages.into_iter().enumerate() {
        let path = format!("messages[{at}]");
        let fields = message.object().unwrap_or_default();
        let role = fields.get("role").and_then(|node| node.text()).unwrap_or_default();
        if !["user", "assistant", "system"].contains(&role.as_str()) {
            findings.add(&format!("{path}.role"), "role", format!("unknown role `{role}`"));
        }
        let content = format!("{path}.content");
        let mut blocks = Vec::new();
        match fields.get("content").map(|node| node.kind()) {
            Some(NodeKind::Text(text)) if text.is_empty() => {}
            Some(NodeKind::Text(text)) => blocks.push((content.clone(), ContentBlock::Plain(text))),
            Some(NodeKind::List(items)) => {
                let opened = items.into_iter().map(|item| ContentBlock::Opened(item.kind()));
                blocks.extend(opened.enumerate().map(|(at, block)| (format!("{content}[{at}]"), block)));
            }
            Some(NodeKind::Unreadable(reason)) => findings.add(&content, "json", reason),
            _ => findings.add(&content, "missing-field", "a string or a list of blocks is required"),
        }
        let may_be_empty = at == last && role == "assistant";
        findings.demand(may_be_empty || !blocks.is_empty(), &content, "empty", "a message must have content");
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(MergedTurn { role, path, blocks }),
        }
    }
    turns
}

fn check_order(turns: &[MergedTurn<'_>], findings: &mut Violations) {
    let mut before: Option<&MergedTurn<'_>> = None;
    for turn in turns {
        match (before.map(|turn| turn.role.as_str()), turn.role.as_str()) {
            (None, "assistant") => {
                findings.add(&turn.path, "first-role", "the first message must be the user's")
            }
            (None, "system") => {
                findings.add(&turn.path, "first-role", "the first system text must be in `system`")
            }
            (Some("assistant"), "system") => {
                findings.add(&turn.path, "system-place", "a system message must follow a user message");
            }
            _ => {}
        }
        before = Some(turn);
    }
}

fn check_block(
    path: &str,
    block: &ContentBlock<'_>,
    role: &str,
    marks: &mut usize,
    findings: &mut Violations,
) {
    let fields = match block {
        ContentBlock::Plain(text) => {
            return findings.demand(
                !text.trim().is_empty(),
                path,
                "empty-text",
                "a text must not be white space only",
            );
        }
        ContentBlock::Opened(NodeKind::Object(fields)) => fields,
        ContentBlock::Opened(NodeKind::Unreadable(reason)) => return findings.add(path, "json", reason),
        ContentBlock::Opened(_) => return findings.add(path, "shape", "a block must be an object"),
    };
    let text = |name: &str| fields.get(name).and_then(|node| node.text());
    if is_marked(fields) {
        *marks += 1;
        let kind = text("type").unwrap_or_default();
        let empty = kind == "text" && text("text").is_none_or(|text| text.is_empty());
        let thinks = kind == "thinking" || kind == "redacted_thinking";
        findings.demand(
            !empty && !thinks,
            path,
            "cache-place",
            "thinking and empty text must have no `cache_control`",
        );
    }
    let kind = text("type").unwrap_or_default();
    let owner = check_fields(path, &kind, fields, marks, findings);
    if let Some(owner) = owner.filter(|owner| *owner != role) {
        findings.add(
            path,
            "block-role",
            format!("`{kind}` must be in a message of role `{owner}`, not `{role}`"),
        );
    }
}

/// Checks the fields that a kind of block needs. Returns the role whose messages may contain a block of this kind, or
/// `None` for any role.
fn check_fields(
    path: &str,
    kind: &str,
    fields: &BTreeMap<String, ValueNode<'_>>,
    marks: &mut usize,
    findings: &mut Violations,
) -> Option<&'static str> {
    let text = |name: &str| fields.get(name).and_then(|node| node.text());
    let mut required = |name: &str, holds: bool| {
        findings.demand(holds, &format!("{path}.{name}"), "missing-field", "missing, or of the wrong type");
    };
    match kind {
        "text" => {
            let text = text("text");
            required("text", text.is_some());
            findings.demand(
                text.is_none_or(|text| !text.trim().is_empty()),
                path,
                "empty-text",
                "a text must not be empty",
            );
            None
        }
        "thinking" => {
            required("thinking", text("thinking").is_some());
            let signed = text("signature").is_some_and(|signature| !signature.is_empty());
            findings.demand(signed, path, "unsigned-thinking", "thinking must have its signature");
            Some("assistant")
        }
        "redacted_thinking" => {
            required("data", text("data").is_some());
            Some("assistant")
        }
        "tool_use" => {
            required("input", fields.get("input").is_some_and(|input| input.is_object()));
            let name = text("name").unwrap_or_default();
            findings.demand(is_name(&name, 128), &format!("{path}.name"), "tool-name", &name);
            let id = text("id").unwrap_or_default();
            findings.demand(is_name(&id, usize::MAX), &format!("{path}.id"), "call-id", &id);
            Some("assistant")
        }
        "tool_result" => {
            required("tool_use_id", text("tool_use_id").is_some());
            if let Some(content) = fields.get("content") {
                check_result(&format!("{path}.content"), *content, marks, findings);
            }
            Some("user")
        }
        "image" | "document" => {
            check_source(&format!("{path}.source"), kind, fields.get("source").copied(), findings);
            Some("user")
        }
        "" => {
            required("type", false);
            None
        }
        _ => None,
    }
}

fn check_result(path: &str, content: ValueNode<'_>, marks: &mut usize, findings: &mut Violations) {
    let items = match content.kind() {
        NodeKind::Text(_) | NodeKind::Word("null") => return,
        NodeKind::List(items) => items,
        NodeKind::Unreadable(reason) => return findings.add(path, "json", reason),
        _ => return findings.add(path, "shape", "expected a string or a list of blocks"),
    };
    for (at, item) in items.into_iter().enumerate() {
        let (path, item) = (format!("{path}[{at}]"), item.kind());
        let kind = item.text_of("type").unwrap_or_default();
        if ["tool_use", "tool_result", "thinking", "redacted_thinking"].contains(&kind.as_str()) {
            findings.add(&path, "result-block", format!("`{kind}` must not be in a tool result"));
        } else if kind == "text" {
            // In a result, white space is valid content.
            let text = item.text_of("text");
            findings.demand(
                text.is_some_and(|text| !text.is_empty()),
                &path,
                "empty-text",
                "a text must not be empty",
            );
            *marks += usize::from(matches!(&item, NodeKind::Object(fields) if is_marked(fields)));
        } else {
            check_block(&path, &ContentBlock::Opened(item), "user", marks, findings);
        }
    }
}

fn check_source(path: &str, kind: &str, source: Option<ValueNode<'_>>, findings: &mut Violations) {
    let Some(source) = source.filter(|source| source.is_object()) else {
        findings.add(path, "missing-field", "a source is required");
        return;
    };
    let source = source.kind();
    let form = source.text_of("type").unwrap_or_default();
    let mime = source.text_of("media_type").unwrap_or_default();
    match (form.as_str(), kind) {
        ("base64", "image") => {
            let known = ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(&mime.as_str());
            findings.demand(known, path, "media-type", &mime);
        }
        ("base64", _) => findings.demand(mime == "application/pdf", path, "media-type", &mime),
        ("text", "document") => findings.demand(mime == "text/plain", path, "media-type", &mime),
        ("url" | "file", _) | ("content", "document") => {}
        (form, kind) => findings.add(path, "media-type", format!("unsupported source `{form}` of `{kind}`")),
    }
    let field = match form.as_str() {
        "base64" | "text" => "data",
        "url" => "url",
        "file" => "file_id",
        _ => return,
    };
    let full = source.text_of(field).is_some_and(|text| !text.is_empty());
    findings.demand(full, &format!("{path}.{field}"), "missing-field", "missing or empty");
}

/// Checks that every call is answered exactly once in the next message, with the results before all other content.
fn check_pairs(turns: &[MergedTurn<'_>], findings: &mut Violations) {
    let mut used = BTreeSet::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut calls_at = "";
    for turn in turns {
        let mut others = false;
        let mut calls = BTreeSet::new();
        for (path, block) in &turn.blocks {
            let ContentBlock::Opened(node) = block else {
                others = true;
                continue;
            };
            match block.kind().as_str() {
                "tool_use" => {
                    let id = node.text_of("id").unwrap_or_default();
                    findings.demand(used.insert(id.clone()), path, "duplicate-call", &id);
                    calls.insert(id);
                }
                "tool_result" => {
                    let id = node.text_of("tool_use_id").unwrap_or_default();
                    findings.demand(!others, path, "results-first", "results must precede other content");
                    findings.demand(open.remove(&id), path, "orphan-result", &id);
                }
                _ => others = true,
            }
        }
        for id in std::mem::replace(&mut open, calls) {
            findings.add(calls_at, "unanswered-call", format!("`{id}` has no result in the next message"));
        }
        calls_at = &turn.path;
    }
    for id in open {
        findings.add(calls_at, "unanswered-call", format!("`{id}` has no result"));
    }
}

/// Checks the rules for the assistant's last message.
fn check_end(turns: &[MergedTurn<'_>], thinks: bool, findings: &mut Violations) {
    if let Some(turn) = turns.last().filter(|turn| turn.role == "assistant") {
        findings.add(&turn.path, "prefill", "newer models refuse to continue a message of the assistant");
        let end = match turn.blocks.last() {
            Some((_, ContentBlock::Plain(text))) => Some(text.clone()),
            Some((_, ContentBlock::Opened(node))) => node.text_of("text"),
            None => None,
        };
        let trails = end.is_some_and(|text| text.ends_with(char::is_whitespace));
        findings.demand(
            !trails,
            &turn.path,
            "trailing-space",
            "the assistant's last message must not end with white space",
        );
    }
    let last = turns.iter().rev().find(|turn| turn.role == "assistant");
    let Some(turn) = last.filter(|_| thinks) else { return };
    let acts = turn.blocks.iter().any(|(_, block)| block.kind() == "tool_use");
    let first = turn.blocks.first().map(|(_, block)| block.kind()).unwrap_or_default();
    let begins = first == "thinking" || first == "redacted_thinking";
    findings.demand(
        !acts || begins,
        &turn.path,
        "thinking-first",
        "with thinking enabled, the last turn must begin with thinking",
    );
}
