//! Writes reasoning and the pieces of messages and outputs for OpenAI Responses.

use super::{BETWEEN, DETAIL};
use crate::extra::{self, INNER, KIND, OpenedExtra, SHAPE};
use crate::json::{ObjectWriter, array, list};
use crate::openai_chat::{FILENAME, IMAGES, PDF, kind_for};
use crate::outcome::WireError;
use crate::writing::{Medium, UNSENDABLE, Writing, inline, name_of};
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{MediaForm, Part};

/// Adds the remaining fields that an object had in this dialect, and finishes the object.
pub(super) fn finish(
    object: ObjectWriter,
    opened: &OpenedExtra<'_>,
    writing: &Writing,
) -> Result<String, WireError> {
    let mut object = object.unknown(opened.fields());
    if !writing.is_made()
        // A request that we build has neither ids nor status, so the provider's bookkeeping fields are left out.
        && let Some(books) = opened.own_raw(INNER)
    {
        object =
            object.unknown(extra::parse(books.get())?.iter().map(|(name, raw)| (name.as_str(), raw.get())));
    }
    Ok(object.finish())
}

/// Writes reasoning as an item. Returns `None` if the reasoning is another provider's or, in a request that we build,
/// is not encrypted.
pub(super) fn reasoning(
    text: &str,
    sealed: Option<&str>,
    opened: &OpenedExtra<'_>,
    writing: &mut Writing,
) -> Result<Option<String>, WireError> {
    if !opened.is_marked_own() || (writing.is_made() && sealed.is_none()) {
        writing.drop_part(Reason::Unsigned, "reasoning without what this provider encrypted of it");
        return Ok(None);
    }
    let shown = opened.own_word(KIND).as_deref() == Some("content");
    let kind = if shown { "reasoning_text" } else { "summary_text" };
    let pieces: Vec<String> = texts(text, opened)
        .into_iter()
        .map(|text| ObjectWriter::typed(kind).text("text", text).finish())
        .collect();
    let mut object = ObjectWriter::typed("reasoning");
    if shown {
        object = object.raw("summary", "[]").raw("content", &array(&pieces));
    } else {
        object = object.raw("summary", &array(&pieces));
    }
    if let Some(sealed) = sealed {
        object = object.text("encrypted_content", sealed);
    }
    finish(object, opened, writing).map(Some)
}

/// Splits reasoning into the texts that it was joined from, using their recorded lengths in bytes.
fn texts<'a>(text: &'a str, opened: &OpenedExtra<'_>) -> Vec<&'a str> {
    let whole = || if text.is_empty() { Vec::new() } else { vec![text] };
    let Some(lengths) = opened.own_raw(SHAPE).and_then(list) else { return whole() };
    let mut rest = Some(text);
    let mut texts = Vec::with_capacity(lengths.len());
    for (at, length) in lengths.iter().enumerate() {
        let begun = rest.and_then(|rest| if at == 0 { Some(rest) } else { rest.strip_prefix(BETWEEN) });
        let cut = length.get().parse().ok().and_then(|length| begun?.split_at_checked(length));
        texts.extend(cut.map(|(text, _)| text));
        rest = cut.map(|(_, rest)| rest);
    }
    if rest == Some("") { texts } else { whole() }
}

/// Writes a piece of a message's content or of an output. `words` is the type of its texts.
pub(super) fn piece(part: &Part, words: &str, writing: &mut Writing) -> Result<Option<String>, WireError> {
    match part {
        Part::Text { text, extra } => {
            let opened = writing.open(extra)?;
            let is_refusal = opened.own_word(KIND).as_deref() == Some("refusal") && words == "output_text";
            let (kind, field) = if is_refusal { ("refusal", "refusal") } else { (words, "text") };
            let object = ObjectWriter::typed(kind).text(field, inline(text)?);
            finish(object, &opened, writing).map(Some)
        }
        Part::Media { .. } if words == "input_text" => media(part, writing),
        Part::Opaque { dialect, raw } => {
            let raw = writing.opaque(*dialect, raw)?;
            // Every sendable piece of this provider has a neutral form, so a piece that stayed opaque cannot be sent.
            Ok(raw.filter(|_| !writing.refuse(Some(UNSENDABLE))).map(str::to_owned))
        }
        other => {
            let place = if words == "output_text" { "of the model" } else { "of anyone but the model" };
            writing.drop_part(Reason::Dialect, format!("{} in a message {place}", name_of(other)));
            Ok(None)
        }
    }
}

fn media(part: &Part, writing: &mut Writing) -> Result<Option<String>, WireError> {
    let Some(Medium { kind, mime, form, body, opened }) =
        writing.medium(part, |opened, mime| opened.kind_or(kind_for(mime)))?
    else {
        return Ok(None);
    };
    let marked = opened.is_marked_own();
    let data = || format!("data:{mime};base64,{body}");
    let is_bare = opened.own_word(SHAPE).as_deref() == Some("none");
    let has = |field: &str| opened.fields().iter().any(|(name, _)| *name == field);
    let object = match (kind.as_str(), form) {
        ("image", MediaForm::Base64) if marked || IMAGES.contains(&mime) => {
            ObjectWriter::typed("input_image").text("image_url", &data())
        }
        ("image", MediaForm::Url) => ObjectWriter::typed("input_image").text("image_url", body),
        ("image", MediaForm::File) if marked => ObjectWriter::typed("input_image").text("file_id", body),
        ("document", MediaForm::Base64) if marked || mime == PDF => {
            let object = ObjectWriter::typed("input_file").text("file_data", &data());
            if is_bare || has("filename") { object } else { object.text("filename", FILENAME) }
        }
        ("document", MediaForm::Url) => ObjectWriter::typed("input_file").text("file_url", body),
        ("document", MediaForm::File) if marked => ObjectWriter::typed("input_file").text("file_id", body),
        _ => {
            writing.drop_medium(&kind, mime, body);
            return Ok(None);
        }
    };
    // The reference requires `detail` for images in messages.
    let lacks_detail = kind == "image" && !is_bare && !has("detail");
    let object = if lacks_detail { object.text("detail", DETAIL) } else { object };
    finish(object, &opened, writing).map(Some)
}
