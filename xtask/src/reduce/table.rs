//! The figures as tables.

use super::measure::FileReduction;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Figures that others have published, measured on other files. The published figures are a reference, not a
/// comparison.
const OTHERS: &str = "\
Published by others, over other files: Headroom 34.1 % in total, median 0.3 %, lossless 0.04 %, 1.6 MB per CPU second; \
lean-ctx 26.4 %, median 33.1 %, 7 of 25 lossy files not recoverable, 457 of 781 error lines visible, 0.9 MB per CPU second.
";

/// Returns a line per file, a line per kind, and a summary.
pub(super) fn text(rows: &[FileReduction]) -> String {
    let mut out = String::from(
        "| chosen file | kind | bytes | tokens | fold | facts | errors | gaps | head+tail of that size: facts | lossless | at 25 %: tokens | facts | gzip |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let name = row.file.rsplit('/').next().unwrap_or(&row.file);
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |{}",
            row.kind,
            row.bytes,
            row.tokens,
            percent(row.tokens, row.fold.tokens),
            of(row.fold.facts),
            of(row.fold.errors),
            row.fold.gaps,
            of(row.head_tail_facts),
            percent(row.tokens, row.lossless.tokens),
            share(row.budget.tokens, row.tokens),
            of(row.budget.facts),
            row.gzip.map_or("—".to_owned(), |gzip| percent(row.bytes as u64, gzip as u64)),
            if whole(row) { "" } else { " **not whole**" },
        );
    }
    out.push_str("\n| kind | chosen files | tokens | fold | median | facts | errors | head+tail of that size: facts | lossless | at 25 %: facts |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    let mut kinds: BTreeMap<&str, Vec<&FileReduction>> = BTreeMap::new();
    for row in rows {
        kinds.entry(row.kind).or_default().push(row);
    }
    for (kind, rows) in &kinds {
        line(&mut out, kind, rows);
    }
    line(&mut out, "**all**", &rows.iter().collect::<Vec<_>>());
    let broken = rows.iter().filter(|row| !whole(row)).count();
    let bytes: usize = rows.iter().map(|row| row.bytes).sum();
    let speed = |of: fn(&FileReduction) -> f64| bytes as f64 / 1e6 / rows.iter().map(of).sum::<f64>();
    let _ = writeln!(
        out,
        "\n{} chosen files, {bytes} bytes. Every line shown or in a marked gap: {} of {}. {:.1} MB/s with exact counts before and after, {:.1} MB/s without (one thread).\n\n{OTHERS}",
        rows.len(),
        rows.len() - broken,
        rows.len(),
        speed(|row| row.seconds),
        speed(|row| row.seconds_without_counts),
    );
    out
}

/// Returns the facts that are not visible, for each file.
pub(super) fn missing(rows: &[FileReduction]) -> String {
    let mut out = String::new();
    for row in rows {
        for (level, side) in [("fold", &row.fold), ("25 %", &row.budget)] {
            if side.missing.is_empty() && side.whole {
                continue;
            }
            let not_whole = if side.whole { "" } else { ", not whole" };
            let filled = share(side.tokens, row.tokens);
            let _ = writeln!(
                out,
                "{} ({}) at {level}: {}, {filled} of the tokens{not_whole}",
                row.file,
                row.kind,
                of(side.facts)
            );
            for fact in &side.missing {
                let _ = writeln!(out, "    {fact}");
            }
        }
    }
    out
}

fn whole(row: &FileReduction) -> bool {
    row.fold.whole && row.lossless.whole && row.budget.whole
}

fn line(out: &mut String, kind: &str, rows: &[&FileReduction]) {
    let sum = |of: fn(&FileReduction) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    let both = |of: fn(&FileReduction) -> (usize, usize)| {
        rows.iter().map(|row| of(row)).fold((0, 0), |(seen, all), (some, of)| (seen + some, all + of))
    };
    let before = sum(|row| row.tokens);
    let mut saved: Vec<u64> = rows.iter().map(|row| per_mille(row.tokens, row.fold.tokens)).collect();
    saved.sort_unstable();
    let median = saved.get(saved.len() / 2).copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "| {kind} | {} | {before} | {} | {}.{} % | {} | {} | {} | {} | {} |",
        rows.len(),
        percent(before, sum(|row| row.fold.tokens)),
        median / 10,
        median % 10,
        of(both(|row| row.fold.facts)),
        of(both(|row| row.fold.errors)),
        of(both(|row| row.head_tail_facts)),
        percent(before, sum(|row| row.lossless.tokens)),
        of(both(|row| row.budget.facts)),
    );
}

fn per_mille(before: u64, after: u64) -> u64 {
    before.saturating_sub(after) * 1_000 / before.max(1)
}

fn percent(before: u64, after: u64) -> String {
    let saved = per_mille(before, after);
    format!("{}.{} %", saved / 10, saved % 10)
}

fn share(part: u64, whole: u64) -> String {
    format!("{} %", part * 100 / whole.max(1))
}

fn of((some, all): (usize, usize)) -> String {
    format!("{some}/{all}")
}

/// Returns the figures as JSON.
pub(super) fn json(rows: &[FileReduction]) -> serde_json::Result<String> {
    serde_json::to_string(rows)
}
