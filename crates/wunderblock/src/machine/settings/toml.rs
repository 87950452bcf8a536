//! Edits TOML as a document that keeps its form.

use crate::machine::settings::edit::{Edit, Step, line};
use crate::machine::settings::error::SettingsProblem;
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

fn invalid(text: &str, error: &toml_edit::TomlError) -> SettingsProblem {
    let at = error.span().map_or(0, |span| span.start);
    SettingsProblem::Invalid { line: line(text, at), reason: error.message().to_owned() }
}

fn parse(text: &str) -> Result<DocumentMut, SettingsProblem> {
    text.parse().map_err(|error| invalid(text, &error))
}

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Value, SettingsProblem> {
    // The parser of documents finds errors with their place; the other one knows how to make values.
    parse(text)?;
    ::toml::from_str(text)
        .map_err(|error| SettingsProblem::Invalid { line: 1, reason: error.message().to_owned() })
}

/// Returns the text after an edit. A place that the edit does not find stays as it is.
pub(super) fn edit(text: &str, edit: &Edit<'_>) -> Result<String, SettingsProblem> {
    let mut document = parse(text)?;
    let root = document.as_item_mut();
    match edit {
        Edit::Set(keys, value) => set(root, keys, value),
        Edit::Append(keys, value) => append(root, keys, value),
        Edit::Replace(keys, index, value) => {
            if let Some(list) = keys.iter().try_fold(root, |item, key| item.get_mut(*key)) {
                replace(list, *index, value);
            }
        }
        Edit::Remove(steps) => remove(root, steps),
    }
    let is_removal = matches!(edit, Edit::Remove(_));
    Ok(splice(text, &document.to_string(), is_removal))
}

/// Returns the table at these keys. Missing ones are created: inline in an inline table, otherwise without a header.
fn table_at<'t>(root: &'t mut Item, keys: &[&str]) -> Option<&'t mut Item> {
    keys.iter().try_fold(root, |item, key| {
        let new = if item.is_inline_table() {
            Item::Value(InlineTable::new().into())
        } else {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        Some(item.as_table_like_mut()?.entry(key).or_insert(new))
    })
}

fn set(root: &mut Item, keys: &[&str], value: &Value) {
    let Some((last, parents)) = keys.split_last() else { return };
    let Some(parent) = table_at(root, parents) else { return };
    let new = if parent.is_inline_table() { Item::Value(inline(value)) } else { item(value) };
    if let Some(table) = parent.as_table_like_mut() {
        table.insert(last, new);
    }
}

fn append(root: &mut Item, keys: &[&str], value: &Value) {
    let Some((last, parents)) = keys.split_last() else { return };
    let Some(parent) = table_at(root, parents) else { return };
    let new = if parent.is_inline_table() {
        Item::Value(Array::new().into())
    } else {
        Item::ArrayOfTables(ArrayOfTables::new())
    };
    match parent.as_table_like_mut().map(|table| table.entry(last).or_insert(new)) {
        Some(Item::ArrayOfTables(list)) => list.push(header(value)),
        Some(Item::Value(toml_edit::Value::Array(list))) => list.push(inline(value)),
        _ => {}
    }
}

fn replace(list: &mut Item, index: usize, value: &Value) {
    match list {
        Item::ArrayOfTables(list) => {
            if let Some(table) = list.get_mut(index) {
                let mut new = header(value);
                *new.decor_mut() = table.decor().clone();
                new.set_position(table.position());
                *table = new;
            }
        }
        Item::Value(toml_edit::Value::Array(list)) if index < list.len() => {
            list.replace(index, inline(value));
        }
        _ => {}
    }
}

fn remove(item: &mut Item, steps: &[Step<'_>]) {
    match steps {
        [] => {}
        [Step::Key(key)] => {
            if let Some(table) = item.as_table_like_mut() {
                table.remove(key);
            }
        }
        [Step::Index(index)] => match item {
            Item::ArrayOfTables(list) if *index < list.len() => drop(list.remove(*index)),
            Item::Value(toml_edit::Value::Array(list)) if *index < list.len() => drop(list.remove(*index)),
            _ => {}
        },
        [first, rest @ ..] => {
            let inner = match first {
                Step::Key(key) => item.get_mut(*key),
                Step::Index(index) => return remove_in_element(item, *index, rest),
            };
            if let Some(inner) = inner {
                remove(inner, rest);
            }
        }
    }
}

/// Removes a value inside an element of a list. An element of a list of tables is a table and not an item.
fn remove_in_element(list: &mut Item, index: usize, rest: &[Step<'_>]) {
    let table: Option<&mut dyn TableLike> = match list {
        Item::ArrayOfTables(list) => list.get_mut(index).map(|table| table as _),
        Item::Value(toml_edit::Value::Array(list)) => {
            list.get_mut(index).and_then(|value| value.as_inline_table_mut()).map(|table| table as _)
        }
        _ => None,
    };
    if let ([Step::Key(key), rest @ ..], Some(table)) = (rest, table) {
        match (rest, table.get_mut(key)) {
            ([], _) => drop(table.remove(key)),
            (_, Some(inner)) => remove(inner, rest),
            (_, None) => {}
        }
    }
}

/// Returns a value with headers: an object is a table, and a list of objects a list of tables.
fn item(value: &Value) -> Item {
    match value {
        Value::Object(_) => Item::Table(header(value)),
        Value::Array(elements) if !elements.is_empty() && elements.iter().all(Value::is_object) => {
            Item::ArrayOfTables(elements.iter().map(header).collect())
        }
        _ => Item::Value(inline(value)),
    }
}

fn header(value: &Value) -> Table {
    let mut table = Table::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        table.insert(key, item(value));
    }
    table
}

fn inline(value: &Value) -> toml_edit::Value {
    match value {
        // TOML has no null.
        Value::Null => "".into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => {
            value.as_i64().map_or_else(|| value.as_f64().unwrap_or_default().into(), Into::into)
        }
        Value::String(value) => value.as_str().into(),
        Value::Array(elements) => elements.iter().map(inline).collect::<Array>().into(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.as_str(), inline(value))).collect::<InlineTable>().into()
        }
    }
}

/// Returns the edited text with the lines of the original wherever they are the same.
///
/// The document has one kind of line end and always ends with one; the original may differ. New lines end as the
/// first line of the original, and the last line ends with a line end only if the original's does. The document
/// removes the comments above a table with the table; they stay.
fn splice(original: &str, edited: &str, is_removal: bool) -> String {
    let old: Vec<&str> = original.split_inclusive('\n').collect();
    let new: Vec<&str> = edited.split_inclusive('\n').collect();
    let is_same = |(one, other): &(&&str, &&str)| bare(one) == bare(other);
    let first = old.iter().zip(&new).take_while(is_same).count();
    let room = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(room).take_while(is_same).count();
    let end = if old.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let mut text: String = old.iter().take(first).copied().collect();
    if is_removal {
        let gone: Vec<&str> = old.iter().take(old.len() - last).skip(first).copied().collect();
        let is_comment = |line: &&str| line.trim_start().starts_with('#');
        let above = gone.iter().take_while(|line| line.trim().is_empty() || is_comment(line)).count();
        let comments = gone.iter().take(above).rposition(is_comment).map_or(0, |at| at + 1);
        text.extend(gone.iter().take(comments).copied());
    }
    for line in new.iter().take(new.len() - last).skip(first) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(end);
        }
        text.push_str(bare(line));
        text.push_str(end);
    }
    text.extend(old.iter().skip(old.len() - last).copied());
    if !original.is_empty() && !original.ends_with('\n') {
        text.truncate(bare(&text).len());
    }
    text
}

/// Returns a line without its end.
fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Returns the first byte of the value at these keys; 0 if the keys are missing.
pub(super) fn place(text: &str, keys: &[&str]) -> usize {
    let Ok(document) = toml_edit::Document::parse(text) else { return 0 };
    let item = keys.iter().try_fold(document.as_item(), |item, key| item.get(*key));
    item.and_then(Item::span).map_or(0, |span| span.start)
}
