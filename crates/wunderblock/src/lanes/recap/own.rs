//! Recap of a session for the agent that continues it.

use super::gather::Gathered;
use super::size::{RECAP_BYTES, beginning, size};
use crate::request::steps::work::shorten;
use wunderblock_core::fence::{self, plain_line};
use wunderblock_core::quote;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;
use wunderblock_core::work::WorkLog;

/// Maximum number of the user's latest messages.
const WORDS_MAX: usize = 5;

/// First words of every recap.
pub(super) const BEGINNING: &str = "The ledger keeps this session whole: ";

/// Returns the recap. `None` if there is nothing to say.
pub(super) fn write(gathered: &Gathered, guide: &str) -> Option<String> {
    if gathered.words.is_empty() && gathered.plan.is_none() && gathered.work.is_empty() {
        return None;
    }
    // Sizes of parts do not add up exactly: tokens may join or split where parts meet.
    let texts = (1..=10).rev().map(|tenths| compose(gathered, guide, RECAP_BYTES / 10 * tenths));
    texts.into_iter().find(|text| size(text) <= RECAP_BYTES)
}

fn compose(gathered: &Gathered, guide: &str, room: usize) -> String {
    let messages = grouped(gathered.info.messages);
    let first = format!("{BEGINNING}{messages} messages. {guide}\n");
    let mut left = room.saturating_sub(size(&first));
    let mut part = |share: usize, write: &dyn Fn(usize) -> String| {
        let text = write(left * share / 100);
        left = left.saturating_sub(size(&text));
        text
    };
    // The shares are of the room that the parts before leave; the user's words get the rest.
    let work = part(40, &|room| fenced("where the work stands", &work(gathered, room)));
    let plan = part(30, &|room| fenced("the newest plan that the agent presented", &plan(gathered, room)));
    let rules = part(45, &|room| rules(&gathered.rules, room));
    let words = part(100, &|room| words(&gathered.words, room));
    [first, rules, words, plan, work].join("")
}

/// Returns a text as data in its fence, or nothing.
fn fenced(label: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { fence::data(label, text) + "\n" }
}

/// Returns the work log in the form that fits.
fn work(gathered: &Gathered, room: usize) -> String {
    let mut log: WorkLog = gathered.work.clone();
    while !log.is_empty() {
        let text = log.text(gathered.info.handle);
        if size(&fenced("where the work stands", &text)) <= room {
            return text;
        }
        shorten(&mut log);
    }
    String::new()
}

fn plan(gathered: &Gathered, room: usize) -> String {
    let Some((at, plan)) = &gathered.plan else { return String::new() };
    let frame = size(&fenced("the newest plan that the agent presented", "#123456\n"));
    let text = beginning(plan, room.saturating_sub(frame));
    text.map(|text| format!("#{at}\n{text}")).unwrap_or_default()
}

/// Returns the rules that fit, in the order in which they were said. The most certain ones are taken first.
fn rules(rules: &[(Seq, String)], room: usize) -> String {
    let mut left = room.saturating_sub(size(quote::HEADING));
    let mut taken: Vec<(Seq, String)> = Vec::new();
    for (at, rule) in rules {
        let line = format!("- {}\n", plain_line(rule));
        if size(&line) <= left {
            left -= size(&line);
            taken.push((*at, line));
        }
    }
    section(quote::HEADING, taken)
}

/// Returns the user's latest words. Each message gets at most half of the room that is left, so that an older one has
/// room too.
fn words(words: &[(Seq, String)], room: usize) -> String {
    const HEADING: &str = "⟨The user's latest messages, word for word; … marks where one was cut.⟩";
    let mut left = room.saturating_sub(size(HEADING));
    let mut taken = Vec::new();
    for (at, said) in words.iter().take(WORDS_MAX) {
        let lead = format!("#{at}: ");
        let Some(said) = beginning(said, (left / 2).saturating_sub(size(&lead))) else { break };
        let text = format!("{lead}{}\n", visible(&said));
        left = left.saturating_sub(size(&text));
        taken.push((*at, text));
    }
    section(HEADING, taken)
}

/// Returns a heading with its lines in ascending order of their positions, or nothing without lines.
fn section(heading: &str, mut lines: Vec<(Seq, String)>) -> String {
    lines.sort_by_key(|(at, _)| *at);
    if lines.is_empty() {
        return String::new();
    }
    lines.into_iter().fold(format!("{heading}\n"), |text, (_, line)| text + &line)
}

/// Returns a text without control characters, and without the signs of our own headings and fences.
fn visible(text: &str) -> String {
    text.lines().map(plain_line).collect::<Vec<_>>().join("\n")
}
