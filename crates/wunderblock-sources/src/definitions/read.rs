//! Reads a file with definitions: Markdown with front matter, TOML or JSON.

use super::commands;
use super::dialect::{Dialect, RawDefinition};
use super::found::{DefinitionRemark, FoundDefinitions};
use super::places::DefinitionFile;
use super::value::{Fields, Value};
use crate::read_front_matter;
use std::path::Path;
use wunderblock_core::delegate::definition::Origin;

/// Maximum length of a name in Claude Code.
pub(super) const MAX_NAME: usize = 256;

/// Reads a file and adds its definitions, and remarks on what does not count.
pub(super) fn read(file: &DefinitionFile, plugin: Option<&str>, found: &mut FoundDefinitions) {
    if let Some(kind) = file.kind {
        return commands::read(file, kind, plugin, found);
    }
    found.inputs.note(&file.path);
    let mut remark = |line, detail| {
        found.remarks.push(DefinitionRemark { place: file.origin.place.clone(), line, detail })
    };
    let text = match file.read(&file.path) {
        Ok(text) => text,
        Err(why) => return remark(None, why),
    };
    let ending = file.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let parsed = match ending {
        "md" => return markdown(file, plugin, &text, found),
        other => parse(other, &text),
    };
    match parsed {
        Ok(fields) if file.key.is_empty() && ending == "toml" => {
            let raw =
                RawDefinition { name: String::new(), fields: &fields, body: "", origin: file.origin.clone() };
            define(raw, found);
        }
        Ok(fields) if file.key.is_empty() => by_name(file, &fields, found),
        Ok(fields) => {
            if let Some(Value::Map(definitions)) = fields.get(&file.key) {
                by_name(file, definitions, found);
            }
        }
        Err((line, why)) => remark(line, why),
    }
}

/// Parses TOML or JSON, by the ending of the file.
///
/// # Errors
/// Returns the line, if it is known, and the reason.
pub(super) fn parse(ending: &str, text: &str) -> Result<Fields, (Option<u64>, String)> {
    if ending != "toml" {
        return parse_json(text).map_err(|why| (None, why));
    }
    let line = |start| text.get(..start).map_or(1, |before: &str| before.matches('\n').count() as u64 + 1);
    toml::from_str::<Fields>(text)
        .map_err(|error| (error.span().map(|span| line(span.start)), error.message().to_owned()))
}

/// Parses JSON with comments.
pub(super) fn parse_json(text: &str) -> Result<Fields, String> {
    let parsed = jsonc_parser::parse_to_serde_value::<Value>(text, &jsonc_parser::ParseOptions::default());
    match parsed.map_err(|error| error.to_string())? {
        Value::Map(fields) => Ok(fields),
        _ => Err("is not a JSON object".to_owned()),
    }
}

fn markdown(file: &DefinitionFile, plugin: Option<&str>, text: &str, found: &mut FoundDefinitions) {
    let product = &*file.origin.product;
    let stem = file.inner.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if product == "gemini-cli" && stem.starts_with('_') {
        return;
    }
    let mut remark = |line, detail| {
        found.remarks.push(DefinitionRemark { place: file.origin.place.clone(), line, detail })
    };
    let fronted = match read_front_matter::<Fields>(text) {
        Ok(fronted) => fronted,
        Err((line, detail)) => return remark(Some(line), detail),
    };
    let (fields, body) = fronted;
    let written = fields.text("name").map(|name| name.trim().to_owned());
    let name = match (product, plugin) {
        // Markdown without a name is documentation beside definitions.
        ("claude-code" | "gemini-cli", None) if written.is_none() => return,
        ("opencode", None) => written.unwrap_or_else(|| slashed(&file.inner, "/")),
        (_, Some(plugin)) if product == "claude-code" => {
            let folder = file.inner.parent().unwrap_or(Path::new(""));
            let folder = Some(slashed(folder, ":")).filter(|folder| !folder.is_empty());
            let parts = [Some(plugin.to_owned()), folder, Some(written.unwrap_or(stem))];
            parts.into_iter().flatten().collect::<Vec<_>>().join(":")
        }
        _ => written.unwrap_or(stem),
    };
    let invalid = name.starts_with('-') || name.len() > MAX_NAME || plugin.is_none() && name.contains(':');
    if product == "claude-code" && invalid {
        let detail =
            format!("invalid name `{name}`: at most {MAX_NAME} bytes, without a colon and a leading dash");
        return remark(None, detail);
    }
    let raw = RawDefinition { name, fields: &fields, body, origin: file.origin.clone() };
    define(raw, found);
}

pub(super) fn slashed(path: &Path, with: &str) -> String {
    path.components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(with)
}

/// Adds definitions that are the values of an object. A value of another kind is a setting.
fn by_name(file: &DefinitionFile, definitions: &Fields, found: &mut FoundDefinitions) {
    let is_codex = &*file.origin.product == "codex";
    for (name, value) in &definitions.0 {
        let Value::Map(fields) = value else { continue };
        let mut fields = fields.clone();
        // A role of Codex may keep most of its fields in a file of its own, whose fields count.
        if let Some(path) = fields.text("config_file").filter(|_| is_codex) {
            let path = file.path.parent().unwrap_or(Path::new("")).join(path);
            found.inputs.note(&path);
            let read = file.read(&path).map_err(|why| (None, why));
            let parsed = read.and_then(|text| parse("toml", &text));
            match parsed {
                Ok(own) => {
                    found.referenced.push(path);
                    fields.0.retain(|(key, _)| own.get(key).is_none());
                    fields.0.extend(own.0);
                }
                Err((line, why)) => {
                    found.remark_line(&path.to_string_lossy(), line, why);
                    continue;
                }
            }
        }
        let origin =
            Origin { place: format!("{} [{name}]", file.origin.place).into(), ..file.origin.clone() };
        let name = fields.text("name").filter(|_| is_codex).unwrap_or_else(|| name.clone());
        define(RawDefinition { name, fields: &fields, body: "", origin }, found);
    }
}

fn define(mut raw: RawDefinition<'_>, found: &mut FoundDefinitions) {
    let place = raw.origin.place.clone();
    let mut remark =
        |detail| found.remarks.push(DefinitionRemark { place: place.clone(), line: None, detail });
    let Some(dialect) = Dialect::of(&raw.origin.product) else { return };
    if raw.name.is_empty() {
        match raw.fields.text("name") {
            Some(name) => raw.name = name.trim().to_owned(),
            None => return remark("has no `name`".to_owned()),
        }
    }
    match dialect.definition(raw) {
        Ok((definition, remarks)) => {
            remarks.into_iter().for_each(&mut remark);
            found.definitions.push(definition);
        }
        Err(why) => remark(why),
    }
}
