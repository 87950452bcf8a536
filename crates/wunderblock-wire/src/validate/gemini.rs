//! Rules of the Gemini API.

use super::findings::{Violations, is_name};
use super::node::{NodeFields, NodeKind, ValueNode, text};
use std::collections::BTreeSet;

/// Fields that determine the kind of a part. A part must have exactly one of these fields.
const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

pub(super) fn check(body: &ValueNode<'_>, findings: &mut Violations) {
    let Some(fields) = body.object() else {
        findings.add("", "shape", "the body is not an object");
        return;
    };
    if let Some(tools) = fields.get("tools") {
        check_tools(*tools, findings);
    }
    if let Some(system) = fields.get("systemInstruction") {
        let parts = system.object().and_then(|fields| fields.get("parts")?.list()).unwrap_or_default();
        let has_text = parts.iter().any(|part| part.text_of("text").is_some_and(|text| !text.is_empty()));
        findings.demand(
            has_text,
            "systemInstruction",
            "empty",
            "system text must be a list of parts with text",
        );
    }
    if let Some(settings) = fields.get("generationConfig") {
        let settings = settings.object();
        findings.demand(settings.is_some(), "generationConfig", "shape", "settings must be an object");
        let max = settings.and_then(|fields| Some(fields.get("maxOutputTokens")?.is_count()));
        let path = "generationConfig.maxOutputTokens";
        findings.demand(max != Some(false), path, "limit", "the limit must be a whole number of at least 1");
    }
    let Some(contents) = fields.get("contents").and_then(|node| node.list()) else {
        findings.add("contents", "missing-field", "a list of contents is required");
        return;
    };
    findings.demand(!contents.is_empty(), "contents", "empty", "at least one content is required");
    let contents: Vec<Content> = contents
        .into_iter()
        .enumerate()
        .map(|(at, content)| Content::check(format!("contents[{at}]"), content, findings))
        .collect();
    check_turns(&contents, findings);
    check_pairs(&contents, findings);
    check_signatures(text(&fields, "model").as_deref(), &contents, findings);
}

/// Facts about a content that the checks of its neighbours need.
struct Content {
    path: String,
    is_model: bool,
    calls: Vec<Function>,
    results: Vec<Function>,
}

struct Function {
    path: String,
    name: String,
    id: Option<String>,
    is_signed: bool,
}

impl Content {
    fn check(path: String, content: ValueNode<'_>, findings: &mut Violations) -> Self {
        let mut read = Self { path, is_model: false, calls: Vec::new(), results: Vec::new() };
        let fields = match content.kind() {
            NodeKind::Object(fields) => fields,
            NodeKind::Unreadable(reason) => {
                findings.add(&read.path, "json", reason);
                return read;
            }
            _ => {
                findings.add(&read.path, "shape", "a content must be an object");
                return read;
            }
        };
        let role = text(&fields, "role").unwrap_or_else(|| "user".to_owned());
        read.is_model = role == "model";
        let is_known = ["user", "model", "function"].contains(&role.as_str());
        findings.demand(is_known, &format!("{}.role", read.path), "role", &format!("unknown role `{role}`"));
        let parts = fields.get("parts").and_then(|node| node.list()).unwrap_or_default();
        findings.demand(!parts.is_empty(), &read.path, "empty", "a content must have at least one part");
        for (at, part) in parts.into_iter().enumerate() {
            read.part(&format!("{}.parts[{at}]", read.path), part, findings);
        }
        read
    }

    fn part(&mut self, path: &str, part: ValueNode<'_>, findings: &mut Violations) {
        let fields = match part.kind() {
            NodeKind::Object(fields) => fields,
            NodeKind::Unreadable(reason) => return findings.add(path, "json", reason),
            _ => return findings.add(path, "shape", "a part must be an object"),
        };
        let given = |name: &&str| fields.get(*name).is_some_and(|node| !node.is_null());
        let kinds: Vec<&str> = DATA.into_iter().filter(given).collect();
        let [kind] = kinds.as_slice() else {
            findings.add(path, "part-kind", "a part must be exactly one of text, data, a call or a response");
            return;
        };
        let is_signed = text(&fields, "thoughtSignature").is_some_and(|signature| !signature.is_empty());
        let inner = fields.get(*kind).and_then(|node| node.object()).unwrap_or_default();
        let filled = |name: &str| text(&inner, name).is_some_and(|text| !text.is_empty());
        let missing = "missing-field";
        match *kind {
            "text" => match text(&fields, "text") {
                Some(text) => {
                    findings.demand(
                        !text.is_empty() || is_signed,
                        path,
                        "empty-text",
                        "a text must not be empty",
                    );
                }
                None => findings.add(path, "shape", "a text must be a string"),
            },
            "inlineData" => {
                let holds = filled("mimeType") && filled("data");
                findings.demand(holds, path, missing, "inline data must have a type and base64 data");
            }
            "fileData" => findings.demand(filled("fileUri"), path, missing, "a file must have an address"),
            "functionCall" => {
                findings.demand(self.is_model, path, "part-role", "only the model may call functions");
                let holds = inner.get("args").is_none_or(|args| args.is_object());
                findings.demand(holds, path, "arguments", "arguments must be an object");
                self.calls.push(Function::of(path, &inner, is_signed, findings));
            }
            "functionResponse" => {
                findings.demand(!self.is_model, path, "part-role", "only the user may answer calls");
                let holds = inner.get("response").is_some_and(|response| response.is_object());
                findings.demand(holds, path, missing, "a response must be an object");
                self.results.push(Function::of(path, &inner, is_signed, findings));
            }
            _ => {}
        }
    }
}

impl Function {
    fn of(path: &str, inner: &NodeFields<'_>, is_signed: bool, findings: &mut Violations) -> Self {
        let name = text(inner, "name").unwrap_or_default();
        findings.demand(is_function(&name), &format!("{path}.name"), "tool-name", &name);
        Self { path: path.to_owned(), name, id: text(inner, "id"), is_signed }
    }
}

/// Returns whether a name has 1 to 64 letters, digits, `_`, `-`, `.` and `:`, and begins with a letter or `_`.
fn is_function(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins && is_name(&name.replace(['.', ':'], "_"), 64)
}

fn check_turns(contents: &[Content], findings: &mut Violations) {
    let starts = contents.first().is_none_or(|first| !first.is_model);
    findings.demand(starts, "contents[0].role", "first-role", "the first content must be the user's");
    for pair in contents.windows(2) {
        if let [before, after] = pair
            && before.is_model
            && after.is_model
        {
            findings.add(&after.path, "alternation", "the model must speak after the user");
        }
    }
}

/// Checks that the next content answers each call with one response.
fn check_pairs(contents: &[Content], findings: &mut Violations) {
    let mut calls: &[Function] = &[];
    let mut path = "";
    for content in contents {
        if !content.is_model && calls.len() != content.results.len() {
            let (calls, results) = (calls.len(), content.results.len());
            let detail = format!("expected one response for each call, found {results} for {calls} calls");
            findings.add(&content.path, "response-count", detail);
        } else {
            check_names(calls, &content.results, findings);
        }
        if content.is_model && !calls.is_empty() {
            findings.add(path, "unanswered-call", "calls must be answered in the next content");
        }
        (calls, path) = (&content.calls, &content.path);
    }
    findings.demand(calls.is_empty(), path, "unanswered-call", "calls must be answered in the next content");
}

/// Checks that each response answers one of the calls: by id if both have one, otherwise by name.
fn check_names(calls: &[Function], results: &[Function], findings: &mut Violations) {
    let mut taken = BTreeSet::new();
    for result in results {
        let answers = |call: &Function| {
            call.name == result.name && (call.id.is_none() || result.id.is_none() || call.id == result.id)
        };
        let found = (0..).zip(calls).find(|(at, call)| !taken.contains(at) && answers(call));
        match found {
            Some((at, _)) => {
                taken.insert(at);
            }
            None => findings.add(&result.path, "orphan-result", result.name.as_str()),
        }
    }
}

/// For models from Gemini 3 on, checks that the first call in each content since the user's last message is signed.
fn check_signatures(model: Option<&str>, contents: &[Content], findings: &mut Violations) {
    if !model.is_some_and(is_strict) {
        return;
    }
    let spoken = contents.iter().rposition(|content| !content.is_model && content.results.is_empty());
    let turn = contents.get(spoken.map_or(0, |at| at + 1)..).unwrap_or_default();
    for call in turn.iter().filter_map(|content| content.calls.first()) {
        let why = "the first call of a step must keep its signature";
        findings.demand(call.is_signed, &call.path, "missing-signature", why);
    }
}

/// Returns whether a model's name denotes Gemini 3 or later, or the latest model.
fn is_strict(model: &str) -> bool {
    let Some(name) = model.rsplit('/').next().and_then(|name| name.strip_prefix("gemini-")) else {
        return false;
    };
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().map_or(name.ends_with("-latest"), |number| number >= 3)
}

fn check_tools(tools: ValueNode<'_>, findings: &mut Violations) {
    let Some(tools) = tools.list() else {
        findings.add("tools", "shape", "`tools` must be a list");
        return;
    };
    let mut names = BTreeSet::new();
    for (at, tool) in tools.into_iter().enumerate() {
        let fields = tool.object().unwrap_or_default();
        let functions = fields.get("functionDeclarations").and_then(|node| node.list()).unwrap_or_default();
        for (number, function) in functions.into_iter().enumerate() {
            let path = format!("tools[{at}].functionDeclarations[{number}]");
            let fields = function.object().unwrap_or_default();
            let name = text(&fields, "name").unwrap_or_default();
            findings.demand(is_function(&name), &format!("{path}.name"), "tool-name", &name);
            let schemas = ["parameters", "parametersJsonSchema"].map(|name| fields.get(name));
            let holds = schemas.iter().flatten().all(|schema| schema.is_object());
            findings.demand(holds, &path, "tool-schema", "a schema must be an object");
            let one = schemas.iter().flatten().count() < 2;
            findings.demand(one, &path, "tool-schema", "parameters must be given only once");
            findings.demand(names.insert(name.clone()), &path, "duplicate-tool", &name);
        }
    }
}
