//! Evidence recall, by number of hits and by tokens, with intervals.

use super::searched::{Ranking, Searched, Shown};
use super::sets::Record;
use crate::program::ChoreResult;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wunderblock_index::{Arm, Profiles, Weights};

const NUMBERS: [usize; 4] = [5, 10, 20, 50];
const TOKENS: [usize; 5] = [512, 1_024, 2_048, 4_096, 8_192];
/// Characters of a token.
const CHARS: usize = 4;
/// Hits that are ranked for a question: enough for 8,192 tokens of short turns.
const LIMIT: usize = 1_000;
/// Draws of a bootstrap.
const DRAWS: usize = 1_000;

/// What is measured of one question: shares of its evidence, in the order of [`HEADS`].
type Row = [f64; 12];

const HEADS: [&str; 12] =
    ["R@1", "R@5", "R@10", "R@20", "R@50", "512", "1k", "2k", "4k", "8k", "MRR", "nDCG@10"];

/// Column by which variants are compared.
const R10: usize = 2;

fn measure(shown: &[Shown], evidence: &[usize]) -> Row {
    let is_evidence = |shown: &&Shown| evidence.contains(&shown.turn);
    let whole = evidence.len().max(1) as f64;
    let found = |n: usize| shown.iter().take(n).filter(is_evidence).count() as f64 / whole;
    let within = |tokens: usize| {
        let mut left = tokens * CHARS;
        let fits = |shown: &&Shown| {
            let fits = shown.chars <= left;
            left -= if fits { shown.chars } else { 0 };
            fits
        };
        shown.iter().filter(fits).filter(is_evidence).count() as f64 / whole
    };
    let first = shown.iter().position(|shown| is_evidence(&shown)).map_or(0.0, |at| 1.0 / (at + 1) as f64);
    let gain = |at: usize| 1.0 / ((at + 2) as f64).log2();
    let gained: f64 =
        shown.iter().take(10).enumerate().filter(|(_, one)| is_evidence(one)).map(|(at, _)| gain(at)).sum();
    let ideal: f64 = (0..evidence.len().min(10)).map(gain).sum();
    let (n, t) = (NUMBERS.map(found), TOKENS.map(within));
    [
        found(1),
        n[0],
        n[1],
        n[2],
        n[3],
        t[0],
        t[1],
        t[2],
        t[3],
        t[4],
        first,
        gained / ideal.max(f64::MIN_POSITIVE),
    ]
}

/// Measures every question.
fn rows(all: &[Searched<'_>], by: &Ranking) -> ChoreResult<Vec<Row>> {
    let mut rows = Vec::new();
    for searched in all {
        for asked in &searched.record.questions {
            let shown = searched.shown(&searched.rank(asked, by, LIMIT)?);
            rows.push(measure(&shown, &asked.evidence));
        }
    }
    Ok(rows)
}

fn column(row: &Row, at: usize) -> f64 {
    row.get(at).copied().unwrap_or_default()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = values.len().max(1);
    values.sum::<f64>() / len as f64
}

/// Returns the bounds between which 95 % of the means of draws with replacement are.
fn interval(values: &[f64]) -> (f64, f64) {
    let mut state = 20_310_504_u64;
    let mut draw = || {
        // Marsaglia, "Xorshift RNGs", 2003.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values.get(state as usize % values.len()).copied().unwrap_or_default()
    };
    let mut means: Vec<f64> =
        (0..DRAWS).map(|_| values.iter().map(|_| draw()).sum::<f64>() / values.len() as f64).collect();
    means.sort_by(f64::total_cmp);
    let bound = |at: usize| means.get(at).copied().unwrap_or_default();
    (bound(DRAWS / 40), bound(DRAWS - DRAWS / 40 - 1))
}

/// Returns Markdown tables. Some arms are left out in turn.
pub(super) fn report(records: &[Record], by: &Ranking, left_out: &[Arm]) -> ChoreResult<String> {
    let all = records.iter().map(Searched::new).collect::<ChoreResult<Vec<_>>>()?;
    let questions: usize = records.iter().map(|record| record.questions.len()).sum();
    if questions == 0 {
        return Err("the paths have no question with evidence".into());
    }
    let (index, text) = all.iter().map(Searched::bytes).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let turns: usize = records.iter().map(|record| record.turns.len()).sum();
    let mut out = format!(
        "{questions} questions, {turns} messages; index {:.2} of the text\n\n",
        index as f64 / text as f64
    );
    let _ = writeln!(out, "| | n | {} |\n|---|--:|{}", HEADS.join(" | "), "--:|".repeat(HEADS.len()));
    let mut line = |name: &str, rows: &[&Row]| {
        let cells: Vec<String> = (0..HEADS.len())
            .map(|at| format!("{:.1}", 100.0 * mean(rows.iter().map(|row| column(row, at)))))
            .collect();
        let _ = writeln!(out, "| {name} | {} | {} |", rows.len(), cells.join(" | "));
    };
    let fitted = rows(&all, by)?;
    line("all", &fitted.iter().collect::<Vec<_>>());
    let mut kinds: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for (asked, row) in records.iter().flat_map(|record| &record.questions).zip(&fitted) {
        kinds.entry(&asked.kind).or_default().push(row);
    }
    for (kind, rows) in kinds {
        line(kind, &rows);
    }
    let own: Vec<f64> = fitted.iter().map(|row| column(row, R10)).collect();
    let (low, high) = interval(&own);
    let _ = writeln!(out, "\nR@10: 95 % between {:.1} and {:.1}.", 100.0 * low, 100.0 * high);
    out.push_str("\n| without | R@10 | 95 % | nDCG@10 |\n|---|--:|--:|--:|\n");
    for arm in left_out {
        let without = |weights: &Weights| {
            let mut weights = *weights;
            weights.set(*arm, 0);
            weights
        };
        let profiles = Profiles { chat: without(&by.profiles.chat), agent: without(&by.profiles.agent) };
        let less = Ranking { profiles, ..*by };
        if less == *by {
            continue;
        }
        let other = rows(&all, &less)?;
        let change = |at: usize| -> Vec<f64> {
            other.iter().zip(&fitted).map(|(a, b)| column(a, at) - column(b, at)).collect()
        };
        let (r10, ndcg) = (change(R10), change(HEADS.len() - 1));
        let (low, high) = interval(&r10);
        let of = |values: &[f64]| 100.0 * mean(values.iter().copied());
        let _ = writeln!(
            out,
            "| {} | {:+.1} | {:+.1} … {:+.1} | {:+.1} |",
            arm.name(),
            of(&r10),
            100.0 * low,
            100.0 * high,
            of(&ndcg)
        );
    }
    Ok(out)
}
