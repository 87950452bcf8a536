//! A file of settings that is edited as text.

use crate::machine::settings::edit::{Edit, Step, line};
use crate::machine::settings::error::SettingsProblem;
use crate::machine::settings::{json, toml};
use serde_json::Value;

/// Format of a file of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsFormat {
    /// JSON.
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
    /// TOML.
    Toml,
}

/// A file of settings: its text, and the value that it has as JSON. A file without content is an empty object.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    format: SettingsFormat,
    has_mark: bool,
    text: String,
    value: Value,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the bytes are not UTF-8, not valid in the format, or not an object.
    pub fn read(format: SettingsFormat, bytes: &[u8]) -> Result<Self, SettingsProblem> {
        let text = std::str::from_utf8(bytes).map_err(|_| SettingsProblem::NotText)?;
        let (has_mark, text) = text.strip_prefix('\u{feff}').map_or((false, text), |rest| (true, rest));
        let value = read(format, text)?;
        Ok(Self { format, has_mark, text: text.to_owned(), value })
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        [mark, &self.text].concat().into_bytes()
    }

    /// Returns the value at these keys, if there is one.
    #[must_use]
    pub fn get(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().try_fold(&self.value, |value, key| value.get(key))
    }

    /// Sets the field at these keys, and creates missing objects. Changes nothing if the field has the value.
    ///
    /// # Errors
    /// Returns an error if the value of one of the keys before the last is not an object.
    pub fn set(&mut self, keys: &[&str], value: &Value) -> Result<(), SettingsProblem> {
        if self.get(keys) == Some(value) {
            return Ok(());
        }
        self.edit(Edit::Set(keys, value))
    }

    /// Removes the field at these keys, and the objects that are empty without it.
    ///
    /// # Errors
    /// Returns an error if the result cannot be read.
    pub fn unset(&mut self, keys: &[&str]) -> Result<(), SettingsProblem> {
        if self.get(keys).is_some() {
            let steps: Vec<Step<'_>> = keys.iter().map(|key| Step::Key(key)).collect();
            self.edit(Edit::Remove(&steps))?;
            self.prune(keys)?;
        }
        Ok(())
    }

    /// Removes the last of these keys whose value is empty, and then the one before it.
    pub(super) fn prune(&mut self, keys: &[&str]) -> Result<(), SettingsProblem> {
        for end in (1..=keys.len()).rev() {
            let keys = keys.get(..end).unwrap_or_default();
            let is_empty = match self.get(keys) {
                Some(Value::Object(fields)) => fields.is_empty(),
                Some(Value::Array(elements)) => elements.is_empty(),
                Some(_) => false,
                None => continue,
            };
            if !is_empty {
                break;
            }
            let steps: Vec<Step<'_>> = keys.iter().map(|key| Step::Key(key)).collect();
            self.edit(Edit::Remove(&steps))?;
        }
        Ok(())
    }

    /// Returns the list at these keys; an empty list if there is no value.
    pub(super) fn list(&self, keys: &[&str]) -> Result<&[Value], SettingsProblem> {
        match self.get(keys) {
            Some(Value::Array(elements)) => Ok(elements),
            Some(_) => Err(self.type_error(keys, "a list")),
            None => Ok(&[]),
        }
    }

    pub(super) fn edit(&mut self, edit: Edit<'_>) -> Result<(), SettingsProblem> {
        self.check(&edit)?;
        let text = match self.format {
            SettingsFormat::Json | SettingsFormat::JsonWithComments => json::edit(&self.text, &edit),
            SettingsFormat::Toml => toml::edit(&self.text, &edit),
        }?;
        let edited = Self { value: read(self.format, &text)?, text, ..*self };
        let length = |document: &Self, keys| document.list(keys).map_or(0, <[Value]>::len);
        let (keys, is_done) = match edit {
            Edit::Set(keys, value) => (keys, edited.get(keys) == Some(value)),
            Edit::Append(keys, _) => (keys, length(&edited, keys) == length(self, keys) + 1),
            Edit::Replace(keys, index, value) => {
                (keys, edited.list(keys).is_ok_and(|list| list.get(index) == Some(value)))
            }
            Edit::Remove(steps) => (first_key(steps), edited.value != self.value),
        };
        if !is_done {
            // The text has the key twice: the edit changes the first one, and a reader uses the last one.
            return Err(SettingsProblem::Repeated { key: keys.join(".") });
        }
        *self = edited;
        Ok(())
    }

    /// Returns an error if a value on the way to the place of an edit has another type.
    fn check(&self, edit: &Edit<'_>) -> Result<(), SettingsProblem> {
        let (keys, is_list) = match edit {
            Edit::Set(keys, _) => (*keys, false),
            Edit::Append(keys, _) | Edit::Replace(keys, ..) => (*keys, true),
            Edit::Remove(_) => return Ok(()),
        };
        for end in 0..keys.len() {
            let keys = keys.get(..end).unwrap_or_default();
            if self.get(keys).is_some_and(|value| !value.is_object()) {
                return Err(self.type_error(keys, "an object"));
            }
        }
        if is_list { self.list(keys).map(|_| ()) } else { Ok(()) }
    }

    fn type_error(&self, keys: &[&str], expected: &'static str) -> SettingsProblem {
        let at = match self.format {
            SettingsFormat::Json | SettingsFormat::JsonWithComments => json::place(&self.text, keys),
            SettingsFormat::Toml => toml::place(&self.text, keys),
        };
        SettingsProblem::Type { line: line(&self.text, at), key: keys.join("."), expected }
    }
}

fn first_key<'a>(steps: &'a [Step<'_>]) -> &'a [&'a str] {
    match steps {
        [Step::Key(key), ..] => std::slice::from_ref(key),
        _ => &[],
    }
}

fn read(format: SettingsFormat, text: &str) -> Result<Value, SettingsProblem> {
    let value = match format {
        SettingsFormat::Json => json::read(text, false)?,
        SettingsFormat::JsonWithComments => json::read(text, true)?,
        SettingsFormat::Toml => toml::read(text)?,
    };
    if value.is_object() {
        return Ok(value);
    }
    let at = text.len() - text.trim_start().len();
    Err(SettingsProblem::Type { line: line(text, at), key: "settings".to_owned(), expected: "an object" })
}
