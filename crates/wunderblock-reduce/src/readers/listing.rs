//! Listings of files, packages and processes: one item per line.

mod listing_row;

use std::collections::HashMap;
use std::ops::Range;

use crate::part::PartOfList;
use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use super::line::fingerprint;
use super::short_gaps;
use listing_row::{ListingFormat, ListingRows};

/// Maximum number of entries in a group that is shown whole.
const MAX_WHOLE: usize = 12;
/// Number of entries that stay at the start of a larger group, and for each sort of entry in the group.
const HEAD_ENTRIES: usize = 3;
/// Number of entries that stay at the end of a larger group.
const TAIL_ENTRIES: usize = 2;
/// Minimum number of entries in a series of similar entries.
const MIN_SERIES: u32 = 4;
/// Minimum number of rows that a series must have in a gap for the mark to name the series. A mark names at most
/// `MAX_TOLD` series.
const MIN_TOLD: usize = 4;
const MAX_TOLD: usize = 3;
/// Maximum number of the largest entries, and of the newest entries, that stay in a group.
const MAX_EXTREMES: usize = 2;
/// Minimum number of sizes that stay. If a fifth of all sizes is more than this minimum, a fifth of them stays.
const MIN_SIZES: usize = 30;
/// Maximum number of names that are kept because they mention a failure. If more names mention a failure, none of
/// them is kept for that reason.
const MAX_FAILURES: usize = 24;
/// Maximum number of processes that stay because of their resource use.
const MAX_BUSY: usize = 8;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let form = listing_row::detect_format(&sample.lines);
    form.map_or(0, |(_, vote)| vote)
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let sample = LineSample::of(lines.text());
    let Some((form, _)) = listing_row::detect_format(&sample.lines) else {
        return super::document::prose::spans(lines);
    };
    let rows = listing_row::parse_rows(lines, form);
    let mut spans: Vec<LineSpan> =
        (0..lines.len()).map(|line| LineSpan::new(lines.span(line), Rank::Context)).collect();
    if form == ListingFormat::Processes {
        rank_processes(&rows, &mut spans);
        short_gaps::close_short(&mut spans);
        return spans;
    }
    let nested = VendorFolders::of(&rows);
    let mut judge = ListingRanker { rows: &rows, spans: &mut spans, folds: rows.len() > 2 * MAX_WHOLE };
    for group in group_rows(&rows, form) {
        judge.group(&group);
    }
    if form == ListingFormat::Sizes {
        judge.sizes();
    }
    judge.wrong(lines);
    judge.vendored(&nested);
    if form == ListingFormat::Tree {
        judge.repeated();
    }
    short_gaps::close_short(&mut spans);
    describe_series(&rows, &mut spans);
    spans
}

/// Names the series in each gap and the number of rows of each series, because the gap may contain other rows too. A
/// bare `like rc2.d` would describe 34 entries of `/etc`, although 28 of them are not directories like it.
fn describe_series(rows: &ListingRows<'_, '_>, spans: &mut [LineSpan]) {
    let is_untold = |span: &LineSpan| span.rank == Rank::Filler && span.label.is_none();
    let mut rows = rows.iter();
    for run in spans.chunk_by_mut(|span, next| is_untold(span) == is_untold(next)) {
        let names = rows.by_ref().take(run.len()).map(|row| row.name);
        if !run.first().is_some_and(is_untold) {
            names.for_each(drop);
            continue;
        }
        let mut series: HashMap<u64, (usize, &str)> = HashMap::new();
        names.for_each(|name| series.entry(fingerprint::masked_hash(name)).or_insert((0, name)).0 += 1);
        let mut largest: Vec<_> = series.into_values().filter(|(count, _)| *count >= MIN_TOLD).collect();
        largest.sort_unstable_by_key(|(count, name)| (std::cmp::Reverse(*count), *name));
        let told: Vec<_> =
            largest.iter().take(MAX_TOLD).map(|(count, name)| format!("{count} like {name}")).collect();
        if let Some(first) = run.first_mut().filter(|_| !told.is_empty()) {
            first.set_description(Some(told.join(", ").into()));
        }
    }
}

/// Returns the rows that belong together: those of one folder, or those of one parent in a tree.
fn group_rows(rows: &ListingRows<'_, '_>, form: ListingFormat) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut parents: Vec<usize> = Vec::new();
    let mut section = 0u64;
    for (at, row) in rows.iter().enumerate() {
        if row.is_head {
            section += 1;
            continue;
        }
        let key = match form {
            ListingFormat::Tree => {
                parents.truncate(usize::from(row.depth));
                let parent = parents.last().map_or(0, |parent| *parent as u64 + 1);
                parents.push(at);
                parent
            }
            ListingFormat::Paths | ListingFormat::Sizes => fingerprint::exact_hash(row.folder),
            _ => section,
        };
        let group = *known.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        if let Some(group) = groups.item_mut(group) {
            group.push(at);
        }
    }
    groups
}

struct ListingRanker<'r, 't> {
    rows: &'r ListingRows<'r, 't>,
    spans: &'r mut [LineSpan],
    folds: bool,
}

impl ListingRanker<'_, '_> {
    fn set(&mut self, at: usize, rank: Rank, score: u16) -> Option<&mut LineSpan> {
        let span = self.spans.item_mut(at)?;
        (span.rank, span.score) = (rank, score);
        Some(span)
    }

    /// Keeps names that mention a failure, if there are few such names. People list a folder of logs to find the
    /// failures.
    fn wrong(&mut self, lines: &TextLines<'_>) {
        let wrong: Vec<usize> = (0..lines.len().min(self.rows.len()))
            .filter(|at| fingerprint::mentions_failure(lines.get(*at)))
            .collect();
        if wrong.len() <= MAX_FAILURES {
            for at in wrong {
                self.set(at, Rank::Must, 1_500);
            }
        }
    }

    /// Ranks the entries of one folder. The first and last entries, the largest and the newest, and some of each sort
    /// stay. The rest of a series, or of a large group, is filler.
    fn group(&mut self, group: &[usize]) {
        let mut alike: HashMap<u64, u32> = HashMap::new();
        let mut sorts: HashMap<u64, u32> = HashMap::new();
        for row in group.iter().filter_map(|at| self.rows.item(*at)) {
            *alike.entry(fingerprint::masked_hash(row.name)).or_default() += 1;
            *sorts.entry(row.sort()).or_default() += 1;
        }
        let extremes = self.extremes(group);
        let many = self.folds && group.len() > MAX_WHOLE;
        let crowd = group.len() > 2 * MAX_WHOLE;
        let mut shown: HashMap<u64, u32> = HashMap::new();
        let last = group.len();
        for (nth, at) in group.iter().enumerate() {
            let Some(row) = self.rows.item(*at) else { continue };
            let (series, sort) = (fingerprint::masked_hash(row.name), row.sort());
            let in_series = alike.get(&series).is_some_and(|count| *count >= MIN_SERIES);
            let of_sort = sorts.get(&sort).copied().unwrap_or(0);
            let seen = shown.entry(if in_series { series } else { sort }).or_default();
            *seen += 1;
            let early = *seen <= if in_series { 2 } else { HEAD_ENTRIES as u32 + of_sort / 16 };
            let (rank, score) = if row.is_odd {
                (Rank::Must, 3_000)
            } else if extremes.contains(at) {
                (Rank::Must, 2_000)
            } else if nth == 0 {
                (Rank::Frame, 2_000)
            } else if !many || nth < HEAD_ENTRIES || nth + TAIL_ENTRIES >= last {
                (if many { Rank::Frame } else { Rank::Context }, 500)
            } else if of_sort == 1 {
                (Rank::Context, 400)
            } else if (in_series || crowd) && !early {
                (Rank::Filler, 1)
            } else {
                (Rank::Context, 100)
            };
            self.set(*at, rank, score);
        }
    }

    /// Returns the largest entries of a group, and the newest.
    fn extremes(&self, group: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        if group.len() <= MAX_WHOLE {
            return found;
        }
        let row = |at: &usize| self.rows.item(*at);
        found.extend(largest(group, |at| row(at).map_or(0, |row| row.size)));
        let time = |at: &usize| row(at).map_or(0, |row| row.time);
        let mut times: Vec<u32> = group.iter().map(time).collect();
        let middle = (times.len() - 1) / 2;
        let (_, middle, later) = times.select_nth_unstable(middle);
        // If no time is later than the median, no entry is clearly the newest.
        if later.iter().any(|time| time > middle) {
            found.extend(largest(group, |at| time(at).into()));
        }
        found
    }

    /// Keeps the largest sizes, because people list sizes to find them.
    fn sizes(&mut self) {
        let mut order: Vec<(u64, usize)> =
            self.rows.iter().enumerate().map(|(at, row)| (row.size, at)).collect();
        order.sort_by_key(|(size, at)| (std::cmp::Reverse(*size), *at));
        let stay = MIN_SIZES.max(order.len() / 5);
        for (nth, (size, at)) in order.into_iter().enumerate() {
            let Some(span) = self.spans.item_mut(at) else { continue };
            let score = 5_000 - u16::try_from(nth).unwrap_or(u16::MAX).min(4_000);
            if nth < MIN_SIZES / 3 && size > 0 {
                (span.rank, span.score) = (Rank::Must, score);
            } else if nth < stay {
                (span.rank, span.score) = (span.rank.max(Rank::Context), score);
            } else if self.folds {
                (span.rank, span.score, span.label) = (Rank::Filler, 1, Some(Label::Smaller));
            }
        }
    }

    /// Folds the content of folders that tools fill in a project, such as dependencies. The first line of each folder
    /// stays.
    fn vendored(&mut self, nested: &VendorFolders) {
        for folder in &nested.folders {
            for (nth, at) in folder.clone().enumerate() {
                let (rank, score) = if nth == 0 { (Rank::Frame, 1_000) } else { (Rank::Filler, 0) };
                if let Some(span) = self.set(at, rank, score) {
                    span.label = (nth > 0).then_some(Label::Vendored);
                }
            }
        }
    }

    /// Folds packages in a tree that have already been shown with all their dependencies. Some tools mark repeated
    /// packages, and others list them again.
    fn repeated(&mut self) {
        let mut seen: HashMap<u64, ()> = HashMap::new();
        let rows = self.rows;
        for (at, row) in rows.iter().enumerate() {
            if row.depth < 2 || !row.name.contains(' ') {
                continue;
            }
            let name = row.name.trim_end_matches(" (*)").trim_end_matches(" deduped");
            let again = seen.insert(fingerprint::exact_hash(name), ()).is_some();
            if again
                && self.folds
                && row.depth >= 2
                && let Some(span) = self.set(at, Rank::Filler, 0)
            {
                span.label = Some(Label::ShownBefore);
            }
        }
    }
}

/// Returns the entries of a group with the highest numbers. Zero does not count.
fn largest(group: &[usize], number: impl Fn(&usize) -> u64) -> Vec<usize> {
    let mut found: Vec<(u64, usize)> = Vec::with_capacity(MAX_EXTREMES + 1);
    for at in group {
        let number = number(at);
        // Among equal numbers, the first entries stay first.
        let place = found.partition_point(|(more, _)| *more >= number);
        if number > 0 && place < MAX_EXTREMES {
            found.insert(place, (number, *at));
            found.truncate(MAX_EXTREMES);
        }
    }
    found.into_iter().map(|(_, at)| at).collect()
}

/// Ranges of rows within folders that tools fill: `node_modules`, `target`, `.git`.
struct VendorFolders {
    folders: Vec<Range<usize>>,
}

impl VendorFolders {
    fn of(rows: &ListingRows<'_, '_>) -> Self {
        let mut folders: Vec<Range<usize>> = Vec::new();
        let mut path: Option<&str> = None;
        let mut outside = 0;
        for (at, row) in rows.iter().enumerate() {
            let vendor = row.vendor();
            outside += usize::from(vendor.is_none() && !row.name.is_empty());
            match (vendor, path, folders.last_mut()) {
                (Some(vendor), Some(before), Some(folder)) if vendor == before && folder.end == at => {
                    folder.end = at + 1
                }
                (Some(_), ..) => folders.push(at..at + 1),
                _ => {}
            }
            path = vendor;
        }
        // A listing with hardly any rows outside the folders that tools fill was requested in order to see those
        // folders.
        if outside < 3 {
            folders.clear();
        }
        folders.retain(|folder| folder.len() > 3);
        Self { folders }
    }
}

/// Ranks processes: those that use the most resources must stay, and so must a few of each command.
fn rank_processes(rows: &ListingRows<'_, '_>, spans: &mut [LineSpan]) {
    let mut busiest: Vec<(u64, usize)> =
        rows.iter().enumerate().filter(|(_, row)| row.size > 0).map(|(at, row)| (row.size, at)).collect();
    busiest.sort_by_key(|(use_, at)| (std::cmp::Reverse(*use_), *at));
    let busiest: Vec<usize> = busiest.into_iter().take(MAX_BUSY).map(|(_, at)| at).collect();
    let many = rows.len() > 2 * MAX_WHOLE;
    let mut seen: HashMap<u64, u32> = HashMap::new();
    for (at, (row, span)) in rows.iter().zip(spans).enumerate() {
        let command = seen.entry(row.sort()).or_default();
        *command += u32::from(!row.is_head);
        let kernel = row.name.starts_with('[') && row.name.ends_with(']');
        (span.rank, span.score) = if row.is_head {
            (Rank::Frame, 3_000)
        } else if row.is_odd || busiest.contains(&at) {
            (Rank::Must, 2_000)
        } else if many && kernel {
            (Rank::Filler, 0)
        } else if many && *command > HEAD_ENTRIES as u32 {
            (Rank::Filler, 1)
        } else {
            (Rank::Context, if row.size > 0 { 500 } else { 100 })
        };
        span.label = if kernel { Some(Label::KernelThreads) } else { None };
    }
}

#[cfg(test)]
mod tests;
