//! JSON: documents, documents per line, documents inside other text.

mod args;
mod cell;
mod cut;
mod find;
mod fold;
mod layout;
mod print;
mod row;
mod schema;
mod tree;
mod undo;
mod worth;

#[cfg(test)]
mod tests;
mod write;

pub(crate) use undo::undo_code;

use crate::ask::Asked;
use crate::goal::Goal;
use crate::mark::{self, Gap, Measure, Told};
use crate::piece::Piece;
use crate::sample::Sample;
use std::collections::HashMap;

use cut::Cuts;
use fold::Width;
use layout::Layout;
use tree::Tree;
use write::Tables;

/// Whether a text is one document, or one per line.
pub(crate) fn is_document(text: &str) -> bool {
    find::document(text).is_some()
}

/// How sure it is that a text contains documents worth their reading.
pub(crate) fn vote(sample: &Sample<'_>) -> u32 {
    find::vote(sample)
}

pub(crate) fn pieces(text: &str, goal: Goal, asked: &Asked) -> Option<Vec<Piece>> {
    let found = match find::document(text) {
        Some(tree) => vec![tree],
        // What was written here before stays as it is.
        None if text.contains("⟨=json") => Vec::new(),
        None => find::within(text),
    };
    let all: usize = found.iter().map(|tree| tree.span(0).len()).sum();
    let mut pieces = Vec::new();
    let mut at = 0;
    for tree in &found {
        let span = tree.span(0);
        if at < span.start {
            pieces.push(Piece::Keep(at..span.start));
        }
        let goal = match goal {
            Goal::Bytes(bytes) => {
                let bytes = bytes.saturating_sub(text.len() - all);
                Goal::Bytes(
                    usize::try_from(bytes as u128 * span.len() as u128 / all.max(1) as u128).unwrap_or(bytes),
                )
            }
            goal => goal,
        };
        document(tree, goal, asked, &mut pieces);
        at = span.end;
    }
    if at < text.len() {
        pieces.push(Piece::Keep(at..text.len()));
    }
    Some(pieces)
}

fn document(tree: &Tree<'_>, goal: Goal, asked: &Asked, pieces: &mut Vec<Piece>) {
    let layout = Layout::of(tree);
    let mut tables = Tables::of(tree);
    let written = match goal {
        Goal::Exact => layout.and_then(|layout| written(tree, &Cuts::default(), Some(&layout), &mut tables)),
        Goal::Fold => {
            let cuts = fold::cuts(tree, Width::STEPS[0], asked, &mut HashMap::new());
            written(tree, &cuts, layout.as_ref(), &mut tables)
        }
        Goal::Bytes(bytes) => within(tree, bytes, layout.as_ref(), asked),
    };
    pieces.extend(written.unwrap_or_else(|| vec![Piece::Keep(tree.span(0))]));
}

/// The document in fewer words, or none where they would not be fewer.
fn written(tree: &Tree<'_>, cuts: &Cuts, layout: Option<&Layout>, tables: &mut Tables) -> Option<Vec<Piece>> {
    let span = tree.span(0);
    if let Some(layout) = layout {
        let pieces = coded(tree, cuts, &layout.around(tree, cuts), tables);
        if cuts.is_empty() || stands_for(&pieces, tree.text) {
            return (size(&pieces) < span.len()).then_some(pieces);
        }
    }
    let mut pieces = vec![Piece::Gap { gap: white_space(tree), shown: None }];
    pieces.extend(coded(tree, cuts, &Layout::compact_as(tree), tables));
    (size(&pieces) < span.len()).then_some(pieces)
}

fn coded(tree: &Tree<'_>, cuts: &Cuts, layout: &Layout, tables: &mut Tables) -> Vec<Piece> {
    let args = layout.args();
    let head = if args.is_empty() { "⟨=json⟩".to_owned() } else { format!("⟨=json {args}⟩") };
    write::pieces(tree, cuts, tables, (&head, "⟨=⟩"))
}

/// Whether pieces with gaps say exactly what the source says around the gaps.
fn stands_for(pieces: &[Piece], source: &str) -> bool {
    let (mut said, mut meant) = (String::new(), String::new());
    for piece in pieces {
        match piece {
            Piece::Coded { span, text } => {
                said.push_str(text);
                mark::escape(source.get(span.clone()).unwrap_or(""), &mut meant);
            }
            Piece::Gap { gap, .. } => {
                let mark = gap.mark(None);
                said.push_str(&mark);
                meant.push_str(&mark);
            }
            Piece::Keep(_) | Piece::Note(_) => return false,
        }
    }
    undone(&said).is_some_and(|undone| undone == meant)
}

/// The text a code as a whole stands for.
fn undone(code: &str) -> Option<String> {
    let (head, body) = code.strip_prefix("⟨=")?.strip_suffix("⟨=⟩")?.split_once('⟩')?;
    let (name, args) = head.split_once(' ').unwrap_or((head, ""));
    undo_code(name, (args, body), usize::MAX)
}

/// What a handle adds to a mark, and the mark of a stretch of bytes, about.
const HANDLE_BYTES: usize = 24;
const MARK_BYTES: usize = 88;

fn size(pieces: &[Piece]) -> usize {
    let of = |piece: &Piece| match piece {
        Piece::Coded { text, .. } => text.len(),
        Piece::Keep(span) => span.len(),
        Piece::Gap { gap, .. } => gap.mark(None).len() + HANDLE_BYTES,
        Piece::Note(note) => note.len(),
    };
    pieces.iter().map(of).sum()
}

/// The widest choice that fits.
fn within(tree: &Tree<'_>, room: usize, layout: Option<&Layout>, asked: &Asked) -> Option<Vec<Piece>> {
    let mut tables = Tables::of(tree);
    let mut worths = HashMap::new();
    let whole = written(tree, &Cuts::default(), layout, &mut tables);
    let mut at = |width: Width| {
        let cuts = fold::cuts(tree, width, asked, &mut worths);
        written(tree, &cuts, layout, &mut tables)
    };
    let full = whole.as_ref().map_or(tree.span(0).len(), |pieces| size(pieces));
    if full <= room {
        return whole;
    }
    for step in Width::STEPS {
        let Some(mut best) = at(step) else { continue };
        let least = size(&best);
        if least > room {
            continue;
        }
        // What is still free goes to what would be left out, everywhere the same share.
        let (mut low, mut high, mut at_low, mut at_high) = (0, 1_000, least, full);
        for turn in 0..6 {
            if (size(&best) * 100 >= room * 96) || high <= low + 1 {
                break;
            }
            let even = (room.saturating_sub(at_low)) * (high - low) / at_high.saturating_sub(at_low).max(1);
            let share = if turn % 2 == 0 { even } else { even.midpoint((high - low) / 2) };
            let more = low + share.clamp(1, high - low - 1);
            let Some(tried) = at(step.with(more)) else { break };
            let tried_size = size(&tried);
            if tried_size <= room {
                (low, at_low, best) = (more, tried_size, tried);
            } else {
                (high, at_high) = (more, tried_size);
            }
        }
        return Some(best);
    }
    Some(cut_off(tree, room))
}

/// What is shown where nothing has a structure to choose by: the beginning.
fn cut_off(tree: &Tree<'_>, room: usize) -> Vec<Piece> {
    let span = tree.span(0);
    let mut at = span.start + room.saturating_sub(MARK_BYTES).min(span.len());
    while !tree.text.is_char_boundary(at) {
        at -= 1;
    }
    let (first, last) = (at as u64 + 1, span.end as u64);
    let gap =
        Gap { span: at..span.end, measure: Measure::Bytes, first, last, within: None, told: Vec::new() };
    vec![Piece::Keep(span.start..at), Piece::Gap { gap, shown: None }]
}

/// Said once at the head where the layout of a shortened document is too irregular to be kept.
fn white_space(tree: &Tree<'_>) -> Gap {
    let span = tree.span(0);
    let gone = span.len().saturating_sub(write::plain_len(tree, 0)) as u64;
    let told = vec![Told { count: Some(gone), what: "white space between values".into() }];
    let (first, last) = (span.start as u64 + 1, span.end as u64);
    Gap { span: span.start..span.start, measure: Measure::Bytes, first, last, within: None, told }
}
