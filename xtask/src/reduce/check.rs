//! Whether a reduced text and its source are still the same thing.

use std::io::Write;
use std::process::{Command, Stdio};
use wunderblock_reduce::{Reduced, invert, unpack};

/// The text as a reader understands it: what is packed is unpacked.
pub(super) fn shown(text: &str) -> String {
    let mut shown = unpack(text).unwrap_or_default();
    shown.push('\n');
    shown.push_str(text);
    shown
}

/// Whether every line of the source stands in the short text, or in a gap that has its mark.
///
/// White space is left out of the comparison; a text that was written again (a page, or one with terminal controls) says
/// so with a gap over all of it, and is compared no further.
pub(super) fn is_whole(source: &str, short: &Reduced) -> bool {
    if short.gaps.is_empty() {
        return invert(&short.text).as_deref() == Some(source) || short.text == source;
    }
    if short.gaps.iter().any(|gap| gap.span == (0..source.len())) || covers(short, source.len()) {
        return true;
    }
    let Some(text) = unpack(&short.text) else { return false };
    let mut kept = String::with_capacity(source.len());
    let mut at = 0;
    for gap in &short.gaps {
        if gap.span.start < at {
            return false;
        }
        kept.push_str(source.get(at..gap.span.start).unwrap_or(""));
        at = gap.span.end;
    }
    kept.push_str(source.get(at..).unwrap_or(""));
    let shown = without_marks(&text);
    bare(&kept).eq(bare(&shown)) || stands_in(&kept, &shown)
}

/// Whether the lines of a text stand in another, in their order. The other may have more: what a mark stands for can be
/// said again in fewer lines, as diagnostics are by message and file.
fn stands_in(kept: &str, shown: &str) -> bool {
    let line = |line: &str| bare(line).collect::<String>();
    let mut shown = shown.lines().map(line);
    kept.lines().map(line).filter(|line| !line.is_empty()).all(|line| shown.any(|other| other == line))
}

/// Whether the gaps have all of the source between them.
fn covers(short: &Reduced, len: usize) -> bool {
    let end = short.gaps.iter().try_fold(0, |at, gap| (gap.span.start == at).then_some(gap.span.end));
    end == Some(len)
}

fn bare(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace())
}

/// The text without gaps' marks and notes. A source's own brackets of that kind are lost too, on both sides.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('⟨') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let inner = from.get('⟨'.len_utf8()..).unwrap_or("");
        let is_ours = ["… ", "×", "and "].iter().any(|beginning| inner.starts_with(beginning));
        let end = inner.find('⟩').filter(|_| is_ours);
        match end {
            Some(end) => rest = inner.get(end + '⟩'.len_utf8()..).unwrap_or(""),
            // Doubled: the source has one.
            None => {
                out.push('⟨');
                rest = inner.strip_prefix('⟨').unwrap_or(inner);
            }
        }
    }
    out.push_str(rest);
    out
}

/// The first and the last bytes, as many as a reduction took.
pub(super) fn head_and_tail(source: &str, bytes: usize) -> String {
    let half = (bytes / 2).min(source.len() / 2);
    let head = source.get(..source.floor_char_boundary(half)).unwrap_or("");
    let tail = source.get(source.ceil_char_boundary(source.len() - half)..).unwrap_or("");
    format!("{head}\n{tail}")
}

/// What gzip makes of it, where there is one.
pub(super) fn gzip(bytes: &[u8]) -> Option<usize> {
    let mut child =
        Command::new("gzip").args(["-6", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(bytes));
        child.wait_with_output().ok()
    })
    .map(|output| output.stdout.len())
}
