//! `compact`: compacts a lane now, and reports the result.

use crate::args::{CompactArgs, EditArgs, Global};
use crate::commands::requests::leaving;
use crate::drawing::columns::{fit, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{answer, print};
use crate::output::exit::{Exit, Failure, REFUSED, failed, wrong};
use crate::output::output_file::OutputFile;
use crate::output::progress::bar;
use crate::resolve::lookup::lookup;
use crate::resolve::names::short;
use crate::showing::outcome::verdict;
use std::process::ExitCode;
use std::sync::Arc;
use wunderblock::report::CompactionReport;
use wunderblock::{
    CompactOptions, Compacted, CompactionResult, CompactionStage, ContextOptions, MadeNode, SummaryEdit,
};
use wunderblock_core::compact::TaskState;
use wunderblock_core::compaction::Manner;
use wunderblock_core::stub::grouped;
use wunderblock_settings::{Settings, context_options};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: CompactArgs) -> Exit {
    let (engine, session) = if wanted.dry_run {
        lookup(global).reading(settings, &wanted.session.session).await?
    } else {
        let engine = settings.write().await?;
        let session = lookup(global).session(&engine, &wanted.session.session).await?;
        (engine, session)
    };
    let out = OutputFile::create(settings, &engine, wanted.out.as_deref()).await?;
    let context = context_options(settings, &wanted.build.choice())?;
    let Some(compactor) = context.compactor.clone() else { return Ok(ExitCode::SUCCESS) };
    let due = if wanted.if_due {
        let due = session.lane(context.lane.clone()).due(&context).await?;
        if due.is_none() {
            print("the lane is not due: nothing was done\n")?;
            return Ok(ExitCode::SUCCESS);
        }
        due
    } else {
        None
    };
    let bar = bar(global, "compacting", "{spinner} {msg}");
    let shown = bar.clone();
    let options = CompactOptions {
        context: ContextOptions { compactor: None, ..context },
        compactor,
        due,
        focus: wanted.focus.clone(),
        edit: edit(wanted.edit)?,
        dry_run: wanted.dry_run,
        sweep: true,
        progress: Some(Arc::new(move |stage: &CompactionStage| {
            shown.set_message(stage_text(stage));
            shown.tick();
            true
        })),
    };
    let done = session.compact(&options).await;
    bar.finish_and_clear();
    let done = done?;
    if let Some(out) = out {
        let text: Vec<&str> = done.nodes.iter().map(|node| node.text.as_str()).collect();
        out.finish_with(text.join("\n\n").as_bytes())?;
    }
    let id = session.id().as_str();
    let name = short(&session).await?;
    let told = verdict(&name, &done);
    let changed = matches!(
        done.outcome,
        CompactionResult::Compacted | CompactionResult::WouldCompact | CompactionResult::Prepared
    );
    answer(global, &CompactionReport::new(id, &done), || {
        let picture = picture(&name, &done, Paint::stdout(), global.verbose);
        if changed { picture + &wrap(&told, width(), 0) } else { picture }
    })?;
    if changed {
        return Ok(ExitCode::SUCCESS);
    }
    // The report in JSON names the outcome, so no second object follows it.
    Ok(failed(&Failure::Door(REFUSED, told), false))
}

fn edit(wanted: EditArgs) -> Result<Option<SummaryEdit>, Failure> {
    Ok(match wanted {
        EditArgs { rewrite: Some(at), .. } => Some(SummaryEdit::Rewrite(at)),
        EditArgs { dissolve: Some(at), .. } => Some(SummaryEdit::Dissolve(at)),
        EditArgs { from: Some(from), to: Some(to), .. } if from > to => {
            return Err(wrong(format!("invalid range: its start {from} is after its end {to}")));
        }
        EditArgs { from: Some(from), to: Some(to), .. } => Some(SummaryEdit::Range(from, to)),
        _ => None,
    })
}

fn stage_text(stage: &CompactionStage) -> String {
    match stage {
        CompactionStage::Summarising { done, of, bytes: 0 } => format!("summary {} of {of}", done + 1),
        CompactionStage::Summarising { done, of, bytes } => {
            format!("summary {} of {of}, {} bytes", done + 1, grouped(*bytes as u64))
        }
        CompactionStage::Swept { through, of } => {
            format!("swept {} of {} positions", grouped(through.0), grouped(of.0))
        }
    }
}

/// Describes the steps of a compaction for people.
fn picture(session: &str, done: &Compacted, paint: Paint, all: bool) -> String {
    let mut out = wrap(&head(session, done), width(), 0);
    out.push_str(&wrap(&format!("{}: {}", done.due.level.word(), clean(&done.due.why)), width(), 2));
    for task in &done.tasks {
        let state = if task.state == TaskState::Active { "active" } else { "finished" };
        let title = task.title.as_deref().map(|title| format!(": {}", clean(title))).unwrap_or_default();
        let line = format!("  task {}–{}, {state}, by {}{title}", task.from, task.to, task.by.label());
        out.push_str(&format!("{}\n", fit(&line, width())));
    }
    for rung in &done.rungs {
        let sign = if rung.taken { "✓" } else { "·" };
        let why = rung.why.as_deref().map(|why| format!("  {}", clean(why))).unwrap_or_default();
        let by = match rung.added.0 {
            0 => format!("−{}", grouped(rung.saved.0)),
            added => format!("+{}", grouped(added)),
        };
        let line = format!("  {sign} {:<10} {by:>9} tokens{why}", rung.rung);
        out.push_str(&format!("{}\n", fit(&line, width())));
    }
    if added(done) > 0 {
        let by = format!("+{}", grouped(added(done)));
        out.push_str(&format!("  ✓ {:<10} {by:>9} tokens\n", "work log"));
    }
    let listed: Vec<&MadeNode> = done.nodes.iter().filter(|node| all || node.shown).collect();
    let skipped = if all { 0 } else { listed.len().saturating_sub(NODES) };
    for node in listed.iter().skip(skipped) {
        out.push_str(&node_line(node, done));
        if node.shown {
            out.push_str(&said(node, paint, all));
        }
    }
    let rest = (done.nodes.len() - listed.len() + skipped) as u64;
    if rest > 0 {
        let more = plural(rest, "summary more was", "summaries more were");
        out.push_str(&paint.dim(&format!("  {more} made on the way; -v shows them\n")));
    }
    out.push_str(&leaving::picture(done, paint, all));
    for rejected in &done.rejected {
        let why = clean(&rejected.why);
        let why = if all { why } else { shortened(&why) };
        let line = format!("not taken, by {}: {why}", clean(&rejected.producer));
        out.push_str(&wrap(&line, width(), 2));
    }
    for spent in &done.spent {
        let dollars =
            spent.micro_dollars.map(|micro| format!(", ${}.{:06}", micro / 1_000_000, micro % 1_000_000));
        let (input, output) = (grouped(spent.input.0), grouped(spent.output.0));
        let cost = dollars.unwrap_or_default();
        out.push_str(&format!("  {}: {input} tokens in, {output} out{cost}\n", clean(&spent.model)));
    }
    out
}

/// Names the session, the request that its lane is compacted for, and the policy.
fn head(session: &str, done: &Compacted) -> String {
    let lane = clean(done.lane.as_str());
    let request = done.request.as_ref().map(|request| {
        let (window, limit) = (grouped(request.window.0), grouped(request.limit.0));
        format!(" · {} · window {window}, {limit} for a request", clean(&request.model))
    });
    format!("{session}{} · lane {lane} · policy {}", request.unwrap_or_default(), clean(&done.policy))
}

/// Returns the number of tokens that a compaction adds besides its summaries: the difference between its result and the
/// sum of its steps.
fn added(done: &Compacted) -> u64 {
    let taken = done.rungs.iter().filter(|rung| rung.taken);
    let sums = taken.fold((0, 0), |(saved, added), rung| (saved + rung.saved.0, added + rung.added.0));
    (done.after.0 + sums.0).saturating_sub(done.before.0 + sums.1)
}

/// Maximum length in bytes of a rejection's reason without `-v`.
const REASON: usize = 200;

/// Shortens a reason after the last name that fits.
fn shortened(why: &str) -> String {
    let Some(head) = why.get(..why.floor_char_boundary(REASON)).filter(|head| head.len() < why.len()) else {
        return why.to_owned();
    };
    let kept = head.rsplit_once([' ', '·']).map_or(head, |(kept, _)| kept).trim_end_matches([',', ' ']);
    format!("{kept} … (-v shows all)")
}

/// Maximum number of listed summaries; the latest are listed.
const NODES: usize = 12;
/// Maximum number of summary lines shown without `-v`.
const LINES: usize = 6;

/// Describes a summary: its range, its author, its size, and its share of the source and of the request.
fn node_line(node: &MadeNode, done: &Compacted) -> String {
    let (before, after) = (grouped(node.before.0), grouped(node.after.0));
    // A summary made in the normal way needs no remark.
    let manner = match node.manner {
        Manner::Normal => String::new(),
        manner => format!(", {}", manner.word()),
    };
    let share = match node.shown {
        true => format!("{} of the request", percent(node.after.0, done.after.0)),
        false => "went into the next level".to_owned(),
    };
    let line = format!(
        "#{} summary of {}–{}, level {}, by {}{manner}: {before} → {after} tokens ({}), {share}",
        node.at,
        node.from,
        node.to,
        node.level,
        clean(&node.producer),
        percent(node.after.0, node.before.0),
    );
    wrap(&line, width(), 2)
}

/// Returns the text of a summary: its start, or all of it with `-v`.
fn said(node: &MadeNode, paint: Paint, all: bool) -> String {
    let lines: Vec<&str> = node.text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = if all { lines.len() } else { LINES };
    let mut out = String::new();
    for line in lines.iter().take(shown) {
        out.push_str(&format!("    {}\n", paint.dim(&fit(&clean(line), width() - 4))));
    }
    if lines.len() > shown {
        let more = format!("… {} more; -v shows them", plural((lines.len() - shown) as u64, "line", "lines"));
        out.push_str(&format!("    {}\n", paint.dim(&more)));
    }
    out
}

fn percent(part: u64, whole: u64) -> String {
    let tenths = part.saturating_mul(1000) / whole.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}
