//! Writes the parts of Gemini contents.

use super::takes;
use crate::call_id;
use crate::extra::{self, INNER, KIND, OpenedExtra, SHAPE};
use crate::json::{self, ObjectWriter, RawFields, array};
use crate::outcome::WireError;
use crate::writing::{Medium, Writing, inline, name_of};
use serde_json::value::RawValue;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Extra, MediaForm, Part};

const OWN: Dialect = Dialect::Gemini;

/// Placeholder for the signature of a call that another model made (the page on thought signatures).
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Facts about a written call that its result needs.
pub(super) struct Asked {
    /// Name of the function.
    pub(super) name: Box<str>,
    /// Whether the call had no id. The result of a call without an id has no id either.
    pub(super) is_nameless: bool,
}

/// Returns whether a call or a result had no id.
pub(super) fn is_nameless(opened: &OpenedExtra<'_>) -> bool {
    opened.own_word(KIND).as_deref() == Some("nameless")
}

pub(super) fn is_call(part: &str) -> bool {
    RawFields::parse(part).is_ok_and(|fields| fields.get("functionCall").is_some())
}

pub(super) fn call_part(
    id: &str,
    name: &str,
    input: &str,
    opened: &OpenedExtra<'_>,
    signs: bool,
) -> Result<String, WireError> {
    let mut inner = ObjectWriter::default();
    if !is_nameless(opened) {
        inner = inner.text("id", id);
    }
    inner = inner.text("name", &call_id::tool_name(OWN, name));
    // The API accepts only an object as arguments, so any other text is wrapped in an object.
    inner = match serde_json::from_str::<&RawValue>(input) {
        _ if opened.own_word(SHAPE).as_deref() == Some("none") => inner,
        Ok(raw) if json::is_object(raw) => inner.raw("args", raw.get()),
        _ if input.trim().is_empty() => inner.raw("args", "{}"),
        _ => inner.raw("args", &ObjectWriter::default().text("arguments", input).finish()),
    };
    let mut object = ObjectWriter::default().raw("functionCall", &opened.finish_inner(inner)?);
    let fields = opened.fields();
    if signs && !fields.iter().any(|(name, _)| *name == "thoughtSignature") {
        object = object.text("thoughtSignature", UNSIGNED);
    }
    Ok(object.unknown(fields).finish())
}

/// A function's result that is to be written.
pub(super) struct FunctionAnswer<'a> {
    /// Id of the call, as written.
    pub(super) id: &'a str,
    /// The call, if it is known.
    pub(super) asked: Option<&'a Asked>,
    pub(super) content: &'a [Part],
    pub(super) failed: bool,
}

impl FunctionAnswer<'_> {
    /// Writes the result. The result's media go to `media`, unless they were originally inside the result.
    pub(super) fn write(
        &self,
        extra: &Extra,
        media: &mut Vec<String>,
        writing: &mut Writing,
    ) -> Result<String, WireError> {
        let opened = writing.open(extra)?;
        let (mut texts, mut inside, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        writing.nest(true);
        for part in self.content {
            match part {
                Part::Text { text, extra } => {
                    writing.open(extra)?;
                    texts.push(inline(text)?);
                }
                Part::Media { extra, .. } => {
                    let is_inside = extra::open(extra, OWN)?.own_word(KIND).as_deref() == Some("part");
                    let list = if is_inside { &mut inside } else { &mut beside };
                    list.extend(part_of(part, "user", writing)?);
                }
                other => {
                    let what = format!("{} in the answer of a function", name_of(other));
                    writing.drop_part(Reason::Dialect, what);
                }
            }
        }
        writing.nest(false);
        if !beside.is_empty() {
            let text = format!("From the result of tool call {}:", self.id);
            media.push(ObjectWriter::default().text("text", &text).finish());
            media.append(&mut beside);
        }
        self.finish(&texts.join("\n"), &inside, &opened)
    }

    /// Writes the result's text, together with the media that were originally inside it.
    fn finish(&self, text: &str, inside: &[String], opened: &OpenedExtra<'_>) -> Result<String, WireError> {
        let is_json = opened.own_word(SHAPE).as_deref() == Some("json");
        let raw = serde_json::from_str::<&RawValue>(text).ok().filter(|raw| is_json && json::is_object(raw));
        let field = if self.failed { "error" } else { "output" };
        let said = || ObjectWriter::default().text(field, text).finish();
        let response = raw.map_or_else(said, |raw| raw.get().to_owned());
        let mut inner = ObjectWriter::default();
        if !is_nameless(opened) && self.asked.is_none_or(|asked| !asked.is_nameless) {
            inner = inner.text("id", self.id);
        }
        let own = opened.own_raw(INNER).and_then(RawFields::of);
        if own.is_none_or(|inner| inner.get("name").is_none()) {
            let name = self.asked.map_or(self.id, |asked| &asked.name);
            inner = inner.text("name", &call_id::tool_name(OWN, name));
        }
        inner = inner.raw("response", &response);
        if !inside.is_empty() {
            inner = inner.raw("parts", &array(inside));
        }
        let object = ObjectWriter::default().raw("functionResponse", &opened.finish_inner(inner)?);
        Ok(object.unknown(opened.fields()).finish())
    }
}

/// Writes a part that is neither a call nor a result.
pub(super) fn part_of(part: &Part, role: &str, writing: &mut Writing) -> Result<Option<String>, WireError> {
    match part {
        Part::Text { text, extra } => {
            let opened = writing.open(extra)?;
            Ok(text_part(inline(text)?, &opened, writing))
        }
        Part::Thinking { text, signature, extra } if role == "model" => {
            let opened = writing.open(extra)?;
            let (text, signature) = (inline(text)?, signature.as_deref());
            if !opened.is_marked_own() || (writing.is_made() && signature.is_none()) {
                writing.drop_part(Reason::Unsigned, "thinking without a signature of this provider");
                return Ok(None);
            }
            let mut object = ObjectWriter::default().text("text", text);
            if opened.own_word(KIND).as_deref() != Some("text") {
                object = object.raw("thought", "true");
            }
            if let Some(signature) = signature {
                object = object.text("thoughtSignature", signature);
            }
            Ok(Some(object.unknown(opened.fields()).finish()))
        }
        Part::Media { .. } => media_part(part, writing),
        Part::Opaque { dialect, raw } => {
            let raw = writing.opaque(*dialect, raw)?;
            Ok(raw.filter(|raw| !writing.refuse(broken(raw))).map(str::to_owned))
        }
        other => {
            writing.drop_part(Reason::Dialect, format!("{} of another speaker", name_of(other)));
            Ok(None)
        }
    }
}

/// Returns the reason why the API would refuse an opaque part in its own format, or `None` if it would not.
pub(crate) fn broken(raw: &str) -> Option<&'static str> {
    let known = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];
    let fields = RawFields::parse(raw).ok();
    let is_known = fields.is_some_and(|part| known.iter().any(|name| part.get(name).is_some()));
    (!is_known).then_some("a part of no kind that a content can hold, or not a whole one")
}

pub(super) fn text_part(text: &str, opened: &OpenedExtra<'_>, writing: &mut Writing) -> Option<String> {
    if text.is_empty() {
        writing.drop_part(Reason::Empty, "a text with nothing in it");
        return None;
    }
    Some(ObjectWriter::default().text("text", text).unknown(opened.fields()).finish())
}

fn media_part(part: &Part, writing: &mut Writing) -> Result<Option<String>, WireError> {
    let Some(Medium { kind, mime, form, body, opened }) = writing.medium(part, |_, _| "data".to_owned())?
    else {
        return Ok(None);
    };
    let is_open = body.starts_with("http://") || body.starts_with("https://");
    let object = match form {
        MediaForm::Base64 if takes(mime) || opened.is_marked_own() => {
            let inner = ObjectWriter::default().text("mimeType", mime).text("data", body);
            ObjectWriter::default().raw("inlineData", &opened.finish_inner(inner)?)
        }
        MediaForm::Url | MediaForm::File if opened.is_marked_own() || (form == MediaForm::Url && is_open) => {
            let inner = ObjectWriter::default();
            let inner = if mime.is_empty() { inner } else { inner.text("mimeType", mime) };
            let inner = inner.text("fileUri", body);
            ObjectWriter::default().raw("fileData", &opened.finish_inner(inner)?)
        }
        _ => {
            writing.drop_medium(&kind, mime, body);
            return Ok(None);
        }
    };
    Ok(Some(object.unknown(opened.fields()).finish()))
}
