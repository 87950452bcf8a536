//! Edits JSON, with or without comments, as a concrete syntax tree.

use crate::machine::settings::edit::{Edit, Step};
use crate::machine::settings::error::SettingsProblem;
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::Value;

/// Options for JSON with comments as agents read it, so that no text is accepted that an agent would refuse.
const fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn invalid(error: &ParseError) -> SettingsProblem {
    SettingsProblem::Invalid { line: error.line_display(), reason: error.kind().to_string() }
}

fn parse(text: &str) -> Result<CstRootNode, SettingsProblem> {
    CstRootNode::parse(text, &options()).map_err(|error| invalid(&error))
}

/// Reads a text. A text without a value is an empty object.
pub(super) fn read(text: &str, has_comments: bool) -> Result<Value, SettingsProblem> {
    if !has_comments && !text.trim().is_empty() {
        return serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or_default().to_owned();
            SettingsProblem::Invalid { line: error.line(), reason }
        });
    }
    let root = parse(text)?;
    if root.value().is_none() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    root.to_serde_value()
        .ok_or_else(|| SettingsProblem::Invalid { line: 1, reason: "invalid JSON".to_owned() })
}

/// Returns the text after an edit. A place that the edit does not find stays as it is.
pub(super) fn edit(text: &str, edit: &Edit<'_>) -> Result<String, SettingsProblem> {
    let root = parse(text)?;
    match edit {
        Edit::Set(keys, value) => {
            if let Some((last, parents)) = keys.split_last()
                && let Some(object) = object_at(&root, parents)
            {
                match object.get(last) {
                    Some(field) => field.set_value(input(value)),
                    None => drop(object.append(last, input(value))),
                }
            }
        }
        Edit::Append(keys, value) => {
            if let Some(list) = list_at(&root, keys) {
                list.append(input(value));
            }
        }
        Edit::Replace(keys, index, value) => {
            // An element that takes the place of another one would keep none of the indentation.
            if let Some(list) = list_at(&root, keys)
                && let Some(element) = list.elements().into_iter().nth(*index)
            {
                list.insert(*index, input(value));
                element.remove();
            }
        }
        Edit::Remove(steps) => remove(&root, steps),
    }
    Ok(root.to_string())
}

/// Returns the object at these keys, and creates missing ones. Objects that are written in one line are broken into
/// lines, because an entry has several.
fn object_at(root: &CstRootNode, keys: &[&str]) -> Option<CstObject> {
    let root = root.object_value_or_create()?;
    root.ensure_multiline();
    keys.iter().try_fold(root, |object, key| {
        let object = object.object_value_or_create(key)?;
        object.ensure_multiline();
        Some(object)
    })
}

fn list_at(root: &CstRootNode, keys: &[&str]) -> Option<CstArray> {
    let (last, parents) = keys.split_last()?;
    let list = object_at(root, parents)?.array_value_or_create(last)?;
    list.ensure_multiline();
    Some(list)
}

fn remove(root: &CstRootNode, steps: &[Step<'_>]) {
    let Some((last, parents)) = steps.split_last() else { return };
    let parent = parents.iter().try_fold(root.value(), |value, step| {
        let value = value?;
        Some(match step {
            Step::Key(key) => value.as_object()?.get(key)?.value(),
            Step::Index(index) => value.as_array()?.elements().into_iter().nth(*index),
        })
    });
    let Some(parent) = parent.flatten() else { return };
    match last {
        Step::Key(key) => {
            if let Some(field) = parent.as_object().and_then(|object| object.get(key)) {
                field.remove();
            }
        }
        Step::Index(index) => {
            let element = parent.as_array().and_then(|list| list.elements().into_iter().nth(*index));
            if let Some(element) = element {
                element.remove();
            }
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

/// Returns the first byte of the value at these keys; 0 if the keys are missing.
pub(super) fn place(text: &str, keys: &[&str]) -> usize {
    let Ok(parsed) = parse_to_ast(text, &CollectOptions::default(), &options()) else { return 0 };
    let value = keys.iter().try_fold(parsed.value, |value, key| match value? {
        ast::Value::Object(mut object) => Some(object.take(key).map(|field| field.value)),
        _ => None,
    });
    value.flatten().map_or(0, |value| value.range().start)
}
