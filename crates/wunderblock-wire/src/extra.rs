//! What a message, part, tool or request remembers of the provider's object besides its meaning.
//!
//! An [`Extra`] is the text of a JSON object. Names that begin with `wb:` are ours: `wb:from` says whose object it was,
//! the others say in which of several equal forms it was written (a string or an array of blocks, say), so that the
//! object can be written again as it came. All other names are the provider's own, verbatim, and go back to that
//! provider only. An extra without `wb:from` was put there by a caller, or by an agent whose transcript was imported: of a
//! message's part, a request that we make has those of its fields that the provider is known to take. A provider's own
//! name that begins with `wb:` is kept as `wb:=` and the name.

use crate::json::{ObjectWriter, RawFields, quote, text};
use crate::outcome::{Dropped, WireError};
use serde_json::value::RawValue;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Extra, MediaForm};

const OURS: &str = "wb:";
const ESCAPED: &str = "wb:=";

/// One form of several with the same meaning; see the constants of this module.
pub(crate) type ExtraForm = (&'static str, String);

/// How content was written: `string`, `blocks`, `null`, `none`.
pub(crate) const SHAPE: &str = "shape";
/// Which of several objects with one meaning it was.
pub(crate) const KIND: &str = "kind";
/// Unknown fields of the object inside the object (`source`, `function`, `image_url`).
pub(crate) const INNER: &str = "inner";
/// The extra of the message a system part began.
pub(crate) const MESSAGE: &str = "message";
/// The role in the provider's word, where that is not ours.
pub(crate) const ROLE: &str = "role";
/// The name of the field for the most a model may answer.
pub(crate) const MAX: &str = "max";
/// The flag for a failed tool, where it was written although the tool did not fail.
pub(crate) const FAILED: &str = "failed";
/// Fields of a recorded message that no request takes.
pub(crate) const REPLY: &str = "reply";

/// A hint that is a word.
pub(crate) fn hint(name: &'static str, word: &str) -> ExtraForm {
    (name, quote(word))
}

/// Fields as an object's text, if there are any.
pub(crate) fn object(fields: Vec<(String, &RawValue)>) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    Some(ObjectWriter::default().unknown(named(&fields)).finish())
}

/// Fields as they are written.
fn named<'f, 'a>(fields: &'f [(String, &'a RawValue)]) -> impl Iterator<Item = (&'f str, &'a str)> {
    fields.iter().map(|(name, raw)| (name.as_str(), raw.get()))
}

/// The fields of an extra, or of an object in it.
///
/// # Errors
/// When it is not the text of an object.
pub(crate) fn parse(text: &str) -> Result<Vec<(String, &RawValue)>, WireError> {
    let fields = RawFields::parse(text).map_err(|error| WireError::Extra { reason: error.to_string() })?;
    Ok(fields.rest())
}

/// An extra of unknown fields and hints; nothing if there are neither.
pub(crate) fn keep(from: Dialect, hints: Vec<ExtraForm>, fields: RawFields<'_>) -> Extra {
    let rest = fields.rest();
    if rest.is_empty() && hints.is_empty() { None } else { Some(build(from, hints, rest)) }
}

/// An extra that says whose object it was, also when there is nothing else to say.
pub(crate) fn mark(from: Dialect, hints: Vec<ExtraForm>, fields: RawFields<'_>) -> Extra {
    Some(build(from, hints, fields.rest()))
}

/// The extra of a medium. A file id means nothing to another provider, so it always says whose it is.
pub(crate) fn medium(from: Dialect, form: MediaForm, hints: Vec<ExtraForm>, fields: RawFields<'_>) -> Extra {
    if form == MediaForm::File { mark(from, hints, fields) } else { keep(from, hints, fields) }
}

/// Adds a hint to an extra that has none of its kind.
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

/// An extra, opened for the dialect that is being encoded.
pub(crate) struct OpenedExtra<'a> {
    from: Option<String>,
    hints: Vec<(String, &'a RawValue)>,
    unknown: Vec<(String, &'a RawValue)>,
    own: bool,
}

/// Opens an extra.
///
/// # Errors
/// When it is not the text of a JSON object.
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
    /// Leaves a field of the provider's out, as if it had never been there.
    pub(crate) fn forget(&mut self, field: &str) {
        self.unknown.retain(|(name, _)| name != field);
    }

    /// Leaves out what is not known to be a field of the provider's, where nobody says whose it is; answers with its names.
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

    /// Whether it may go to the dialect it was opened for.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    /// Whether it says that it came from the dialect it was opened for.
    pub(crate) fn is_marked_own(&self) -> bool {
        self.own && self.from.is_some()
    }

    /// A hint as JSON.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.hints.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// A hint that is a word, whichever dialect it came from.
    pub(crate) fn word(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(text)
    }

    /// A hint that is a word, if it came from the dialect it was opened for.
    pub(crate) fn own_word(&self, name: &str) -> Option<String> {
        self.own.then(|| self.word(name))?
    }

    /// A hint as JSON, if it came from the dialect it was opened for.
    pub(crate) fn own_raw(&self, name: &str) -> Option<&'a RawValue> {
        self.own.then(|| self.raw(name))?
    }

    /// The provider's own fields, if they may go to the dialect it was opened for.
    pub(crate) fn fields(&self) -> Vec<(&str, &'a str)> {
        if self.own { named(&self.unknown).collect() } else { Vec::new() }
    }

    /// Finishes the object inside a block with the unknown fields it had.
    ///
    /// # Errors
    /// When these are not the text of an object.
    pub(crate) fn finish_inner(&self, object: ObjectWriter) -> Result<String, WireError> {
        let Some(inner) = self.own_raw(INNER) else { return Ok(object.finish()) };
        Ok(object.unknown(named(&parse(inner.get())?)).finish())
    }

    /// What is lost because the fields are another provider's.
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
