//! Digest of a project's last sessions for the agent that begins a new one.

use super::gather::Gathered;
use super::size::{DIGEST_BYTES, beginning, size};
use wunderblock_core::fence::{self, plain_line};
use wunderblock_core::units::Millis;
use wunderblock_core::work::{FileChange, LastCheck};

/// Maximum size of a message in a digest, in bytes.
const WORDS_BYTES: usize = 240;
/// Maximum number of each kind of line about a session.
const LINES_MAX: usize = 4;
/// Maximum number of files of a session.
const FILES_MAX: usize = 6;

/// Returns the digest of sessions, latest first. `None` if they contain nothing to say.
pub(super) fn write(past: &[Gathered], now: Millis) -> Option<String> {
    let frame = size(&fence::data(LABEL, ""));
    let room = DIGEST_BYTES.saturating_sub(frame);
    let texts = (1..=10).rev().map(|tenths| compose(past, now, room / 10 * tenths));
    let text = texts.into_iter().find(|text| size(text) <= room).filter(|text| !text.is_empty())?;
    Some(fence::data(LABEL, &text))
}

/// Label of the fence.
const LABEL: &str = "the last sessions of this project, from the ledger that keeps them whole";

/// Returns a block of lines for each session. A session gets an equal share of the room that is left.
fn compose(past: &[Gathered], now: Millis, room: usize) -> String {
    let mut left = room;
    let mut text = String::new();
    for (index, session) in past.iter().enumerate() {
        let block = block(session, now, left / (past.len() - index));
        left = left.saturating_sub(size(&block));
        text.push_str(&block);
    }
    text
}

fn block(session: &Gathered, now: Millis, room: usize) -> String {
    let info = &session.info;
    let agent = info.scope.agent.as_deref().unwrap_or("session");
    let mut text = format!("{}, {}, {}\n", plain_line(agent), info.said_at.ago(now), info.handle);
    let head = text.len();
    for line in lines(session) {
        if size(&text) + size(&line) < room {
            text.push_str(&line);
            text.push('\n');
        }
    }
    // A session of which nothing is known is left out.
    if text.len() == head { String::new() } else { text }
}

/// Returns the lines about a session, the most useful first. Nothing in them is a sentence of a model: lists, plans and
/// titles are left out.
fn lines(session: &Gathered) -> Vec<String> {
    let said = |(at, words): &(_, String)| {
        let words = beginning(&plain_line(words), WORDS_BYTES)?;
        Some(format!("- user, #{at}: \"{words}\""))
    };
    let changed = session.work.files.iter().filter(|file| file.change != FileChange::Read);
    let files: Vec<&str> = changed.map(|file| &*file.path).take(FILES_MAX).collect();
    let files = (!files.is_empty()).then(|| format!("- changed: {}", files.join(", ")));
    let mut lines: Vec<String> = session.words.iter().take(1).filter_map(said).collect();
    lines.extend(files);
    // Of a check, only its name and its outcome: the line that it reported is a tool's.
    let result = |check: &LastCheck| LastCheck { told: Box::default(), ..check.clone() }.line();
    lines.extend(session.work.checks.iter().take(LINES_MAX).map(result));
    lines.extend(session.words.iter().skip(1).take(LINES_MAX).filter_map(said));
    lines
}
