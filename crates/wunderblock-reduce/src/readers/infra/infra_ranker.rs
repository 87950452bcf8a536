//! Ranks each line of an infrastructure tool's output by its class.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::part::PartOfList;
use crate::readers::line::fingerprint;
use crate::result::label::Label;
use crate::rules::{InfraLine, KnownTool};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;

/// Maximum number of equal blocks, equal differences, and steps of one sort that are shown.
const MAX_SHOWN: u32 = 2;
/// Maximum number of rows of the same sort that are shown.
const MAX_ROWS: u32 = 3;
/// Maximum number of rows in a table that is shown whole.
const MAX_WHOLE_ROWS: usize = 20;

/// The worth of a line: rank, score, and the label under which a mark counts it.
type InfraWorth = (Rank, u16, Option<Label>);

pub(super) struct InfraRanker<'r, 't> {
    lines: &'r TextLines<'t>,
    spans: &'r mut [LineSpan],
    /// Hash of the head above. `key` is the key of the resource whose block is open.
    head: u64,
    key: &'t str,
    /// Whether the open block is about a resource that will be destroyed. If the resource will be destroyed, the head
    /// of its block says enough, so the other lines of the block are left out.
    is_gone: bool,
    /// First line of the open block, or of the lines since the last result. `signature` is a hash of the lines from
    /// this first one on.
    from: usize,
    signature: u64,
    counts: HashMap<u64, u32>,
    /// Resources that have a block.
    named: HashSet<&'t str>,
}

impl<'r, 't> InfraRanker<'r, 't> {
    pub(super) fn of(lines: &'r TextLines<'t>, spans: &'r mut [LineSpan]) -> Self {
        let (counts, named) = (HashMap::new(), HashSet::new());
        Self { lines, spans, head: 0, key: "", is_gone: false, from: 0, signature: 0, counts, named }
    }

    pub(super) fn rank(mut self, tool: &KnownTool<InfraLine>) {
        for at in 0..self.lines.len() {
            let line = self.lines.get(at);
            let read = tool.rules.read(line);
            let (rank, score, label) = match read {
                None => (Rank::Context, if line.trim().is_empty() { 0 } else { 10 }, None),
                Some((_, class, parts)) => {
                    if !matches!(class, InfraLine::Vital | InfraLine::Detail | InfraLine::End) {
                        self.close(at);
                        self.from = at + 1;
                    }
                    self.worth(at, class, parts.item, parts.key)
                }
            };
            if let Some(span) = self.spans.item_mut(at) {
                (span.rank, span.score, span.label) = (rank, score, label);
            }
            if matches!(read, Some((_, InfraLine::End, _))) {
                self.close(at + 1);
                self.head = 0;
            }
        }
        self.close(self.lines.len());
    }

    fn worth(&mut self, at: usize, class: InfraLine, item: &'t str, key: &'t str) -> InfraWorth {
        let line = self.lines.get(at);
        match class {
            InfraLine::Total => {
                self.head = fingerprint::exact_hash(line);
                (Rank::Must, 60_000, None)
            }
            // A repeated failure scores lower each time.
            InfraLine::Error => (Rank::Must, 40_000 - self.count(line) as u16 % 9_000, Some(Label::Failed)),
            InfraLine::Block => {
                self.named.insert(item);
                self.is_gone = line.ends_with(" will be destroyed");
                self.key =
                    item.split_once('[').map_or("", |(_, key)| key.trim_end_matches(']').trim_matches('"'));
                // Blocks are a series if they differ only in a key or in the number in their name.
                self.head = fingerprint::masked_hash(item.split('[').next().unwrap_or(item));
                (Rank::Must, 60_000, None)
            }
            InfraLine::Vital | InfraLine::Detail | InfraLine::End
                if self.is_gone && line.trim_start().starts_with(['-', '}']) =>
            {
                (Rank::Filler, 1, None)
            }
            InfraLine::End => (Rank::Context, 10, None),
            InfraLine::Vital | InfraLine::Detail => {
                // Only the name of the resource differs between the blocks of a series, so it is left out of their
                // hash.
                let named = self.key.len() > 1 && !self.key.bytes().all(|byte| byte.is_ascii_digit());
                let said = if named { line.replace(self.key, "") } else { line.to_owned() };
                self.signature = self.signature.rotate_left(5) ^ fingerprint::masked_hash(&said);
                if class == InfraLine::Vital {
                    (Rank::Must, 52_000, None)
                } else {
                    (Rank::Context, 1_000, None)
                }
            }
            InfraLine::Changed => (Rank::Must, 20_000, Some(Label::Changed)),
            InfraLine::Ok => self.few("ok", Rank::Context, Label::Ok),
            InfraLine::Retry => self.few("retry", Rank::Frame, Label::Retries),
            InfraLine::Said => (Rank::Context, 100, None),
            InfraLine::Head => {
                self.head = fingerprint::exact_hash(line);
                (Rank::Frame, 2_000, None)
            }
            InfraLine::Progress => self.few(key, Rank::Frame, Label::Progress),
            InfraLine::Done if self.named.contains(item) => self.few(key, Rank::Frame, Label::Complete),
            InfraLine::Done => (Rank::Must, 5_000, None),
            InfraLine::Row => self.row(at),
        }
    }

    /// Counts an occurrence below the current head, and returns the count.
    fn count(&mut self, what: impl Hash) -> u32 {
        let mut hasher = DefaultHasher::new();
        (self.head, what).hash(&mut hasher);
        let count = self.counts.entry(hasher.finish()).or_default();
        *count += 1;
        *count
    }

    /// Ranks a line whose sort keeps only its first lines.
    fn few(&mut self, sort: &str, rank: Rank, label: Label) -> InfraWorth {
        let shown = self.count(sort) <= MAX_SHOWN;
        (if shown { rank } else { Rank::Filler }, 100, Some(label))
    }

    fn row(&mut self, at: usize) -> InfraWorth {
        let seen = self.count(row_sort(self.lines.get(at)));
        let many = self.lines.len() > MAX_WHOLE_ROWS;
        match () {
            () if !many => (Rank::Context, 10, None),
            () if at <= 3 || at + 2 >= self.lines.len() => (Rank::Frame, 10, None),
            () if seen > MAX_ROWS => (Rank::Filler, 0, None),
            () => (Rank::Context, 10, None),
        }
    }

    /// Ends a block, or a difference before its result. Lines are left out if equal lines have already occurred.
    fn close(&mut self, end: usize) {
        let signature = std::mem::take(&mut self.signature);
        let again = signature != 0 && self.count(signature) > MAX_SHOWN;
        for (nth, span) in self.spans.part_mut(self.from..end).iter_mut().enumerate() {
            if again {
                (span.rank, span.score) = (Rank::Filler, 1);
                span.label = (nth == 0).then_some(Label::AsAbove);
            }
        }
        self.from = end;
    }
}

/// Returns a hash of the sort of a row: its words without the parts that distinguish rows of one sort.
fn row_sort(line: &str) -> u64 {
    let mut sort = 0u64;
    let fields = line.split("  ").map(str::trim).filter(|field| !field.is_empty()).take(6);
    for field in fields.filter(|field| !field.starts_with(|c: char| c.is_ascii_digit())) {
        // The last parts of a pod's name are random.
        let mut stem = field.split(' ').next().unwrap_or(field);
        for _ in 0..2 {
            match stem.rsplit_once('-') {
                Some((rest, last))
                    if last.len() <= 10
                        && (last.len() == 5 || last.bytes().any(|byte| byte.is_ascii_digit())) =>
                {
                    stem = rest
                }
                _ => break,
            }
        }
        sort = sort.rotate_left(9) ^ fingerprint::masked_hash(stem);
    }
    sort
}
