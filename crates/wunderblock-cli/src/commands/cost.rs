//! `cost`: what sessions cost, by day, project, model, agent or session.

use crate::args::{Cost, CostBy, Global};
use crate::columns::plural;
use crate::console::{print, print_json, say};
use crate::exit::{Exit, Failure};
use crate::filter::session_filter;
use crate::lookup::known_session;
use crate::names::Names;
use crate::paint::Paint;
use crate::settings::Settings;
use crate::table::{day, tokens};
use std::process::ExitCode;
use wunderblock::account::{Spend, SpentReply, spend};
use wunderblock::catalog::MicroDollars;
use wunderblock_core::stub::grouped;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Cost) -> Exit {
    let engine = settings.read_only().await?;
    let mut filter = session_filter(&wanted.filter, "")?;
    // A session that was rewound has several branches, and all of them cost.
    let mut family = None;
    if let Some(text) = &wanted.session {
        let session = known_session(&engine, global, text).await?;
        let root = root(session.id().as_str()).to_owned();
        filter.prefix.clone_from(&root);
        family = Some(root);
    }
    let names = if global.json { Names::default() } else { Names::all(&engine).await? };
    let group = |reply: SpentReply<'_>| {
        let is_its = |family: &String| root(reply.session.id.as_str()) == family;
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

/// Returns the id of a session without the number of its branch.
fn root(id: &str) -> &str {
    id.rsplit_once('~').filter(|(_, number)| number.parse::<u64>().is_ok()).map_or(id, |(root, _)| root)
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
fn money(amount: MicroDollars) -> String {
    let cents = amount.0.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", grouped(cents / 100), cents % 100)
}

fn table(head: &str, rows: &[(String, Spend)], paint: Paint) -> String {
    const HEADS: [&str; 7] = ["replies", "input", "cached", "written", "output", "cost", "wasted"];
    let cells = |(name, spend): &(String, Spend)| {
        let unpriced = spend.unpriced == spend.replies;
        let cost = if unpriced { "unknown".to_owned() } else { money(spend.cost) };
        let wasted = if spend.wasted == MicroDollars::ZERO { String::new() } else { money(spend.wasted) };
        let [input, read, write, output] =
            [spend.input, spend.cache_read, spend.cache_write, spend.output].map(tokens);
        (name.clone(), [grouped(spend.replies), input, read, write, output, cost, wasted])
    };
    crate::table::table((head, HEADS), &rows.iter().map(cells).collect::<Vec<_>>(), paint)
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
