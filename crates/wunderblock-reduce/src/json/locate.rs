//! Finds JSON in a text.

use super::tree::{JsonTree, SPACE};
use crate::part::{PartOfList, PartOfText};
use crate::text::sample::LineSample;

/// Minimum size of a document within another text, in bytes. Shorter documents stay as they are.
const MIN_DOCUMENT_BYTES: usize = 256;
/// Maximum number of bytes after the point where a document is cut off; these bytes hold the note of the harness that
/// cut it.
const MAX_AFTER_CUT: usize = 400;
/// Maximum number of bytes between two documents that are on separate lines and are read together.
const MAX_BETWEEN: usize = 1_000;

/// Returns the text as one document, possibly cut off, or as one document per line.
pub(super) fn find_document(text: &str) -> Option<JsonTree<'_>> {
    let start = text.strip_prefix('\u{feff}').map_or(0, |_| '\u{feff}'.len_utf8());
    let rest = text.get(start..)?;
    let at = start + rest.find(|c: char| !SPACE.contains(&c))?;
    if !matches!(text.as_bytes().get(at), Some(b'{' | b'[')) {
        return None;
    }
    match JsonTree::whole(text, at, false) {
        Ok(tree) => {
            let after = text.get(tree.node(0).end as usize..)?;
            if after.trim_start_matches(SPACE).is_empty() {
                return Some(tree);
            }
            drop(tree);
            JsonTree::lines(text, at..text.len(), false).ok()
        }
        Err(stop) if text.len() - stop.0.min(text.len()) <= MAX_AFTER_CUT => find_cut(text, at),
        Err(_) => None,
    }
}

/// Returns the cut-off document that begins at a given byte, if enough of the document is present.
fn find_cut(text: &str, at: usize) -> Option<JsonTree<'_>> {
    JsonTree::cut(text, at).filter(|tree| tree.span(0).len() >= MIN_DOCUMENT_BYTES)
}

/// Returns the documents in a text, in order. Each document starts at the beginning of a line, and either ends at the
/// end of a line or is cut off.
pub(super) fn find_documents(text: &str) -> Vec<JsonTree<'_>> {
    let mut found: Vec<JsonTree<'_>> = Vec::new();
    let bytes = text.as_bytes();
    // A text of brackets that never close would be read to the end from each bracket, so the work is limited.
    let mut patience = 4 * text.len();
    let mut line = 0;
    let line_after =
        |at: usize| memchr::memchr(b'\n', bytes.part(at..)).map_or(text.len(), |end| at + end + 1);
    while line < text.len() && patience > 0 {
        let rest = text.part(line..);
        let at = line + (rest.len() - rest.trim_start_matches([' ', '\t']).len());
        line = line_after(at);
        if !matches!(bytes.get(at), Some(b'{' | b'[')) {
            continue;
        }
        let tree = match JsonTree::value(text, at, false) {
            Ok(tree) => {
                let end = tree.node(0).end as usize;
                patience = patience.saturating_sub(end - at);
                let after = text.part(end..).trim_start_matches([' ', '\t', '\r']);
                (after.is_empty() || after.starts_with('\n')).then_some(tree)
            }
            Err(stop) => {
                let read = stop.0.saturating_sub(at);
                patience = patience.saturating_sub(2 * read);
                if read >= 4 * MIN_DOCUMENT_BYTES { find_cut(text, at) } else { None }
            }
        };
        if let Some(tree) = tree {
            line = line_after(tree.node(0).end as usize);
            found.push(tree);
        }
    }
    join_documents(text, found)
}

/// Joins documents on consecutive lines into one.
fn join_documents<'t>(text: &'t str, found: Vec<JsonTree<'t>>) -> Vec<JsonTree<'t>> {
    let mut all: Vec<JsonTree<'t>> = Vec::new();
    let mut run: Vec<JsonTree<'t>> = Vec::new();
    let mut end_run = |run: &mut Vec<JsonTree<'t>>| {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let span = first.span(0).start..last.span(0).end;
        match JsonTree::lines(text, span, false) {
            Ok(tree) if tree.span(0).len() >= MIN_DOCUMENT_BYTES && run.len() > 1 => all.push(tree),
            _ => all.extend(run.drain(..).filter(|tree| tree.span(0).len() >= MIN_DOCUMENT_BYTES)),
        }
        run.clear();
    };
    for tree in found {
        let follows = run.last().is_some_and(|before| {
            tree.span(0).start - before.span(0).end <= MAX_BETWEEN
                && [before, &tree].iter().all(|tree| tree.open.is_empty() && !tree.source(0).contains('\n'))
        });
        if !follows {
            end_run(&mut run);
        }
        run.push(tree);
    }
    end_run(&mut run);
    all
}

/// Returns, as the vote, the percentage of a sample's bytes that are JSON. Below 40 % the vote is 0.
pub(super) fn vote(sample: &LineSample<'_>) -> u32 {
    let opens = |line: &str| line.trim_start().starts_with(['{', '[']);
    if sample.count(opens) == 0 {
        return 0;
    }
    let bytes: usize = find_documents(sample.text).iter().map(|tree| tree.span(0).len()).sum();
    let share = bytes as u128 * 100 / (sample.text.len() as u128).max(1);
    if share < 40 { 0 } else { u32::try_from(share.min(95)).unwrap_or(0) }
}
