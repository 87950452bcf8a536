//! `cost`: what sessions cost, by day, project, model, agent or session.

use crate::args::{Cost, CostBy, Global};
use crate::columns::{columns, fit, pad, plural};
use crate::console::{print, print_json, say, zone};
use crate::exit::{Exit, Failure};
use crate::filter::session_filter;
use crate::lookup::known_session;
use crate::names::Names;
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::{clean, width};
use std::process::ExitCode;
use wunderblock::account::{Spend, SpentReply, spend};
use wunderblock::catalog::MicroDollars;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Millis, Tokens};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Cost) -> Exit {
    let engine = settings.read_only().await?;
    let mut filter = session_filter(&wanted.filter, "")?;
    // A session that was rewound has several branches, and all of them cost.
    let mut family = None;
    if let Some(text) = &wanted.session {
        let session = known_session(&engine, global, text).await?;
        let root = session.id().root().to_owned();
        filter.prefix.clone_from(&root);
        family = Some(root);
    }
    let names = if global.json { Names::default() } else { Names::all(&engine).await? };
    let group = |reply: SpentReply<'_>| {
        let is_its = |family: &String| reply.session.id.root() == family;
        family.as_ref().is_none_or(is_its).then(|| named(wanted.by, reply, &names))
    };
    let sums = spend(&engine, filter, &group).await?;
    let mut all = Spend::default();
    sums.values().for_each(|spend| all += spend);
    let mut rows: Vec<(String, Spend)> = sums.into_iter().collect();
    if wanted.by != CostBy::Day {
        rows.sort_by_key(|(_, spend)| std::cmp::Reverse((spend.cost, spend.replies)));
    }
    if global.json {
        return json(wanted.by, &rows, &all);
    }
    if rows.is_empty() {
        say(global, "no usage: the transcripts of these sessions report none");
        return Ok(ExitCode::SUCCESS);
    }
    let many = rows.len() > 1;
    rows.extend(many.then(|| ("in all".to_owned(), all.clone())));
    print(&table(word(wanted.by), &rows, Paint::stdout()))?;
    print(&notes(&all))?;
    Ok(ExitCode::SUCCESS)
}

const fn word(by: CostBy) -> &'static str {
    match by {
        CostBy::Day => "day",
        CostBy::Project => "project",
        CostBy::Model => "model",
        CostBy::Agent => "agent",
        CostBy::Session => "session",
    }
}

/// Returns the name of a reply's group.
fn named(by: CostBy, reply: SpentReply<'_>, names: &Names) -> String {
    let known = |text: Option<&str>| text.unwrap_or("unknown").to_owned();
    match by {
        CostBy::Day => day(reply.at),
        CostBy::Project => known(reply.session.scope.project.as_deref()),
        CostBy::Model => known(reply.model),
        CostBy::Agent => known(reply.session.scope.agent.as_deref()),
        CostBy::Session => names.short(&reply.session.id),
    }
}

fn day(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| "unknown".to_owned(), |time| time.to_zoned(zone()).strftime("%Y-%m-%d").to_string())
}

fn json(by: CostBy, rows: &[(String, Spend)], all: &Spend) -> Exit {
    let line = |name: &str, spend: &Spend| -> Result<(), Failure> {
        let mut value = serde_json::to_value(spend)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("by".to_owned(), word(by).into());
            object.insert("name".to_owned(), name.into());
        }
        print_json(&value)
    };
    for (name, spend) in rows {
        line(name, spend)?;
    }
    line("in all", all)?;
    Ok(ExitCode::SUCCESS)
}

/// Formats an amount in whole cents.
pub(super) fn money(amount: MicroDollars) -> String {
    let cents = amount.0.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", grouped(cents / 100), cents % 100)
}

pub(super) fn tokens(count: Tokens) -> String {
    match count.0 {
        0..10_000 => grouped(count.0),
        10_000..10_000_000 => format!("{}k", grouped(count.0 / 1_000)),
        more => format!("{}M", grouped(more / 1_000_000)),
    }
}

fn table(head: &str, rows: &[(String, Spend)], paint: Paint) -> String {
    const HEADS: [&str; 7] = ["replies", "input", "cached", "written", "output", "cost", "wasted"];
    let cells: Vec<[String; 7]> = rows
        .iter()
        .map(|(_, spend)| {
            let unpriced = spend.unpriced == spend.replies;
            let cost = if unpriced { "unknown".to_owned() } else { money(spend.cost) };
            let wasted = if spend.wasted == MicroDollars::ZERO { String::new() } else { money(spend.wasted) };
            let [input, read, write, output] =
                [spend.input, spend.cache_read, spend.cache_write, spend.output].map(tokens);
            [grouped(spend.replies), input, read, write, output, cost, wasted]
        })
        .collect();
    let wide: [usize; 7] = std::array::from_fn(|column| {
        let widths = cells.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell));
        widths.chain(HEADS.get(column).map(|head| head.len())).max().unwrap_or_default()
    });
    let room = width().saturating_sub(wide.iter().map(|wide| wide + 2).sum()).max(12);
    let longest = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or_default();
    let first = longest.max(head.len()).min(room);
    let line = |name: &str, cells: &[&str]| {
        let name = if columns(name) > first { fit(&clean(name), first) } else { clean(name) };
        let cells = cells.iter().zip(wide).map(|(cell, wide)| format!("  {cell:>wide$}"));
        let line = format!("{}{}", pad(&name, first), cells.collect::<String>());
        line.trim_end().to_owned()
    };
    let mut out = format!("{}\n", paint.dim(&line(head, &HEADS)));
    for ((name, _), row) in rows.iter().zip(&cells) {
        out.push_str(&line(name, &row.each_ref().map(String::as_str)));
        out.push('\n');
    }
    out
}

/// Returns what the sums leave out, and the causes of cache misses.
fn notes(all: &Spend) -> String {
    let mut lines = Vec::new();
    if all.unpriced > 0 {
        let replies = plural(all.unpriced, "reply", "replies");
        lines.push(format!(
            "{replies} without a known price: not part of the cost; `--by model` shows the models"
        ));
    }
    for (cause, (count, wasted)) in &all.misses {
        let misses = plural(*count, "cache miss", "cache misses");
        lines.push(format!("{misses}, {} wasted: {}", money(*wasted), cause.words()));
    }
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}
