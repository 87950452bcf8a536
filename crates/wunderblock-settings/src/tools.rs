//! Reads tools from a file, in the format of any provider or in our own format.

use crate::error::SettingsError;
use crate::input::read;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;
use wunderblock::OfferedTool;
use wunderblock_core::message::{Dialect, Extra};
use wunderblock_core::request::Tool;

/// A tool in our own format.
#[derive(Deserialize)]
struct OwnTool {
    name: Box<str>,
    #[serde(default)]
    description: Box<str>,
    schema: Box<RawValue>,
    #[serde(default)]
    extra: Extra,
    #[serde(default)]
    deferred: bool,
}

impl From<OwnTool> for OfferedTool {
    fn from(own: OwnTool) -> Self {
        let OwnTool { name, description, schema, extra, deferred } = own;
        // The field of our format is a JSON string with the schema's text, but people may write the schema itself.
        let schema = serde_json::from_str(schema.get()).unwrap_or_else(|_| schema.get().into());
        Self { tool: Tool { name, description, schema, extra }, deferred }
    }
}

/// Reads a JSON array of tools. In our format, `"deferred": true` means that requests only name the tool.
pub(crate) fn tools(path: &Path, dialect: Option<Dialect>) -> Result<Vec<OfferedTool>, SettingsError> {
    let text = read(path)?;
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let refused = |why: &str| {
        let form = "not a JSON array of tools in Anthropic's, OpenAI's, Gemini's or the neutral form";
        SettingsError::file(path, format!("{form}{why}"))
    };
    // If a request contained a value of another type in this place, the request would be read as one without tools.
    let objects = serde_json::from_str::<Vec<Map<String, Value>>>(&text)
        .map_err(|error| refused(&format!(": {error}")))?;
    if let Ok(own) = serde_json::from_str::<Vec<OwnTool>>(&text) {
        return Ok(own.into_iter().map(OfferedTool::from).collect());
    }
    let request = format!("{{\"messages\":[],\"input\":[],\"contents\":[],\"tools\":{text}}}");
    let candidates = [told(&objects), dialect, Some(Dialect::Anthropic), Some(Dialect::OpenaiChat)];
    let decoded = candidates.into_iter().flatten().find_map(|dialect| {
        let request = wunderblock_wire::decode(dialect, request.as_bytes()).ok()?;
        let known = request.tools.iter().all(|tool| !tool.name.is_empty());
        known.then(|| request.tools.into_iter().map(OfferedTool::from).collect::<Vec<_>>())
    });
    let mut decoded = decoded.ok_or_else(|| refused("; every tool needs a name in the same form"))?;
    let odd: HashMap<&str, String> = objects.iter().filter_map(odd_schema).collect();
    for OfferedTool { tool, .. } in &mut decoded {
        if let Some(schema) = odd.get(&*tool.name).filter(|_| tool.schema.is_empty()) {
            (tool.schema, tool.extra) = (schema.as_str().into(), None);
        }
    }
    Ok(decoded)
}

/// Returns the dialect of the tools, if one of the tools reveals it: by the key of its schema, or by a function
/// nested in another object.
fn told(tools: &[Map<String, Value>]) -> Option<Dialect> {
    tools.iter().find_map(|tool| {
        let is_function = tool.get("type").is_some_and(|kind| kind == "function");
        match () {
            () if tool.contains_key("functionDeclarations") => Some(Dialect::Gemini),
            () if tool.contains_key("input_schema") => Some(Dialect::Anthropic),
            () if is_function && tool.contains_key("function") => Some(Dialect::OpenaiChat),
            () if is_function && tool.contains_key("name") => Some(Dialect::OpenaiResponses),
            () => None,
        }
    })
}

/// Returns the name and schema of a tool whose schema is not an object. Decoders keep such a schema as an unknown
/// field, but here it must be seen and reported.
fn odd_schema(tool: &Map<String, Value>) -> Option<(&str, String)> {
    let tool = tool.get("function").and_then(Value::as_object).unwrap_or(tool);
    let schema = ["input_schema", "parameters"].into_iter().find_map(|key| tool.get(key))?;
    let name = tool.get("name")?.as_str()?;
    (!schema.is_object() && !schema.is_null()).then(|| (name, schema.to_string()))
}
