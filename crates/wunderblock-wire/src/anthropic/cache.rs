//! Cache marks tell the API up to which block to cache a request.
//!
//! Source: the API's page on prompt caching (platform.claude.com/docs/en/build-with-claude/prompt-caching). A block
//! carries a mark in its field `cache_control`. A request may contain at most four marks. `cache_control` at the top
//! level is the automatic form: the API itself marks the last block that can carry a mark, which uses up one of the
//! four marks. Thinking and empty texts cannot carry a mark. A tool that is loaded later is not part of the cached
//! content ("Tool use with prompt caching"), so the mark of the tools is placed before that tool.

use crate::json::{ObjectWriter, RawFields, array, list};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use wunderblock_core::request::CachePoint;

/// Field that holds a cache mark.
pub(crate) const FIELD: &str = "cache_control";
/// Mark with the API's default lifetime: five minutes, restarted by each use.
pub(super) const MARK: &str = r#"{"type":"ephemeral"}"#;

/// An encoded block or tool.
pub(super) struct WrittenBlock {
    pub(super) json: String,
    /// Whether the block can carry a mark.
    bears: bool,
    marked: bool,
}

impl WrittenBlock {
    /// Creates an unmarked block. `bears` states whether the block can carry a mark.
    pub(super) fn new(json: String, bears: bool) -> Self {
        // A mark is appended after a comma, which would be invalid in an empty object.
        let bears = bears && json.len() > 2 && json.ends_with('}');
        Self { json, bears, marked: false }
    }

    fn mark(&mut self) {
        if !std::mem::replace(&mut self.marked, true) {
            self.json.pop();
            self.json.push_str(&format!(r#","{FIELD}":{MARK}}}"#));
        }
    }
}

/// Marks the last block that can carry a mark. Returns whether a block could be marked.
pub(super) fn mark_last(blocks: &mut [WrittenBlock]) -> bool {
    let last = blocks.iter_mut().rev().find(|block| block.bears);
    last.is_some_and(|block| {
        block.mark();
        true
    })
}

/// Marks each block whose number is requested, or the nearest block before it that can carry a mark.
pub(super) fn mark_numbered(points: &[CachePoint], blocks: &mut [&mut WrittenBlock]) {
    let Some(last) = blocks.len().checked_sub(1) else { return };
    let number = |point: &CachePoint| match point {
        CachePoint::Block(number) => Some((*number).min(last)),
        _ => None,
    };
    let numbers: BTreeSet<usize> = points.iter().filter_map(number).collect();
    let mut bearer = None;
    for number in 0..=last {
        if blocks.get(number).is_some_and(|block| block.bears) {
            bearer = Some(number);
        }
        if let Some(block) = bearer.filter(|_| numbers.contains(&number)).and_then(|at| blocks.get_mut(at)) {
            block.mark();
        }
    }
}

/// Returns an opaque block without its own marks and without those of the blocks inside it.
pub(super) fn unmarked(raw: &str) -> Cow<'_, str> {
    if !raw.contains(FIELD) {
        return Cow::Borrowed(raw);
    }
    match serde_json::from_str::<&RawValue>(raw).ok().and_then(|raw| without(raw, 2)) {
        Some(written) => Cow::Owned(written),
        None => Cow::Borrowed(raw),
    }
}

/// Returns the object without its marks, or `None` if it has no marks. `levels` is the depth to which blocks are
/// nested in the object. Deeper objects are not changed, because a `cache_control` field in a tool's input is not a
/// mark.
fn without(raw: &RawValue, levels: u8) -> Option<String> {
    let fields = RawFields::of(raw)?.rest();
    let mut changed = false;
    let mut kept: Vec<(String, Cow<'_, str>)> = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        if name == FIELD {
            changed = true;
            continue;
        }
        let inner = match name.as_str() {
            "content" if levels > 0 => each_without(value, levels - 1),
            "source" if levels > 0 => without(value, levels - 1),
            _ => None,
        };
        changed |= inner.is_some();
        kept.push((name, inner.map_or(Cow::Borrowed(value.get()), Cow::Owned)));
    }
    let fields = kept.iter().map(|(name, value)| (name.as_str(), value.as_ref()));
    changed.then(|| ObjectWriter::default().unknown(fields).finish())
}

fn each_without(raw: &RawValue, levels: u8) -> Option<String> {
    let items = list(raw)?;
    let written: Vec<Option<String>> = items.iter().map(|item| without(item, levels)).collect();
    written.iter().any(Option::is_some).then(|| {
        let items = items.iter().zip(written);
        array(&items.map(|(item, new)| new.unwrap_or_else(|| item.get().to_owned())).collect::<Vec<_>>())
    })
}

/// Returns a body without its cache marks. Marks are not content: their places do not change what the provider reads.
#[must_use]
pub fn without_marks(body: &[u8]) -> Cow<'_, [u8]> {
    // Inside a string, the quotes would be escaped, so these bytes are a mark wherever they occur.
    const WRITTEN: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
    let mut rest = body;
    let mut out: Vec<u8> = Vec::new();
    while let Some(at) = memchr::memmem::find(rest, WRITTEN) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + WRITTEN.len()..).unwrap_or_default();
    }
    if rest.len() == body.len() {
        return Cow::Borrowed(body);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Returns whether `after` begins with the first `stem` bytes of `before`, ignoring marks.
#[must_use]
pub fn continues(before: &[u8], stem: usize, after: &[u8]) -> bool {
    let stem = without_marks(before.get(..stem).unwrap_or(before));
    without_marks(after).starts_with(&stem)
}
