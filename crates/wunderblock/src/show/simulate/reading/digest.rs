//! Digest and texts of a part.

use wunderblock_core::message::{Body, Part};
use wunderblock_core::ports::Bodies;

/// Digest of a piece: half of a BLAKE3 hash.
pub(in crate::show::simulate) type Digest = [u8; 16];

/// Returns the digest of a part's content. A part of an event and the same part in a request have the same digest.
pub(in crate::show::simulate) fn digest(part: &Part, bodies: &dyn Bodies) -> Digest {
    let mut hasher = blake3::Hasher::new();
    write(&mut hasher, part, bodies);
    finish(&hasher)
}

fn write(hasher: &mut blake3::Hasher, part: &Part, bodies: &dyn Bodies) {
    let extra = match part {
        Part::Text { extra, .. } => {
            feed(hasher, "text");
            extra
        }
        Part::Thinking { signature, extra, .. } => {
            feed(hasher, "thinking");
            feed(hasher, signature.as_deref().unwrap_or_default());
            extra
        }
        Part::ToolCall { call, name, extra, .. } => {
            feed(hasher, "call");
            feed(hasher, call.as_str());
            feed(hasher, name);
            extra
        }
        Part::ToolResult { call, content, failed, extra } => {
            feed(hasher, if *failed { "failed" } else { "result" });
            feed(hasher, call.as_str());
            content.iter().for_each(|inner| write(hasher, inner, bodies));
            feed(hasher, extra.as_deref().unwrap_or_default());
            return;
        }
        Part::Media { mime, extra, .. } => {
            feed(hasher, "media");
            feed(hasher, mime);
            extra
        }
        Part::Opaque { .. } => {
            feed(hasher, "opaque");
            &None
        }
    };
    feed(hasher, extra.as_deref().unwrap_or_default());
    for body in part.bodies() {
        feed(hasher, bodies.of(body).unwrap_or_default());
    }
}

pub(in crate::show::simulate) fn feed(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}

pub(in crate::show::simulate) fn finish(hasher: &blake3::Hasher) -> Digest {
    let hash = hasher.finalize();
    std::array::from_fn(|at| hash.as_bytes().get(at).copied().unwrap_or_default())
}

/// Returns the texts of a part that can contain names.
pub(in crate::show::simulate) fn spoken(part: &Part) -> Vec<&Body> {
    match part {
        Part::Text { text, .. } | Part::Thinking { text, .. } => vec![text],
        Part::ToolCall { input, .. } => vec![input],
        Part::ToolResult { content, .. } => content.iter().flat_map(spoken).collect(),
        Part::Media { .. } | Part::Opaque { .. } => Vec::new(),
    }
}
