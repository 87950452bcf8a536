//! Fields and forms of a provider's object that a message, part, tool or request has to remember.
//!
//! An [`Extra`] is the text of a JSON object. Names that begin with `wb:` are ours: `wb:from` names the dialect of
//! the original object. The other names record which of several equivalent forms the object had (for example, a
//! string or an array of blocks), so that the object can be written again in its original form. All other names are
//! the provider's own, stored verbatim and sent back to that provider only. An extra without `wb:from` was added by a
//! caller, or by an agent whose transcript was imported. If the extra of a message's part names no dialect, a request
//! that we build sends only those of its fields that the provider is known to accept. A provider's own name that
//! begins with `wb:` is stored as `wb:=` followed by the name.

use crate::json::{ObjectWriter, RawFields, quote, text};
use crate::outcome::{Dropped, WireError};
use serde_json::value::RawValue;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Extra, MediaForm};

const OURS: &str = "wb:";
const ESCAPED: &str = "wb:=";

/// An original form, as a name and a JSON value. The names are the constants of this module.
pub(crate) type ExtraForm = (&'static str, String);

/// Form of content: `string`, `blocks`, `null`, `none`.
pub(crate) const SHAPE: &str = "shape";
/// Kind of the original object, if several kinds have the same meaning.
pub(crate) const KIND: &str = "kind";
/// Unknown fields of a nested object (`source`, `function`, `image_url`).
pub(crate) const INNER: &str = "inner";
/// Extra of the message that this part begins, if several messages are stored as one.
pub(crate) const MESSAGE: &str = "message";
/// Role in the provider's spelling, if it differs from ours.
pub(crate) const ROLE: &str = "role";
/// Name of the field for the maximum number of output tokens. For Gemini, the value holds the other settings in the
/// object that contains the maximum.
pub(crate) const MAX: &str = "max";
/// Value of the flag that marks a failed tool, if the flag was written although the tool did not fail.
pub(crate) const FAILED: &str = "failed";
/// Fields of a recorded message that no request accepts.
pub(crate) const REPLY: &str = "reply";

/// Returns a form whose value is a string.
pub(crate) fn hint(name: &'static str, word: &str) -> ExtraForm {
    (name, quote(word))
}

/// Returns fields as the text of an object, or `None` if the list is empty.
pub(crate) fn object(fields: Vec<(String, &RawValue)>) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    Some(ObjectWriter::default().unknown(named(&fields)).finish())
}

/// Returns fields as pairs of name and JSON text.
fn named<'f, 'a>(fields: &'f [(String, &'a RawValue)]) -> impl Iterator<Item = (&'f str, &'a str)> {
    fields.iter().map(|(name, raw)| (name.as_str(), raw.get()))
}

/// Returns the fields of an extra, or of an object inside it.
///
/// # Errors
/// Returns an error if the text is not a JSON object.
pub(crate) fn parse(text: &str) -> Result<Vec<(String, &RawValue)>, WireError> {
    let fields = RawFields::parse(text).map_err(|error| WireError::Extra { reason: error.to_string() })?;
    Ok(fields.rest())
}

/// Returns an extra with unknown fields and forms, or `None` if there are no fields and no forms.
pub(crate) fn keep(from: Dialect, hints: Vec<ExtraForm>, fields: RawFields<'_>) -> Extra {
    let rest = fields.rest();
    if rest.is_empty() && hints.is_empty() { None } else { Some(build(from, hints, rest)) }
}

/// Returns an extra that names its dialect, even if it records nothing else.
pub(crate) fn mark(from: Dialect, hints: Vec<ExtraForm>, fields: RawFields<'_>) -> Extra {
    Some(build(from, hints, fields.rest()))
}

/// Returns the extra of a medium. For a file id, the extra always names the dialect, because the id means nothing to
/// another provider.
pub(crate) fn medium(from: Dialect, form: MediaForm, hints: Vec<ExtraForm>, fields: RawFields<'_>) -> Extra {
    if form == MediaForm::File { mark(from, hints, fields) } else { keep(from, hints, fields) }
}

/// Returns the extra with one more form. The new form replaces any form with the same name.
pub(crate) fn with_hint(from: Dialect, extra: &Extra, hint: ExtraForm) -> Extra {
    let (name, value) = hint;
    let object = ObjectWriter::default().text("wb:from", from.name()).raw(&format!("{OURS}{name}"), &value);
    let fields = extra.as_deref().and_then(|extra| RawFields::parse(extra).ok()).unwrap_or_default().rest();
    Some(object.unknown(named(&fields)).finish().into_boxed_str())
}

fn build(from: Dialect, hints: Vec<ExtraForm>, rest: Vec<(String, &RawValue)>) -> Box<str> {
    let mut object = ObjectWriter::default().text("wb:from", from.name());
    for (name, value) in hints {
        object = object.raw(&format!("{OURS}{name}"), &value);
    }
    let escaped = |name: String| if name.starts_with(OURS) { format!("{ESCAPED}{name}") } else { name };
    let rest: Vec<(String, &RawValue)> = rest.into_iter().map(|(name, raw)| (escaped(name), raw)).collect();
    object.unknown(named(&rest)).finish().into_boxed_str()
}

/// An extra, opened for the dialect that is being written.
pub(crate) struct OpenedExtra<'a> {
    from: Option<String>,
    hints: Vec<(String, &'a RawValue)>,
    unknown: Vec<(String, &'a RawValue)>,
    own: bool,
}

/// Opens an extra.
///
/// # Errors
/// Returns an error if the extra is not the text of a JSON object.
pub(crate) fn open(extra: &Extra, dialect: Dialect) -> Result<OpenedExtra<'_>, WireError> {
    let mut opened = OpenedExtra { from: None, hints: Vec::new(), unknown: Vec::new(), own: true };
    let Some(extra) = extra else { return Ok(opened) };
    for (name, value) in parse(extra)? {
        if let Some(name) = name.strip_prefix(ESCAPED) {
            opened.unknown.push((name.to_owned(), value));
        } else if let Some(name) = name.strip_prefix(OURS) {
            opened.hints.push((name.to_owned(), value));
        } else {
            opened.unknown.push((name, value));
        }
    }
    opened.from = opened.word("from");
    opened.own = opened.from.as_deref().is_none_or(|from| from == dialect.name());
    Ok(opened)
}

impl<'a> OpenedExtra<'a> {
    /// Removes a provider's field, as if it had never been in the extra.
    pub(crate) fn forget(&mut self, field: &str) {
        self.unknown.retain(|(name, _)| name != field);
    }

    /// Removes fields that the provider is not known to accept, if the extra names no dialect. Returns their names.
    pub(crate) fn keep_known(&mut self, known: &[&str]) -> Vec<String> {
        if self.from.is_some() {
            return Vec::new();
        }
        let (kept, lost) = std::mem::take(&mut self.unknown)
            .into_iter()
            .partition(|(name, _)| known.contains(&name.as_str()));
        self.unknown = kept;
        let lost: Vec<(String, &RawValue)> = lost;
        lost.into_iter().map(|(name, _)| name).collect()
    }

    /// Returns whether the extra may be sent to the dialect it was opened for.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    /// Returns whether the extra names, as its origin, the dialect that it was opened for.
    pub(crate) fn is_marked_own(&self) -> bool {
        self.own && self.from.is_some()
    }

    /// Returns a form as JSON.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.hints.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// Returns a form that is a string, from any dialect.
    pub(crate) fn word(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(text)
    }

    /// Returns the kind that the extra records, or else `default`.
    pub(crate) fn kind_or(&self, default: &str) -> String {
        self.word(KIND).unwrap_or_else(|| default.to_owned())
    }

    /// Returns a form that is a string, if it came from the dialect the extra was opened for.
    pub(crate) fn own_word(&self, name: &str) -> Option<String> {
        self.own.then(|| self.word(name))?
    }

    /// Returns a form as JSON, if it came from the dialect the extra was opened for.
    pub(crate) fn own_raw(&self, name: &str) -> Option<&'a RawValue> {
        self.own.then(|| self.raw(name))?
    }

    /// Returns the provider's own fields, if they may be sent to the dialect the extra was opened for.
    pub(crate) fn fields(&self) -> Vec<(&str, &'a str)> {
        if self.own { named(&self.unknown).collect() } else { Vec::new() }
    }

    /// Returns what a request may hold of the extra, as the text of an object: the provider's fields, those of a nested
    /// object, and those of the message that the part begins. `None` if there are none.
    pub(crate) fn written(&self) -> Option<String> {
        let hints = [INNER, MESSAGE].into_iter().filter_map(|name| Some((name, self.own_raw(name)?.get())));
        let fields: Vec<(&str, &str)> = hints.chain(self.fields()).collect();
        (!fields.is_empty()).then(|| ObjectWriter::default().unknown(fields).finish())
    }

    /// Finishes the object inside a block by adding the unknown fields that the object had in this dialect.
    ///
    /// # Errors
    /// Returns an error if those fields are not the text of an object.
    pub(crate) fn finish_inner(&self, object: ObjectWriter) -> Result<String, WireError> {
        let Some(inner) = self.own_raw(INNER) else { return Ok(object.finish()) };
        Ok(object.unknown(named(&parse(inner.get())?)).finish())
    }

    /// Returns a note about the fields that are lost because they belong to another provider.
    pub(crate) fn lost(&self, message: Option<usize>, part: usize) -> Option<Dropped> {
        if self.own || self.unknown.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.unknown.iter().take(8).map(|(name, _)| name.as_str()).collect();
        let more = if self.unknown.len() > names.len() { ", …" } else { "" };
        let from = self.from.as_deref().unwrap_or_default();
        let what = format!("fields that only {from} knows: {}{more}", names.join(", "));
        Some(Dropped { message, part, reason: Reason::Dialect, what, whole: false })
    }
}
