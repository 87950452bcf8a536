//! Short descriptions of messages.

use crate::form::fence;
use crate::form::stub::{self, grouped};
use crate::lane::view::View;
use crate::ports::Bodies;
use crate::record::message::{Body, Message, Part};
use crate::units::Seq;
use std::borrow::Cow;

/// Maximum number of bytes at the beginning of a text that are passed to `mask`. A secret in the first words may be told
/// only by what follows it.
const LOOK: usize = 16 << 10;

/// Returns a description of a message in a few words, on one line. `mask` gets each text and gist before it is cut, and
/// returns it as it may be shown: secrets lose their form when they are cut.
#[must_use]
pub fn describe(
    seq: Seq,
    said: &Message,
    view: &View,
    bodies: &dyn Bodies,
    mask: &dyn Fn(&str) -> Cow<'_, str>,
) -> String {
    let first_words = |text: &str| first_words(&mask(stub::head(text.trim_start(), LOOK)), text.trim().len());
    let mut words = Vec::new();
    let labels: Vec<String> = fence::labels(said).collect();
    if !labels.is_empty() {
        return stub::head(&labels.join(" · "), 160).to_owned();
    }
    for part in &said.parts {
        match part {
            Part::Text { text, .. } => {
                // The text of a stub may not have been loaded, so only its length is known.
                let unread = || format!("text, {} lines", grouped(text.lines()));
                words.push(bodies.of(text).map_or_else(unread, first_words));
            }
            Part::Thinking { .. } => words.push("thinking".to_owned()),
            Part::ToolCall { name, gist, .. } => {
                words.push(format!("{name} {}", first_words(gist.as_deref().unwrap_or_default())));
            }
            Part::ToolResult { call, content, failed, .. } => {
                let lines: u64 = content.iter().flat_map(Part::bodies).map(Body::lines).sum();
                let of = first_words(view.gist(call, seq).unwrap_or_default());
                let failed = if *failed { "failed, " } else { "" };
                let unit = if lines == 1 { "line" } else { "lines" };
                words.push(format!("→ {of} ({failed}{} {unit})", grouped(lines)));
            }
            Part::Media { mime, .. } => words.push(format!("[{mime}]")),
            Part::Opaque { .. } => words.push("[opaque block]".to_owned()),
        }
    }
    let joined = words.join(" · ");
    stub::head(joined.trim(), 160).to_owned()
}

/// Returns the first words of a text that has `length` bytes.
fn first_words(text: &str, length: usize) -> String {
    let line = stub::head(text, 240).lines().next().unwrap_or_default();
    let mut out: String = line.chars().take(72).filter(|c| !c.is_control()).collect();
    if out.len() < length {
        out.push('…');
    }
    out
}
