//! Where an encoder stands in a request, and what it has left out so far.

use crate::extra::{self, OpenedExtra};
use crate::json::{self, ObjectWriter};
use crate::outcome::{Dropped, WireError};
use std::collections::HashMap;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Body, Dialect, Extra, Message, MessageOrigin, Part};
use wunderblock_core::request::{Request, Tool};

/// The state of one encoding.
pub(crate) struct Writing {
    dialect: Dialect,
    /// The provider's field that is ours to write.
    owned: Option<&'static str>,
    /// What was left out, in the order of the request.
    pub(crate) dropped: Vec<Dropped>,
    message: Option<usize>,
    part: usize,
    nested: bool,
    /// Whether the request was made by us: of blocks that came from the provider only what it takes is written. A request
    /// that was read is written as it came.
    made: bool,
}

impl Writing {
    pub(crate) fn new(dialect: Dialect, request: &Request) -> Self {
        let made = request.cache.is_some();
        Self { dialect, owned: None, dropped: Vec::new(), message: None, part: 0, nested: false, made }
    }

    /// Whether the request was made by us, not read.
    pub(crate) fn is_made(&self) -> bool {
        self.made
    }

    /// Whether a field is none of the provider's: earlier versions of the live door took those of its lines for fields of a
    /// tool's message.
    pub(crate) fn is_envelope(&self, field: &str) -> bool {
        self.made && ["id", "at", "session"].contains(&field)
    }

    /// Leaves a block out that the provider would refuse; `false` if it stays.
    pub(crate) fn refuse(&mut self, why: Option<&str>) -> bool {
        let why = why.filter(|_| self.made);
        if let Some(why) = why {
            self.drop_part(Reason::Unsendable, why);
        }
        why.is_some()
    }

    /// From here on the provider's field of this name is written by the encoder alone: where it stands in an extra it is
    /// forgotten, and that is no loss.
    pub(crate) fn own(&mut self, field: &'static str) {
        self.owned = Some(field);
    }

    /// Whether a field has been made the encoder's own.
    pub(crate) fn owns(&self, field: &str) -> bool {
        self.owned == Some(field)
    }

    /// Goes to a part (or a tool, outside of messages).
    pub(crate) fn at(&mut self, message: Option<usize>, part: usize) {
        (self.message, self.part) = (message, part);
    }

    /// Notes that something of a part, or of a message, is left out.
    pub(crate) fn drop(&mut self, reason: Reason, what: impl Into<String>) {
        let (message, part) = (self.message, self.part);
        self.dropped.push(Dropped { message, part, reason, what: what.into(), whole: false });
    }

    /// Notes that a part is left out.
    pub(crate) fn drop_part(&mut self, reason: Reason, what: impl Into<String>) {
        self.drop(reason, what);
        if let Some(last) = self.dropped.last_mut() {
            last.whole = !self.nested;
        }
    }

    /// Whether what is written next stands inside a part.
    pub(crate) fn nest(&mut self, nested: bool) {
        self.nested = nested;
    }

    /// Opens an extra, noting the fields that cannot be sent.
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

    /// A tool that only its provider knows, as it came; nothing for another provider.
    pub(crate) fn whole_tool(&mut self, tool: &Tool, opened: &OpenedExtra<'_>) -> Option<String> {
        if opened.is_own() {
            return Some(ObjectWriter::default().unknown(opened.fields()).finish());
        }
        self.drop(Reason::Dialect, format!("the tool {}, which its provider runs", tool.name));
        None
    }

    /// Notes a medium that the dialect has no form for.
    pub(crate) fn drop_medium(&mut self, kind: &str, mime: &str, body: &str) {
        let mime = if mime.is_empty() { "no type" } else { mime };
        self.drop_part(Reason::Dialect, format!("a medium ({kind}, {mime}, {} bytes)", body.len()));
    }

    /// Adds fields of a message to those of the one it becomes part of.
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

    /// The text of an opaque part, if it is the dialect's own.
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

    /// Whether a message may be sent; if not, that is noted.
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

/// The optional fields of blocks that the provider's reference names, beyond those we have words for.
/// A name that another provider has for something else (`caller`) does not count: nobody says whose it is.
const fn known_fields(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Anthropic => &["cache_control", "citations", "context", "title"],
        Dialect::OpenaiResponses => &["detail", "filename", "namespace", "prompt_cache_breakpoint"],
        Dialect::Gemini => &["mediaResolution", "thoughtSignature", "videoMetadata"],
        Dialect::OpenaiChat | Dialect::Neutral => &[],
    }
}

/// Unknown fields of messages that become one: the first of a name stays.
#[derive(Default, PartialEq)]
pub(crate) struct Union {
    fields: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Union {
    /// Adds a field; `false` if there is one of that name with another value.
    pub(crate) fn add(&mut self, name: &str, value: &str) -> bool {
        if let Some((_, known)) = self.places.get(name).and_then(|place| self.fields.get(*place)) {
            return known == value;
        }
        self.places.insert(name.to_owned(), self.fields.len());
        self.fields.push((name.to_owned(), value.to_owned()));
        true
    }

    /// The fields in the order they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The text of a body.
pub(crate) fn inline(body: &Body) -> Result<&str, WireError> {
    match body {
        Body::Inline(text) => Ok(text),
        Body::Blob { blob, .. } => Err(WireError::NotInline { handle: *blob }),
    }
}

/// A text that has to be JSON, as one value without space around it.
pub(crate) fn checked<'a>(text: &'a str, what: &str) -> Result<&'a str, WireError> {
    match json::raw(text) {
        Ok(raw) => Ok(raw.get()),
        Err(error) => Err(WireError::Raw { what: what.to_owned(), reason: error.to_string() }),
    }
}

/// What a part is, for people.
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
