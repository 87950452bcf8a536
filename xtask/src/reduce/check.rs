//! Compares a reduced text with its source.

use std::io::Write;
use std::process::{Command, Stdio};
use wunderblock_reduce::{Reduced, invert, unpack};

/// Returns the text as a reader understands it: the unpacked parts, followed by the text itself.
pub(super) fn shown(text: &str) -> String {
    let mut shown = unpack(text).unwrap_or_default();
    shown.push('\n');
    shown.push_str(text);
    shown
}

/// Returns whether every line of the source occurs in the short text or in a gap that has a mark.
///
/// White space is ignored. A text that was rewritten as a whole (a web page, or output with terminal controls) has
/// one gap over the whole source, and is not compared further.
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

/// Returns whether the lines of a text occur in another text in the same order. The other text may have more lines: a
/// reduction can restate marked content in fewer lines, as for diagnostics grouped by message and file.
fn stands_in(kept: &str, shown: &str) -> bool {
    let line = |line: &str| bare(line).collect::<String>();
    let mut shown = shown.lines().map(line);
    kept.lines().map(line).filter(|line| !line.is_empty()).all(|line| shown.any(|other| other == line))
}

/// Returns whether the gaps together cover the whole source.
fn covers(short: &Reduced, len: usize) -> bool {
    let end = short.gaps.iter().try_fold(0, |at, gap| (gap.span.start == at).then_some(gap.span.end));
    end == Some(len)
}

fn bare(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace())
}

/// Returns the text without the marks and notes of gaps. If the source contains brackets of the same kind, they are
/// removed from both texts.
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
            // A bracket of the source is doubled in the text.
            None => {
                out.push('⟨');
                rest = inner.strip_prefix('⟨').unwrap_or(inner);
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns the start and the end of the source, with as many bytes in total as a reduction kept.
pub(super) fn head_and_tail(source: &str, bytes: usize) -> String {
    let half = (bytes / 2).min(source.len() / 2);
    let head = source.get(..source.floor_char_boundary(half)).unwrap_or("");
    let tail = source.get(source.ceil_char_boundary(source.len() - half)..).unwrap_or("");
    format!("{head}\n{tail}")
}

/// Returns the size of the gzipped bytes, or `None` if gzip is not installed.
pub(super) fn gzip(bytes: &[u8]) -> Option<usize> {
    let mut child =
        Command::new("gzip").args(["-6", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    // Writing needs its own thread: gzip blocks when its output pipe is full and nobody reads it.
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(bytes));
        child.wait_with_output().ok()
    })
    .map(|output| output.stdout.len())
}
