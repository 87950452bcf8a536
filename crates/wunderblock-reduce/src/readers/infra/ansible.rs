//! Plays, as Ansible prints them.

use std::collections::HashMap;

use crate::label::Label;
use crate::lines::TextLines;
use crate::readers::fingerprint;
use crate::span::{LineSpan, Rank};

/// Maximum number of equal differences that are shown in one task.
const MAX_SHOWN: u32 = 2;

/// Whether a line heads a play, a task, or the recap.
pub(super) fn is_head(line: &str) -> bool {
    ["PLAY [", "TASK [", "RUNNING HANDLER [", "PLAY RECAP", "PLAY ****", "HANDLER ["]
        .iter()
        .any(|start| line.starts_with(start))
        && line.contains("***")
}

/// The status that a host reports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostStatus {
    Ok,
    Changed,
    Failed,
    Retry,
}

fn parse_status(line: &str) -> Option<HostStatus> {
    let (word, rest) = line.split_once(": [")?;
    match word {
        "ok" | "skipping" | "included" => Some(HostStatus::Ok),
        "changed" => Some(HostStatus::Changed),
        "fatal" | "failed" | "unreachable" | "rescued" => Some(HostStatus::Failed),
        _ if word.starts_with("FAILED - RETRYING") || line.starts_with("FAILED - RETRYING") => {
            Some(HostStatus::Retry)
        }
        _ => rest.contains("UNREACHABLE!").then_some(HostStatus::Failed),
    }
}

pub(super) fn rank_plays(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let mut play = AnsiblePlay::default();
    for at in 0..lines.len() {
        let line = lines.get(at);
        if is_head(line) {
            play.recap = line.starts_with("PLAY RECAP");
            play.task = play.task.wrapping_add(1);
            (play.from, play.signature) = (at + 1, 0);
            let (rank, score) =
                if line.starts_with("TASK") { (Rank::Frame, 2_000) } else { (Rank::Must, 60_000) };
            set_rank(spans, at, rank, score);
            continue;
        }
        if play.recap && !line.trim().is_empty() {
            set_rank(spans, at, Rank::Must, 60_000);
            continue;
        }
        play.line(lines, at, spans);
    }
}

#[derive(Default)]
struct AnsiblePlay {
    recap: bool,
    task: u64,
    /// Where what was printed since the last status began, and what it says.
    from: usize,
    signature: u64,
    shown: HashMap<u64, u32>,
    retries: u32,
    oks: u32,
}

impl AnsiblePlay {
    fn line(&mut self, lines: &TextLines<'_>, at: usize, spans: &mut [LineSpan]) {
        let line = lines.get(at);
        let Some(status) = parse_status(line) else {
            let (rank, score) = if line.starts_with("[ERROR]")
                || line.starts_with("ERROR!")
                || line.starts_with("...ignoring")
                || line.starts_with("FAILED")
            {
                (Rank::Must, 40_000)
            } else if line.starts_with("[WARNING]") || line.starts_with("[DEPRECATION") {
                (Rank::Frame, 500)
            } else if line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---") {
                (Rank::Context, 1_000)
            } else {
                (Rank::Context, 10)
            };
            self.signature = self.signature.rotate_left(5) ^ fingerprint::masked_hash(line);
            set_rank(spans, at, rank, score);
            return;
        };
        let seen = self.shown.entry(self.signature ^ self.task).or_default();
        *seen += 1;
        if *seen > MAX_SHOWN {
            // The same difference again, with other numbers: the host and the item tell enough.
            spans.iter_mut().take(at).skip(self.from).filter(|span| span.rank < Rank::Must).for_each(
                |span| {
                    (span.rank, span.score) = (Rank::Filler, 1);
                },
            );
        }
        (self.from, self.signature) = (at + 1, 0);
        let payload = line.contains("=> {");
        let (rank, score, label) = match status {
            HostStatus::Failed => (Rank::Must, 50_000, Some(Label::Failed)),
            HostStatus::Changed => (Rank::Must, 20_000, Some(Label::Changed)),
            HostStatus::Retry => {
                self.retries += 1;
                (if self.retries <= 2 { Rank::Frame } else { Rank::Filler }, 0, Some(Label::Retries))
            }
            HostStatus::Ok if payload => (Rank::Context, 100, Some(Label::Ok)),
            HostStatus::Ok => {
                self.oks += 1;
                (if self.oks <= 2 { Rank::Context } else { Rank::Filler }, 0, Some(Label::Ok))
            }
        };
        set_rank(spans, at, rank, score);
        if let Some(span) = spans.get_mut(at) {
            span.label = label;
        }
    }
}

fn set_rank(spans: &mut [LineSpan], at: usize, rank: Rank, score: u16) {
    if let Some(span) = spans.get_mut(at) {
        (span.rank, span.score) = (rank, score);
    }
}
