//! `gain`: what showing less than the whole saved, by day, session or command.

use crate::args::{Gain as GainArgs, GainBy, Global};
use crate::drawing::columns::{pad, plural};
use crate::drawing::paint::Paint;
use crate::output::console::{print, print_json, say};
use crate::output::exit::{Exit, Failure};
use crate::resolve::filter::{session_choice, session_filter};
use crate::resolve::names::Names;
use crate::showing::report::bar;
use crate::showing::table::{day, table, tokens};
use std::process::ExitCode;
use wunderblock::account::{Gain, GainedText, gain};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Tokens;
use wunderblock_settings::Settings;

/// Width of a bar, in columns.
const BAR: usize = 16;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &GainArgs) -> Exit {
    let engine = settings.read_only().await?;
    let filter = session_filter(&session_choice(&wanted.filter))?;
    let names = if global.json { Names::default() } else { Names::all(&engine).await? };
    let group = |text: GainedText<'_>| {
        Some(match wanted.by {
            GainBy::Day => day(text.at),
            GainBy::Session => names.short(&text.session.id),
            GainBy::Command => text.command.to_owned(),
        })
    };
    let sums = gain(&engine, filter, &group).await?;
    let mut all = Gain::default();
    sums.values().for_each(|gain| all += gain);
    let mut rows: Vec<(String, Gain)> = sums.into_iter().collect();
    if wanted.by != GainBy::Day {
        rows.sort_by_key(|(_, gain)| std::cmp::Reverse(gain.saved()));
    }
    if global.json {
        return json(wanted.by, &rows, &all);
    }
    if rows.is_empty() {
        say(
            global,
            "nothing was shortened: run a command with `wunderblock run -- COMMAND`, or build a request with \
             `wunderblock context`",
        );
        return Ok(ExitCode::SUCCESS);
    }
    let many = rows.len() > 1;
    rows.extend(many.then(|| ("in all".to_owned(), all.clone())));
    print(&picture(word(wanted.by), &rows, Paint::stdout()))?;
    print(&notes(&all))?;
    Ok(ExitCode::SUCCESS)
}

const fn word(by: GainBy) -> &'static str {
    match by {
        GainBy::Day => "day",
        GainBy::Session => "session",
        GainBy::Command => "command",
    }
}

fn json(by: GainBy, rows: &[(String, Gain)], all: &Gain) -> Exit {
    let line = |name: &str, gain: &Gain| -> Result<(), Failure> {
        let mut value = serde_json::to_value(gain)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("by".to_owned(), word(by).into());
            object.insert("name".to_owned(), name.into());
            object.insert("saved".to_owned(), gain.saved().into());
        }
        print_json(&value)
    };
    for (name, gain) in rows {
        line(name, gain)?;
    }
    line("in all", all)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a table with a bar for the share that was saved.
fn picture(head: &str, rows: &[(String, Gain)], paint: Paint) -> String {
    const HEADS: [&str; 7] = ["texts", "verbatim", "sent", "extra", "saved", "", ""];
    let cells = |(name, gain): &(String, Gain)| {
        let saved = gain.saved();
        let sign = if saved < 0 { "-" } else { "" };
        let part = u64::try_from(saved).unwrap_or(0);
        let share = match gain.verbatim {
            Tokens(0) => String::new(),
            Tokens(whole) => format!("{}{} %", sign, saved.unsigned_abs().saturating_mul(100) / whole),
        };
        let extra = gain.read + gain.summaries;
        let cells = [
            grouped(gain.texts + gain.unknown),
            tokens(gain.verbatim),
            tokens(gain.sent),
            if extra == Tokens::ZERO { String::new() } else { tokens(extra) },
            format!("{sign}{}", tokens(Tokens(saved.unsigned_abs()))),
            share,
            pad(&bar(part, gain.verbatim.0.max(1), BAR), BAR),
        ];
        (name.clone(), cells)
    };
    table(head, HEADS, &rows.iter().map(cells).collect::<Vec<_>>(), paint)
}

/// Returns what was spent besides, the losses, and what the sums leave out.
fn notes(all: &Gain) -> String {
    let mut lines = Vec::new();
    if all.reads > 0 {
        let reads = plural(all.reads, "original was read", "originals were read");
        lines.push(format!("{reads} after all: {} tokens extra", grouped(all.read.0)));
    }
    if all.summaries > Tokens::ZERO {
        lines.push(format!("models wrote summaries: {} tokens extra", grouped(all.summaries.0)));
    }
    if all.losses > 0 {
        let losses = plural(all.losses, "text cost", "texts cost");
        lines.push(format!("{losses} more than was saved: {} tokens lost", grouped(all.lost.0)));
    }
    if all.unknown > 0 {
        let unknown = plural(all.unknown, "text", "texts");
        lines.push(format!("{unknown} without recorded figures: the gain is unknown, and part of no sum"));
    }
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}
