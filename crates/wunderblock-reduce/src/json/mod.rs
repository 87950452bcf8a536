//! JSON: documents, documents per line, documents inside other text.

mod args;
mod cell;
mod cut;
mod find;
mod fold;
mod layout;
mod schema;
mod tree;
mod undo;
mod write;

pub(crate) use undo::undo_code;

use crate::ask::Asked;
use crate::detect::Sample;
use crate::mark::{Gap, Measure, Told};
use crate::piece::Piece;
use crate::reduce::Goal;
use cut::Cuts;
use layout::Layout;
use tree::Tree;

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
                Goal::Bytes(usize::try_from(bytes as u128 * span.len() as u128 / all.max(1) as u128).unwrap_or(bytes))
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
    let span = tree.span(0);
    let layout = Layout::of(tree);
    let cuts = match goal {
        Goal::Exact => Cuts::default(),
        goal => fold::cuts(tree, goal, asked),
    };
    let layout = match layout {
        Some(layout) if cuts.is_empty() || layout.is_local() => layout,
        _ if goal == Goal::Exact => {
            pieces.push(Piece::Keep(span));
            return;
        }
        _ => {
            pieces.push(Piece::Gap { gap: white_space(tree), shown: None });
            let mut compact = Layout::compact();
            compact.lines = tree.lines;
            if tree.lines {
                compact.root = Some(["", "\n", ""].map(str::to_owned));
            }
            compact
        }
    };
    let args = layout.args();
    let head = if args.is_empty() { "⟨=json⟩".to_owned() } else { format!("⟨=json {args}⟩") };
    let coded = write::pieces(tree, &cuts, span.clone(), (&head, "⟨=⟩"));
    let bytes: usize = coded.iter().map(|piece| if let Piece::Coded { text, .. } = piece { text.len() } else { 0 }).sum();
    if cuts.is_empty() && bytes >= span.len() {
        pieces.retain(|piece| !matches!(piece, Piece::Gap { gap, .. } if gap.span.is_empty()));
        pieces.push(Piece::Keep(span));
    } else {
        pieces.extend(coded);
    }
}

/// Said once at the head where the layout of a shortened document is too irregular to be kept.
fn white_space(tree: &Tree<'_>) -> Gap {
    let span = tree.span(0);
    let gone = span.len().saturating_sub(write::plain_len(tree, 0)) as u64;
    let told = vec![Told { count: Some(gone), what: "white space between values".into() }];
    let (first, last) = (span.start as u64 + 1, span.end as u64);
    Gap { span: span.start..span.start, measure: Measure::Bytes, first, last, within: None, told }
}
