//! Position of an encoder in a request, and the content that it has left out.

use crate::extra::{self, OpenedExtra};
use crate::json::{self, ObjectWriter};
use crate::outcome::{Dropped, WireError};
use std::collections::HashMap;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Body, Dialect, Extra, MediaForm, Message, MessageOrigin, Part};
use wunderblock_core::request::{Request, Tool};

/// Why an opaque part that a provider of OpenAI's formats would refuse is left out.
pub(crate) const UNSENDABLE: &str =
    "a part of content of no kind that a message can hold, or not a whole one";

/// A medium that an encoder writes.
pub(crate) struct Medium<'a> {
    /// The dialect's kind of the medium.
    pub(crate) kind: String,
    pub(crate) mime: &'a str,
    pub(crate) form: MediaForm,
    pub(crate) body: &'a str,
    pub(crate) opened: OpenedExtra<'a>,
}

/// State of writing one request.
pub(crate) struct Writing {
    dialect: Dialect,
    /// Provider field that only the encoder writes.
    owned: Option<&'static str>,
    /// Content that was left out, in the order of the request.
    pub(crate) dropped: Vec<Dropped>,
    message: Option<usize>,
    part: usize,
    nested: bool,
    /// Whether the request is ours. If so, the encoder writes only what the provider accepts. A request that was read
    /// is written in its original form.
    made: bool,
}

impl Writing {
    pub(crate) fn new(dialect: Dialect, request: &Request) -> Self {
        let made = request.cache.is_some();
        Self { dialect, owned: None, dropped: Vec::new(), message: None, part: 0, nested: false, made }
    }

    /// Returns whether the request is ours, not one that was read.
    pub(crate) fn is_made(&self) -> bool {
        self.made
    }

    /// Returns whether a field belongs to our envelope, not to the provider. Earlier versions of the live door stored
    /// the envelope of a line as fields of a tool message.
    pub(crate) fn is_envelope(&self, field: &str) -> bool {
        self.made && ["id", "at", "session"].contains(&field)
    }

    /// Leaves out a part that the provider would refuse for the reason `why`. Returns whether the part was left out.
    pub(crate) fn refuse(&mut self, why: Option<&str>) -> bool {
        let why = why.filter(|_| self.made);
        if let Some(why) = why {
            self.drop_part(Reason::Unsendable, why);
        }
        why.is_some()
    }

    /// Reserves a provider's field for the encoder. The field is ignored in extras, and not reported as left out.
    pub(crate) fn own(&mut self, field: &'static str) {
        self.owned = Some(field);
    }

    /// Returns whether a field is reserved for the encoder.
    pub(crate) fn owns(&self, field: &str) -> bool {
        self.owned == Some(field)
    }

    /// Moves to a part of a message, or to a tool or system part outside of messages.
    pub(crate) fn at(&mut self, message: Option<usize>, part: usize) {
        (self.message, self.part) = (message, part);
    }

    /// Records that some content of a part or a message is left out.
    pub(crate) fn drop(&mut self, reason: Reason, what: impl Into<String>) {
        let (message, part) = (self.message, self.part);
        self.dropped.push(Dropped { message, part, reason, what: what.into(), whole: false });
    }

    /// Records that a part is left out.
    pub(crate) fn drop_part(&mut self, reason: Reason, what: impl Into<String>) {
        self.drop(reason, what);
        if let Some(last) = self.dropped.last_mut() {
            last.whole = !self.nested;
        }
    }

    /// Sets whether the next parts are inside another part.
    pub(crate) fn nest(&mut self, nested: bool) {
        self.nested = nested;
    }

    /// Opens an extra and records the fields that cannot be sent.
    pub(crate) fn open<'a>(&mut self, extra: &'a Extra) -> Result<OpenedExtra<'a>, WireError> {
        let mut opened = extra::open(extra, self.dialect)?;
        if let Some(field) = self.owned {
            opened.forget(field);
        }
        self.dropped.extend(opened.lost(self.message, self.part));
        if self.made && self.message.is_some() {
            let lost = opened.keep_known(known_fields(self.dialect));
            if !lost.is_empty() {
                self.drop(Reason::Dialect, format!("fields that no request has: {}", lost.join(", ")));
            }
        }
        Ok(opened)
    }

    /// Returns, unchanged, a tool that only its provider knows. `None` for another provider.
    pub(crate) fn whole_tool(&mut self, tool: &Tool, opened: &OpenedExtra<'_>) -> Option<String> {
        if opened.is_own() {
            return Some(ObjectWriter::default().unknown(opened.fields()).finish());
        }
        self.drop(Reason::Dialect, format!("the tool {}, which its provider runs", tool.name));
        None
    }

    /// Records that a medium is left out because the dialect has no form for it.
    pub(crate) fn drop_medium(&mut self, kind: &str, mime: &str, body: &str) {
        let mime = if mime.is_empty() { "no type" } else { mime };
        self.drop_part(Reason::Dialect, format!("a medium ({kind}, {mime}, {} bytes)", body.len()));
    }

    /// Opens a medium. `kind_of` returns the dialect's kind for its extra and its media type. A medium whose data is
    /// empty or damaged is recorded as left out, because a provider refuses the whole request then; `None` is returned
    /// for it.
    pub(crate) fn medium<'a>(
        &mut self,
        part: &'a Part,
        kind_of: impl FnOnce(&OpenedExtra<'_>, &str) -> String,
    ) -> Result<Option<Medium<'a>>, WireError> {
        let Part::Media { mime, form, body, extra } = part else { return Ok(None) };
        let opened = self.open(extra)?;
        let body = inline(body)?;
        let kind = kind_of(&opened, mime);
        if *form == MediaForm::Base64 && !is_base64(body) {
            self.drop_medium(&format!("{kind} without valid data"), mime, body);
            return Ok(None);
        }
        Ok(Some(Medium { kind, mime, form: *form, body, opened }))
    }

    /// Adds the fields of a message to those of the turn it joins.
    pub(crate) fn unite<'f>(
        &mut self,
        union: &mut Union,
        fields: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) {
        for (name, value) in fields {
            if !union.add(name, value) {
                self.drop(Reason::Dialect, format!("the field {name}: the turn has another already"));
            }
        }
    }

    /// Returns the text of an opaque part, or `None` if it belongs to another dialect.
    pub(crate) fn opaque<'a>(
        &mut self,
        dialect: Dialect,
        body: &'a Body,
    ) -> Result<Option<&'a str>, WireError> {
        if dialect != self.dialect {
            self.drop_part(Reason::Dialect, format!("a block that only {} knows", dialect.name()));
            return Ok(None);
        }
        checked(inline(body)?, "an opaque part").map(Some)
    }

    /// Returns whether a message may be sent. Records the message as left out if it may not be sent.
    pub(crate) fn sendable(&mut self, at: usize, message: &Message) -> bool {
        let (reason, why) = match &message.standing {
            MessageOrigin::Said | MessageOrigin::Injected(_) => return true,
            MessageOrigin::Failed(why) => (Reason::FailedTurn, why),
            MessageOrigin::Aside(why) => (Reason::Aside, why),
        };
        self.at(Some(at), 0);
        self.drop(reason, format!("the message: {why}"));
        false
    }
}

/// Optional fields of blocks that the provider's reference names and that have no neutral form. A name that several
/// providers use differently (`caller`) is not listed, because an extra without a dialect does not say whose field it
/// is.
pub(crate) const fn known_fields(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Anthropic => &["cache_control", "citations", "context", "title"],
        Dialect::OpenaiResponses => &["detail", "filename", "namespace", "prompt_cache_breakpoint"],
        Dialect::Gemini => &["mediaResolution", "thoughtSignature", "videoMetadata"],
        Dialect::OpenaiChat | Dialect::Neutral => &[],
    }
}

/// Unknown fields of messages that become one. If a name occurs twice, the first field is kept.
#[derive(Default, PartialEq)]
pub(crate) struct Union {
    fields: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Union {
    /// Adds a field. Returns `false` if the name already has another value.
    pub(crate) fn add(&mut self, name: &str, value: &str) -> bool {
        if let Some((_, known)) = self.places.get(name).and_then(|place| self.fields.get(*place)) {
            return known == value;
        }
        self.places.insert(name.to_owned(), self.fields.len());
        self.fields.push((name.to_owned(), value.to_owned()));
        true
    }

    /// Returns the fields in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Returns the text of a body.
pub(crate) fn inline(body: &Body) -> Result<&str, WireError> {
    match body {
        Body::Inline(text) => Ok(text),
        Body::Blob { blob, .. } => Err(WireError::NotInline { handle: *blob }),
    }
}

/// Returns a text that must be JSON as one value, without surrounding space.
pub(crate) fn checked<'a>(text: &'a str, what: &str) -> Result<&'a str, WireError> {
    match json::raw(text) {
        Ok(raw) => Ok(raw.get()),
        Err(error) => Err(WireError::Raw { what: what.to_owned(), reason: error.to_string() }),
    }
}

/// Returns a human-readable description of a part.
pub(crate) fn name_of(part: &Part) -> &'static str {
    match part {
        Part::Text { .. } => "a text",
        Part::Thinking { .. } => "thinking",
        Part::ToolCall { .. } => "a tool call",
        Part::ToolResult { .. } => "a tool result",
        Part::Media { .. } => "a medium",
        Part::Opaque { .. } => "an opaque block",
    }
}

/// Returns whether a text is base64 with its padding (RFC 4648, either alphabet) and encodes at least one byte. Line
/// breaks do not count.
fn is_base64(text: &str) -> bool {
    let all = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n'));
    let (mut length, mut padding) = (0_usize, 0_usize);
    for byte in all {
        let is_padding = byte == b'=';
        let is_digit = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        if !is_padding && (!is_digit || padding > 0) {
            return false;
        }
        length += 1;
        padding += usize::from(is_padding);
    }
    length > 0 && length % 4 == 0 && padding <= 2
}
