//! A long selection within a budget: its first and last lines, and counts of the lines between them, by folder and
//! file.
//!
//! ```text
//! src/shelf.rs:1: …
//! ⟨… wb:3f9c1a7b#L41-4960: 4920 lines, counts by folder and file⟩
//! src/ shelf.rs 40  loan.rs 120
//! src/shop/ order.rs 300
//! src/window.rs:90: …
//! ```

use std::collections::HashMap;

use crate::part::PartOfList;
use crate::spans::shown::{self, ShownLevel, ShownPart};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;

/// Maximum number of lines of a selection that is not cut.
pub(crate) const MIN_LINES: usize = 2_000;
/// Minimum share of lines that name a file, in per cent.
const NAMED_PERCENT: usize = 80;
/// Share of the room, in per cent, that the first lines get, and also the last lines.
const END_PERCENT: usize = 40;
/// Minimum number of lines at each end.
const MIN_END: usize = 3;
/// Number of bytes after which a line of counts is wrapped.
const LINE_BYTES: usize = 110;

/// Returns the spans of a long selection that fit into a number of bytes. Returns `None` if the selection is short or
/// its lines name no files.
pub(crate) fn spans(lines: &TextLines<'_>, room: usize) -> Option<Vec<LineSpan>> {
    let count = lines.len();
    let named = lines.iter().filter(|line| place_of(line).is_some()).count();
    if count <= MIN_LINES || named * 100 < count * NAMED_PERCENT {
        return None;
    }
    let bytes = lines.text().len() / count.max(1) + 1;
    let ends = (room * END_PERCENT / 100 / bytes).clamp(MIN_END, count / 4);
    let (middle, tail) = (ends, count - ends);
    let line = |at: usize| {
        let from_end = at.min(count - 1 - at);
        let rank = if from_end < MIN_END { Rank::Must } else { Rank::Context };
        LineSpan::new(lines.span(at), rank)
            .scored(60_000 - u16::try_from(from_end).unwrap_or(u16::MAX).min(60_000))
    };
    let between = lines.spans(middle..tail);
    let told = counts((middle..tail).map(|at| lines.get(at))).into_iter().enumerate();
    let told: Vec<ShownPart> = told
        .map(|(nth, text)| {
            let score = u16::MAX - u16::try_from(nth).unwrap_or(u16::MAX);
            ShownPart { text, level: ShownLevel::Alone, rank: Rank::Frame, score }
        })
        .collect();
    let told = shown::spans(between, &told, "counts by folder and file").collect::<Vec<_>>();
    Some((0..middle).map(line).chain(told).chain((tail..count).map(line)).collect())
}

/// Returns the folder and the file that a line names, either before a line number or alone.
fn place_of(line: &str) -> Option<(&str, &str)> {
    let path = line
        .split(':')
        .next()
        .filter(|path| path.contains(['/', '.']) && !path.contains(['"', '|', '\t']))?;
    let name = path.rfind('/').map_or(0, |at| at + 1);
    // A list of paths is counted by folder.
    let is_path = path.len() == line.len();
    Some((path.get(..name)?, if is_path { "" } else { path.get(name..)? }))
}

/// Returns the counts, with at least one line per folder, in the order in which the folders occur.
fn counts<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut folders: Vec<(&str, Vec<(&str, usize)>)> = Vec::new();
    let (mut known, mut files) = (HashMap::new(), HashMap::new());
    for (folder, name) in lines.filter_map(place_of) {
        let at = *known.entry(folder).or_insert_with(|| {
            folders.push((folder, Vec::new()));
            folders.len() - 1
        });
        let Some((_, counts)) = folders.item_mut(at) else { continue };
        let nth = *files.entry((folder, name)).or_insert(counts.len());
        match counts.get_mut(nth) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let mut told = Vec::new();
    for (folder, files) in folders {
        let mut line = folder.to_owned();
        for (name, count) in files {
            if line.len() > LINE_BYTES {
                told.push(line + "\n");
                line = " ".to_owned();
            }
            line.push_str(&format!(" {name} {count}").replace("  ", " "));
        }
        told.push(line + "\n");
    }
    told
}

#[cfg(test)]
mod tests {
    use crate::{Level, Options, reduce};

    #[test]
    fn a_long_selection_keeps_its_ends_and_counts() {
        let found: String = (0..5_000)
            .map(|n| {
                format!(
                    "src/part{}/file{}.rs:{}:    let total_{n} = shelf.count({n});\n",
                    n / 1_000,
                    n / 100,
                    n % 100 + 1
                )
            })
            .collect();
        let listed: String = (0..5_000).map(|n| format!("./src/part{}/file{n}.rs\n", n / 1_000)).collect();
        for (command, text, first, last, counted) in [
            ("rg -n shelf", &found, "let total_0 =", "let total_4999 =", "file25.rs 100"),
            ("find . -name '*.rs'", &listed, "file0.rs", "file4999.rs", "./src/part2/ 1000"),
        ] {
            let reduced = |level| {
                let options = Options {
                    handle: Some("wb:3f9c1a7be2d04c58"),
                    level,
                    command: Some(command),
                    ..Options::default()
                };
                reduce(text.as_bytes(), &options)
            };
            let short = reduced(Level::Budget(1_500));
            assert!(short.tokens_after <= 1_500, "{}", short.tokens_after);
            for part in [first, last, counted, "counts by folder and file"] {
                assert!(short.text.contains(part), "{part}: {}", short.text);
            }
            assert!(reduced(Level::Fold).lossless);
        }
    }
}
