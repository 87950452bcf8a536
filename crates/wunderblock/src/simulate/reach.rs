//! What a line of a request leads to: it shows a handle or a position, and says what is there.

use super::index::{Index, PositionSource};
use super::names::{Name, keys};
use wunderblock_core::id::Handle;
use wunderblock_core::literal::{LiteralKind, literals};
use wunderblock_core::stub::head;

/// So much of a command must stand in a line for the line to name it, in bytes: summaries and stubs cut long ones.
const COMMAND: usize = 40;

/// Which event stands at each position of a simulated lane; none for the lane's own.
pub(super) type EventsByPosition<'a> = &'a [Option<usize>];

/// What can be read back by the lines of a text: all that stands behind a handle or a position which a line shows, if the
/// line also names the path or the command of it. What a line names itself is not repeated here.
pub(super) fn reach(text: &str, index: &Index, positions: EventsByPosition<'_>) -> Vec<Name> {
    let mut names = Vec::new();
    for line in text.lines() {
        for source in targets(line, index, positions) {
            if source.gists.iter().any(|gist| is_named(line, gist)) {
                names.extend(source.names.iter().copied());
            }
        }
    }
    names
}

/// What a line's handles and positions stand for.
fn targets<'a>(line: &str, index: &'a Index, positions: EventsByPosition<'_>) -> Vec<&'a PositionSource> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("wb:") {
        let digits = line.get(at + 3..at + 19).unwrap_or_default();
        let handle = u64::from_str_radix(digits, 16).ok().map(Handle);
        found.extend(handle.and_then(|handle| index.bodies.get(&handle)));
    }
    for (at, _) in line.match_indices('#') {
        let rest = line.get(at + 1..).unwrap_or_default();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let seq = rest.get(..digits).and_then(|digits| digits.parse::<usize>().ok());
        let event = seq.and_then(|seq| positions.get(seq).copied().flatten());
        found.extend(event.and_then(|event| index.sources.get(event)));
    }
    found
}

/// Whether a line names a path or a command.
fn is_named(line: &str, gist: &str) -> bool {
    let gist = gist.trim();
    let command = head(gist, COMMAND).trim_end();
    if !command.is_empty() && line.contains(command) {
        return true;
    }
    let mut paths = literals(gist).filter(|literal| literal.kind == LiteralKind::Path).peekable();
    if paths.peek().is_none() {
        return false;
    }
    let mut named = Vec::new();
    keys(line, &mut named);
    paths.any(|path| named.contains(&path.key()))
}
