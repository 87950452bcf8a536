//! What a text is: every reader votes on the same sample, the strongest vote wins.

use crate::kind::Kind;
use crate::sample::Sample;
use crate::{code, html, json, read};

/// A vote below this is no vote: the text is prose.
const ENOUGH: u32 = 30;

/// The kind of a text, as a terminal would show it: colours and what was written over tell nothing.
pub(crate) fn kind(text: &str) -> Kind {
    if memchr::memchr2(0x1b, b'\r', text.as_bytes()).is_some() {
        return shown(&read::terminal::plain(text).0);
    }
    shown(text)
}

fn shown(text: &str) -> Kind {
    // JSON that parses is JSON, whatever its strings look like.
    if json::is_document(text) {
        return Kind::Json;
    }
    let sample = Sample::of(text);
    let mut best = (ENOUGH, Kind::Prose);
    for kind in Kind::ALL {
        let vote = match kind {
            Kind::Json => json::vote(&sample),
            Kind::Html => html::vote(&sample),
            Kind::Code => code::vote(&sample),
            kind => read::vote(&sample, kind),
        };
        if vote > best.0 {
            best = (vote, kind);
        }
    }
    best.1
}
