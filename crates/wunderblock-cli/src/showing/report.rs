//! Draws the report on a request: a bar per section, then the entries left out, then the entries shown.

use crate::drawing::columns::{columns, fit, pad, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::showing::outcome::{gain, verdict};
use crate::showing::outside;
use wunderblock::policy::Policies;
use wunderblock::{Built, Compacted, CompactionResult, RecalledPassage, UnaskedRecall};
use wunderblock_core::budget::{
    BudgetReport, Certainty, EntryLine, LeftOut, Reason, Treatment, WindowSource,
};
use wunderblock_core::reduction::ShownShorter;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Tokens;

/// Maximum number of entries listed without `-v`; the latest are listed.
const ENTRIES: usize = 14;
/// Width of a full bar, in columns, if the terminal is wide enough.
const BAR: usize = 36;
/// Number of columns beside a bar: before it, the section's name and tokens; after it, the section's share and
/// entries.
const BESIDE: usize = 50;

/// The note on a request that ends with the assistant's words.
const ENDS_WITH_REPLY: &str = "the request ends with the assistant's words: nothing in it asks for an answer, and newer models \
     refuse to go on from there";

/// The report as a picture. `session` is the session's short id; `model` is the catalog's name for an unknown model.
pub(crate) fn picture(session: &str, model: Option<&str>, built: &Built, paint: Paint, all: bool) -> String {
    let report = &built.draft.report;
    let mut out = String::new();
    let meant = model.map(|name| format!("; did you mean {}?", clean(name))).unwrap_or_default();
    let known = match built.draft.model_known {
        true => String::new(),
        false => format!(" (not in the catalog, so defaults apply{meant})"),
    };
    let head = format!(
        "{} · {}{known} · {} · lane {}",
        paint.bold(session),
        clean(&built.draft.model),
        built.draft.dialect.name(),
        clean(built.draft.lane().as_str())
    );
    out.push_str(&wrap(&head, width(), 0));
    for line in wrap(&budget_line(report), width(), 0).lines() {
        out.push_str(&format!("{}\n", paint.dim(line)));
    }
    out.push('\n');
    bars(report, paint, &mut out);
    out.push_str(&format!("\n{}\n", total_line(report, built.draft.body.len())));
    outside::figures(built, paint, &mut out);
    notes(session, built, paint, &mut out);
    outside::picture(built, paint, all, &mut out);
    left_out(session, report, paint, all, &mut out);
    entries(report, paint, all, &mut out);
    dropped(built, all, &mut out);
    if let Some(seq) = built.recorded {
        out.push_str(&format!(
            "\nrecorded as {session}#{seq}, blake3 {}\n",
            head_of(&built.draft.digest, 16)
        ));
    }
    out
}

/// Adds notes on a request that are worth knowing, one sentence each.
fn notes(session: &str, built: &Built, paint: Paint, out: &mut String) {
    let mut notes = Vec::new();
    notes.extend(built.compacted.as_ref().map(|done| compaction_line(session, done)));
    if let Some(due) = &built.due {
        notes.push(format!("a compaction is due ({}): {}", due.level.word(), clean(&due.why)));
    }
    notes.extend(built.out_of_reach.iter().map(ToString::to_string));
    if let Some(step) = built.draft.step {
        notes.push(format!("the lane took a step with this request: {}", step.label()));
    }
    notes.extend(outside::notes(built));
    let missing = built.draft.asked.iter().filter_map(|asked| Some((&asked.name, asked.missing()?)));
    notes.extend(missing.map(|(name, why)| format!("asked for {}, which is not shown: {why}", clean(name))));
    notes.extend(built.draft.unasked.as_ref().map(|unasked| recalled(session, unasked)));
    notes.extend(uncovered(built));
    if built.draft.ends_with_reply {
        notes.push(ENDS_WITH_REPLY.to_owned());
    }
    if notes.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}\n", paint.bold("notes")));
    for note in notes {
        let lines = wrap(&note, width(), 4);
        out.push_str(&format!("  · {}", lines.get(4..).unwrap_or(&lines)));
    }
}

/// Describes what was recalled without being asked for, and why no more was.
fn recalled(session: &str, unasked: &UnaskedRecall) -> String {
    let one = |passage: &RecalledPassage| {
        let from = passage.session.as_ref().map_or(session, |from| from.as_str());
        format!("{}#{}, {} ({})", clean(from), passage.at, clean(&passage.what), clean(&passage.why))
    };
    let entered: Vec<String> = unasked.entered.iter().map(one).collect();
    let entered = if entered.is_empty() { "nothing".to_owned() } else { entered.join("; ") };
    format!("recalled without being asked: {entered}; {}", unasked.outcome.label())
}

/// Describes what neither the request nor a summary tells of.
fn uncovered(built: &Built) -> Option<String> {
    let found = built.draft.report.uncovered();
    let total: u64 = found.iter().map(|one| one.count).sum();
    let tokens: u64 = found.iter().map(|one| one.tokens.0).sum();
    let reasons: Vec<&str> = found.iter().map(|one| one.reason.label()).collect();
    let policy = &built.draft.policy;
    let why = match Policies::embedded().preset(policy) {
        Some(preset) if !preset.covers() => format!("`{}` writes none", clean(policy)),
        _ => "beside what must stay, the last resort shows only their positions".to_owned(),
    };
    let messages = plural(total, "message", "messages");
    let line =
        format!("{messages}, {} tokens, in no summary ({}): {why}", grouped(tokens), reasons.join(", "));
    (total > 0).then_some(line)
}

/// Returns the command that a person who has read the report is most likely to need next.
pub(crate) fn next_step(session: &str, built: &Built) -> Option<String> {
    if built.draft.ends_with_reply {
        return Some(format!("wunderblock context {session} --prompt TEXT   adds the user's next turn"));
    }
    let is_whole = built.draft.report.left_out.is_empty();
    (!is_whole).then(|| format!("wunderblock explain {session} --find TEXT   where a text is, or why not"))
}

fn budget_line(report: &BudgetReport) -> String {
    let source = match report.window_source {
        WindowSource::Declared => "declared",
        WindowSource::Provider => "from the provider",
        WindowSource::Catalog => "from the catalog",
        WindowSource::Default => "the default",
    };
    let margin = if report.margin == Tokens::ZERO {
        String::new()
    } else {
        format!(" − {} margin for estimates", grouped(report.margin.0))
    };
    let added = match report.added {
        Tokens::ZERO => String::new(),
        added => format!(" − {} that the agent adds", grouped(added.0)),
    };
    format!(
        "window {} ({source}) − {} for the answer{margin}{added} = {} tokens to use",
        grouped(report.window.0),
        grouped(report.reserve.0),
        grouped(report.limit.0)
    )
}

fn bars(report: &BudgetReport, paint: Paint, out: &mut String) {
    let limit = report.limit.0.max(1);
    let full = width().saturating_sub(BESIDE).clamp(8, BAR);
    for line in &report.sections {
        let filled = bar(line.tokens.0, limit, full);
        out.push_str(&format!(
            "  {:<13} {:>9}  {} {:>5}  {}\n",
            line.name.name(),
            grouped(line.tokens.0),
            paint.section(line.name, &pad(&filled, full)),
            percent(line.tokens.0, limit),
            paint.dim(&plural(line.entries, "entry", "entries")),
        ));
    }
    let free = report.limit.saturating_sub(report.total_tokens).0;
    let empty: String = "·".repeat(bar(free, limit, full).chars().count());
    out.push_str(&format!(
        "  {:<13} {:>9}  {} {:>5}\n",
        "free",
        grouped(free),
        paint.dim(&pad(&empty, full)),
        percent(free, limit)
    ));
}

/// Returns a bar in eighths of a column. A part above zero is always visible.
pub(crate) fn bar(part: u64, whole: u64, columns: usize) -> String {
    let full = columns as u64 * 8;
    let eighths = (part.saturating_mul(full) / whole).min(full);
    let eighths = if part > 0 { eighths.max(1) } else { 0 };
    let mut bar = "█".repeat((eighths / 8) as usize);
    bar.extend(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get((eighths % 8) as usize).copied());
    bar
}

fn total_line(report: &BudgetReport, bytes: usize) -> String {
    format!(
        "  {:<13} {:>9}  of {} tokens, {} · {} bytes",
        "total",
        grouped(report.total_tokens.0),
        grouped(report.limit.0),
        certainty(report.certainty),
        grouped(bytes as u64)
    )
}

fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Exact => "counted exactly",
        Certainty::Measured => "as the provider measured",
        Certainty::Estimated => "estimated",
        Certainty::Unverified => "estimated, unverified",
    }
}

/// Describes in one line the compaction done for a request.
fn compaction_line(session: &str, done: &Compacted) -> String {
    let (policy, level, why) = (&done.policy, done.due.level.word(), clean(&done.due.why));
    match done.outcome {
        CompactionResult::Compacted => format!(
            "compacted by `{policy}` ({level}: {why}): {}; `wunderblock undo {session}` restores the view",
            gain(done)
        ),
        CompactionResult::WouldCompact => {
            let verdict = verdict(session, done);
            format!("`context` compacts first, by `{policy}` ({level}: {why}): {verdict}")
        }
        _ => {
            let verdict = verdict(session, done);
            format!("a compaction by `{policy}` was due ({level}: {why}): {verdict}")
        }
    }
}

/// Joins runs that have the same reason: consecutive runs that summaries replace, and all parts that the request's
/// format cannot express. Without joining, a session with encrypted reasoning would fill the screen.
fn folded(runs: &[LeftOut]) -> Vec<LeftOut> {
    let mut folded: Vec<LeftOut> = Vec::new();
    for run in runs {
        let joined = match run.reason {
            Reason::Summarised => folded.last_mut().filter(|last| last.reason == run.reason),
            reason if is_of_parts(reason) => folded.iter_mut().find(|other| other.reason == reason),
            _ => None,
        };
        match joined {
            Some(last) => {
                last.to_seq = run.to_seq;
                last.count += run.count;
                last.tokens += run.tokens;
                last.certainty = last.certainty.max(run.certainty);
            }
            None => folded.push(run.clone()),
        }
    }
    folded
}

/// Returns whether a reason applies to parts of messages rather than to a stretch of the session.
fn is_of_parts(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Dialect
            | Reason::Unsigned
            | Reason::OldThinking
            | Reason::Unbound
            | Reason::Unsendable
            | Reason::Empty
            | Reason::FailedTurn
            | Reason::Aside
    )
}

/// Maximum number of dropped parts listed without `-v`.
const DROPPED: usize = 3;

/// Lists the parts that were dropped from the encoded request: the first few for each reason.
fn dropped(built: &Built, all: bool, out: &mut String) {
    let dropped = &built.draft.dropped;
    let shown = if all { dropped.len() } else { DROPPED };
    for one in dropped.iter().take(shown) {
        let line = format!("dropped: {} ({})", clean(&one.what), one.reason.label());
        out.push_str(&wrap(&line, width(), 0));
    }
    if dropped.len() > shown {
        let more = plural((dropped.len() - shown) as u64, "part", "parts");
        out.push_str(&format!("dropped: {more} more; -v lists all\n"));
    }
}

fn left_out(session: &str, report: &BudgetReport, paint: Paint, all: bool, out: &mut String) {
    if report.left_out.is_empty() {
        out.push_str(&format!("\n{}\n", paint.dim("nothing is left out")));
        return;
    }
    let how = paint.dim("  `wunderblock read PLACE` writes it back");
    out.push_str(&format!("\n{}{how}\n", paint.bold("left out")));
    let runs = if all { report.left_out.clone() } else { folded(&report.left_out) };
    let rows: Vec<[String; 3]> = runs.iter().map(|run| left_out_row(session, run)).collect();
    let widths: [usize; 3] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    });
    let [places, tokens, counts] = widths;
    for (run, [place, token, count]) in runs.iter().zip(&rows) {
        let row = format!("  {place:<places$}  {token:>tokens$} tokens  {count:<counts$}");
        let why = fit(&run.why(), width().saturating_sub(columns(&row) + 2).max(16));
        out.push_str(&format!("{row}  {}\n", paint.dim(&why)));
    }
}

/// Returns the place, the tokens and the number of entries of a left-out run.
fn left_out_row(session: &str, run: &LeftOut) -> [String; 3] {
    let about = if run.certainty == Certainty::Exact { "" } else { "~" };
    let (from, to) = (run.from_seq, run.to_seq);
    let place = if from == to { format!("{session}#{from}") } else { format!("{session}#{from}-{to}") };
    [place, format!("{about}{}", grouped(run.tokens.0)), plural(run.count, "entry", "entries")]
}

fn entries(report: &BudgetReport, paint: Paint, all: bool, out: &mut String) {
    let skip = if all { 0 } else { report.entries.len().saturating_sub(ENTRIES) };
    out.push_str(&format!("\n{}", paint.bold("entries")));
    if skip > 0 {
        let newest = format!("  the newest {ENTRIES} of {}; -v shows all", report.entries.len());
        out.push_str(&paint.dim(&newest));
    }
    out.push('\n');
    for entry in report.entries.iter().skip(skip) {
        out.push_str(&entry_line(entry, paint));
    }
}

fn entry_line(entry: &EntryLine, paint: Paint) -> String {
    let seq = entry.seq.map(|seq| seq.to_string()).unwrap_or_default();
    let form = match entry.treatment {
        Treatment::Verbatim => "",
        Treatment::Clipped => "clipped ",
        Treatment::Reduced => "shortened ",
        Treatment::Stub => "stub ",
        Treatment::LeftOut => "left out ",
    };
    let what = fit(&clean(&entry.what), width().saturating_sub(34 + form.len()));
    let mut line = format!(
        "  {:>6}  {} {:>8}  {}{what}\n",
        seq,
        paint.section(entry.section, &format!("{:<13}", entry.section.name())),
        grouped(entry.tokens.0),
        paint.dim(form)
    );
    for shorter in &entry.reduced {
        line.push_str(&format!("{:34}{}\n", "", paint.dim(&shorter_line(shorter))));
    }
    line
}

/// Describes a reduced text: its kind, the tokens before and after, what was lost, and the handle to read.
fn shorter_line(shorter: &ShownShorter) -> String {
    let how = &shorter.how;
    let part = percent(how.tokens_after.0, how.tokens_before.0);
    let read = shorter.handle.map(|handle| format!(" · read {handle}")).unwrap_or_default();
    let (before, after) = (grouped(how.tokens_before.0), grouped(how.tokens_after.0));
    format!("{}: {before} → {after} tokens ({part}), {}{read}", clean(&how.kind), how.loss())
}

fn percent(part: u64, whole: u64) -> String {
    let tenths = part.saturating_mul(1000) / whole.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn head_of(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_became_shorter() {
        let how = wunderblock_core::event::Reduction {
            kind: "log".into(),
            level: "fold".into(),
            tokens_before: Tokens(12_713),
            tokens_after: Tokens(412),
            lossless: false,
            gaps: 3,
        };
        let handle = "wb:3f9c1a7be2d04c58".parse().ok();
        let exact = wunderblock_core::event::Reduction { lossless: true, gaps: 0, ..how.clone() };
        let entry = EntryLine {
            seq: Some(wunderblock_core::units::Seq(118)),
            section: wunderblock_core::section::Section::Transcript,
            treatment: Treatment::Reduced,
            tokens: Tokens(430),
            what: "→ cargo test".to_owned(),
            handle,
            reduced: vec![
                ShownShorter { part: 0, how, handle },
                ShownShorter { part: 1, how: exact, handle: None },
            ],
        };
        assert_eq!(
            entry_line(&entry, Paint::none()),
            "     118  transcript         430  shortened → cargo test\n                                  \
             log: 12,713 → 412 tokens (3.2 %), 3 gaps · read wb:3f9c1a7be2d04c58\n                                  \
             log: 12,713 → 412 tokens (3.2 %), exact\n"
        );
    }

    #[test]
    fn bars_are_never_longer_than_full_and_never_invisible() {
        assert_eq!(bar(0, 100, BAR), "");
        assert_eq!(bar(1, 1_000_000, BAR), "▏");
        assert_eq!(bar(100, 100, BAR).chars().count(), BAR);
        assert_eq!(bar(500, 100, 20).chars().count(), 20);
    }
}
