//! Describes, for people, the content that a compaction removes from the view and the cost of the compaction.

use crate::drawing::columns::{fit, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use wunderblock::{Compacted, LeavingKind};
use wunderblock_core::stub::grouped;

/// Maximum number of items named per kind without `-v`.
const NAMED: usize = 3;

/// Describes the content that leaves the view, and what the compaction costs and saves.
pub(in crate::commands) fn picture(done: &Compacted, paint: Paint, all: bool) -> String {
    let leaving = &done.leaving;
    let mut out = String::new();
    if leaving.entries > 0 {
        let entries = plural(leaving.entries, "entry", "entries");
        let head = format!("leaves the view: {entries}, {} tokens", grouped(leaving.tokens.0));
        out.push_str(&format!("  {}\n", paint.bold(&head)));
        for kind in &leaving.kinds {
            out.push_str(&kind_lines(kind, paint, all));
        }
    }
    if let Some(money) = done.money.filter(|_| done.after > wunderblock_core::units::Tokens::ZERO) {
        let line = format!(
            "cost: about {} for the next request, which writes the cache again, instead of {}; about {} for each later \
             request; without the answers",
            money.next, money.next_without, money.later,
        );
        out.push_str(&wrap(&line, width(), 2));
    }
    out
}

/// Describes items of one kind: how many there are, how many are in the summaries, and which ones are not.
fn kind_lines(kind: &LeavingKind, paint: Paint, all: bool) -> String {
    let untold = kind.untold.len();
    let told = match (kind.count - untold, untold) {
        (_, 0) => "all in the summaries".to_owned(),
        (0, _) => "none in the summaries".to_owned(),
        (told, _) => format!("{} in the summaries", grouped(told as u64)),
    };
    let mut out = format!("    {:<10} {:>5}  {told}\n", kind.name, grouped(kind.count as u64));
    let shown = if all { untold } else { NAMED };
    // The latest items matter most, so they come first.
    for noted in kind.untold.iter().rev().take(shown) {
        let line = format!("missing: #{} {}", noted.at, clean(&noted.text));
        out.push_str(&format!("{:19}{}\n", "", paint.dim(&fit(&line, width().saturating_sub(19)))));
    }
    if untold > shown {
        let more = format!("and {} more; -v lists them", grouped((untold - shown) as u64));
        out.push_str(&format!("{:19}{}\n", "", paint.dim(&more)));
    }
    out
}
