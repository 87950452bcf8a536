//! Measures what reduction saves on tool results and what stays visible, by claim and kind.

use super::check;
use super::errors::{ErrorRules, VisibleErrors};
use super::measure::{HANDLE, exact};
use super::tool_result::{ToolClaim, ToolText};
use crate::program::ChoreResult;
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wunderblock_reduce::{Level, Options, Reduced, reduce};

/// Minimum number of tokens in an output whose share of marks is measured.
const MARKED_TOKENS: u64 = 1_000;

/// Figures of one tool result.
pub(super) struct ToolFigures {
    command: String,
    runs: bool,
    pub(super) claim: ToolClaim,
    pub(super) kind: &'static str,
    /// Tokens of the source, followed by the tokens at each level.
    tokens: u64,
    lossless: u64,
    fold: u64,
    budget: u64,
    fold_errors: VisibleErrors,
    budget_errors: VisibleErrors,
    /// Shares of marks and of handles in the tokens at 25 %, in thousandths. `None` for a small output.
    marks: Option<(u64, u64)>,
}

/// Rules that find marks by their brackets, and handles by their prefix, independent of the text of a mark.
pub(super) struct MarkRules {
    mark: Regex,
    handle: Regex,
}

impl MarkRules {
    pub(super) fn read() -> ChoreResult<Self> {
        Ok(Self { mark: Regex::new("⟨[^⟨⟩\n]*⟩")?, handle: Regex::new("wb:[0-9a-f]{8,16}")? })
    }

    /// Returns the tokens of all matches of a rule.
    fn tokens(rule: &Regex, text: &str) -> u64 {
        rule.find_iter(text).map(|found| exact(found.as_str())).sum()
    }

    /// Returns the shares of marks and of handles, in thousandths.
    fn shares(&self, short: &Reduced) -> (u64, u64) {
        let share = |rule| Self::tokens(rule, &short.text) * 1_000 / short.tokens_after.max(1);
        (share(&self.mark), share(&self.handle))
    }
}

impl ToolFigures {
    pub(super) fn of(text: &ToolText, errors: &ErrorRules, marks: &MarkRules) -> Self {
        let options = Options {
            handle: Some(HANDLE),
            count: &exact,
            command: text.command.as_deref(),
            failed: text.failed,
            ..Options::default()
        };
        let fold = reduce(&text.bytes, &options);
        let lossless = reduce(&text.bytes, &Options { level: Level::Lossless, ..options });
        let quarter = Level::Budget(fold.tokens_before / 4);
        let budget = reduce(&text.bytes, &Options { level: quarter, ..options });
        let source = String::from_utf8_lossy(&text.bytes);
        let lines = errors.lines(&source, fold.kind);
        let visible = |short: &Reduced| errors.visible(&lines, &check::shown(&short.text));
        Self {
            command: text.command.clone().unwrap_or_default(),
            runs: text.runs,
            claim: text.claim(),
            kind: fold.kind.name(),
            tokens: fold.tokens_before,
            lossless: lossless.tokens_after,
            fold: fold.tokens_after,
            budget: budget.tokens_after,
            fold_errors: visible(&fold),
            budget_errors: visible(&budget),
            marks: (fold.tokens_before >= MARKED_TOKENS).then(|| marks.shares(&budget)),
        }
    }

    /// Share of the tokens that a level saves, in thousandths.
    fn saved(&self, after: u64) -> u64 {
        self.tokens.saturating_sub(after) * 1_000 / self.tokens.max(1)
    }
}

/// Returns the totals of the results of commands, and a table per claim with a line per kind.
pub(super) fn tables(all: &[ToolFigures], least: usize) -> String {
    let mut out = format!(
        "\nTool results of at least {least} bytes. Saved: total / median. Errors: distinct lines / templates.\n"
    );
    let _ = writeln!(
        out,
        "\n| results of commands | outputs | tokens | fold | fold: errors |\n|---|--:|--:|--:|--:|"
    );
    let commands = all.iter().filter(|row| row.runs);
    let (mut whole, mut others): (Vec<&ToolFigures>, Vec<&ToolFigures>) = (Vec::new(), Vec::new());
    for row in commands {
        whole.push(row);
        others.extend(Some(row).filter(|row| row.claim != ToolClaim::File));
    }
    for (name, rows) in [("all", whole), ("without files that were read", others)] {
        let tokens: u64 = rows.iter().map(|row| row.tokens).sum();
        let left: u64 = rows.iter().map(|row| row.fold).sum();
        let saved = tenths(tokens.saturating_sub(left) * 1_000 / tokens.max(1));
        let mut errors = VisibleErrors::default();
        rows.iter().for_each(|row| errors.add(row.fold_errors));
        let (seen, lines) = errors.lines;
        let _ = writeln!(out, "| {name} | {} | {tokens} | {saved} % | {seen}/{lines} |", rows.len());
    }
    for claim in ToolClaim::ALL {
        let mut kinds: BTreeMap<&str, Vec<&ToolFigures>> = BTreeMap::new();
        let of_claim: Vec<&ToolFigures> = all.iter().filter(|row| row.claim == claim).collect();
        for row in &of_claim {
            kinds.entry(row.kind).or_default().push(row);
        }
        let _ = writeln!(
            out,
            "\n| {} | outputs | tokens | lossless | fold | fold < 1 % | fold: errors | at 25 %: saved | errors | marks | handles |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
            claim.name()
        );
        for (kind, rows) in kinds {
            line(&mut out, kind, &rows);
        }
        line(&mut out, "**all**", &of_claim);
    }
    out
}

/// Maximum number of characters that a list shows of a command.
const COMMAND_CHARS: usize = 90;

/// Returns a line per tool result. Within a claim, the results that save the least come first.
pub(super) fn each(mut all: Vec<ToolFigures>) -> String {
    all.sort_by_key(|row| (row.claim, row.saved(row.fold)));
    let mut out = String::new();
    for row in all {
        let (claim, kind, tokens, saved) =
            (row.claim.name(), row.kind, row.tokens, tenths(row.saved(row.fold)));
        let command: String = row.command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let command: String = command.chars().take(COMMAND_CHARS).collect();
        let _ = writeln!(out, "{claim:<16} {kind:<9} {tokens:>7} tokens {saved:>6} %  {command}");
    }
    out
}

fn line(out: &mut String, name: &str, rows: &[&ToolFigures]) {
    let tokens: u64 = rows.iter().map(|row| row.tokens).sum();
    let level = |after: fn(&ToolFigures) -> u64| {
        let left: u64 = rows.iter().map(|row| after(row)).sum();
        let total = tokens.saturating_sub(left) * 1_000 / tokens.max(1);
        let middle = median(rows.iter().map(|row| row.saved(after(row))));
        format!("{} / {} %", tenths(total), tenths(middle))
    };
    let errors = |of: fn(&ToolFigures) -> VisibleErrors| {
        let mut sum = VisibleErrors::default();
        rows.iter().for_each(|row| sum.add(of(row)));
        let ((lines, all_lines), (templates, all_templates)) = (sum.lines, sum.templates);
        format!("{lines}/{all_lines} · {templates}/{all_templates}")
    };
    let share = |of: fn((u64, u64)) -> u64| {
        let marked = rows.iter().filter_map(|row| row.marks).map(of);
        format!("{} %", tenths(median(marked)))
    };
    // A result that saves less than 10 thousandths (1 %) counts as unchanged.
    let unchanged = rows.iter().filter(|row| row.saved(row.fold) < 10).count();
    let _ = writeln!(
        out,
        "| {name} | {} | {tokens} | {} | {} | {unchanged} | {} | {} | {} | {} | {} |",
        rows.len(),
        level(|row| row.lossless),
        level(|row| row.fold),
        errors(|row| row.fold_errors),
        level(|row| row.budget),
        errors(|row| row.budget_errors),
        share(|(marks, _)| marks),
        share(|(_, handles)| handles),
    );
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn tenths(thousandths: u64) -> String {
    format!("{}.{}", thousandths / 10, thousandths % 10)
}
