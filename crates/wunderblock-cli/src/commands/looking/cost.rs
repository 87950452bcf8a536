//! `cost`: what sessions cost, by day, project, model, agent or session.

use crate::args::{Cost, CostBy, Global};
use crate::drawing::columns::plural;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_json, say};
use crate::output::exit::{Exit, Failure};
use crate::resolve::filter::{session_choice, session_filter};
use crate::resolve::lookup::lookup;
use crate::resolve::names::Names;
use crate::showing::table::{day, tokens};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;
use wunderblock::account::{BrokenPrefix, Spend, SpentReply, ToolUse, broken_prefixes, spend, tools};
use wunderblock::catalog::MicroDollars;
use wunderblock::store::StreamInfo;
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;
use wunderblock_wire::PromptPart;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Cost) -> Exit {
    let engine = settings.read_only().await?;
    let mut filter = session_filter(&session_choice(&wanted.filter))?;
    // A session that was rewound has several branches, and all of them cost.
    let mut family = None;
    if let Some(text) = &wanted.session {
        let session = lookup(global).known(&engine, text).await?;
        let root = session.id().root().to_owned();
        filter.prefix.clone_from(&root);
        family = Some(root);
    }
    let names = if global.json { Names::default() } else { Names::all(&engine).await? };
    let group = |reply: SpentReply<'_>| {
        let is_its = |family: &String| reply.session.id.root() == family;
        family.as_ref().is_none_or(is_its).then(|| named(wanted.by, reply, &names))
    };
    let sums = spend(&engine, filter.clone(), &group).await?;
    let wanted_session = |info: &StreamInfo| family.as_ref().is_some_and(|family| info.id.root() == family);
    let detail = match &family {
        Some(_) => Detail {
            tools: tools(&engine, filter.clone(), &wanted_session).await?,
            broken: broken_prefixes(&engine, filter, &wanted_session, BREAKS).await?,
        },
        None => Detail::default(),
    };
    let mut all = Spend::default();
    sums.values().for_each(|spend| all += spend);
    let mut rows: Vec<(String, Spend)> = sums.into_iter().collect();
    if wanted.by != CostBy::Day {
        rows.sort_by_key(|(_, spend)| std::cmp::Reverse((spend.cost, spend.replies)));
    }
    if global.json {
        json_rows(wanted.by, &rows, &all)?;
        return detail.json();
    }
    if rows.is_empty() {
        say(global, "no usage: the transcripts of these sessions report none");
    } else {
        let many = rows.len() > 1;
        rows.extend(many.then(|| ("in all".to_owned(), all.clone())));
        print(&table(word(wanted.by), &rows, Paint::stdout()))?;
        print(&notes(&all))?;
    }
    let gap = if rows.is_empty() { "" } else { "\n" };
    print(&detail.words(gap, &names, Paint::stdout()))?;
    Ok(ExitCode::SUCCESS)
}

/// Maximum number of changed beginnings that are examined. Each one is found by rebuilding or reading two requests.
const BREAKS: usize = 10;

/// What is told about a single session only.
#[derive(Default)]
struct Detail {
    tools: BTreeMap<String, ToolUse>,
    broken: Vec<BrokenPrefix>,
}

impl Detail {
    fn json(&self) -> Exit {
        for (name, used) in &self.tools {
            let ToolUse { calls, errors, tokens, .. } = used;
            let tool =
                json!({ "by": "tool", "name": name, "calls": calls, "errors": errors, "tokens": tokens });
            print_json(&tool)?;
        }
        for broken in &self.broken {
            let mut value = serde_json::to_value(broken)?;
            if let Some(object) = value.as_object_mut() {
                object.insert("by".to_owned(), "cache_break".into());
            }
            print_json(&value)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the places at which requests changed, and the tools.
    fn words(&self, gap: &str, names: &Names, paint: Paint) -> String {
        let mut out = String::new();
        for broken in &self.broken {
            let Some(found) = &broken.place else { continue };
            let part = match &found.part {
                PromptPart::Tools => "the tools".to_owned(),
                PromptPart::System => "the system text".to_owned(),
                PromptPart::Message { number, role } => format!("message {number} ({})", clean(role)),
            };
            let (place, missed) = (names.place(&broken.session, broken.seq), tokens(broken.tokens));
            let offset = grouped(found.offset as u64);
            out.push_str(&format!(
                "{place}: changed from byte {offset} on, in {part}; {missed} tokens missed\n"
            ));
        }
        if self.tools.is_empty() {
            return out;
        }
        let mut rows: Vec<(&String, &ToolUse)> = self.tools.iter().collect();
        rows.sort_by_key(|(_, used)| std::cmp::Reverse((used.calls, used.tokens)));
        let cells = rows.into_iter().map(|(name, used)| {
            let errors = if used.errors == 0 { String::new() } else { grouped(used.errors) };
            (name.clone(), [grouped(used.calls), errors, tokens(used.tokens)])
        });
        let heads = ["calls", "errors", "tokens of results"];
        format!(
            "{out}{gap}{}",
            crate::showing::table::table("tool", heads, &cells.collect::<Vec<_>>(), paint)
        )
    }
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

fn json_rows(by: CostBy, rows: &[(String, Spend)], all: &Spend) -> Exit {
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
pub(in crate::commands) fn money(amount: MicroDollars) -> String {
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
    crate::showing::table::table(head, HEADS, &rows.iter().map(cells).collect::<Vec<_>>(), paint)
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
