//! `agents tree`: the delegates that a session had, level by level.

use crate::args::{Global, TreeArgs};
use crate::commands::cost::money;
use crate::console::{print, print_report, say};
use crate::conversation::first_words;
use crate::exit::Exit;
use crate::lookup::known_session;
use crate::names::Names;
use crate::paint::Paint;
use crate::settings::Settings;
use crate::table::{listing, tokens};
use crate::terminal::clean;
use serde_json::json;
use std::process::ExitCode;
use wunderblock::account::Spend;
use wunderblock::{DelegationNode, delegation_tree};
use wunderblock_core::units::{Millis, Tokens};

const HEADS: [&str; 6] = ["session", "model", "input", "cost", "time", "task"];
/// Minimum number of columns for a task.
const TASK: usize = 12;

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &TreeArgs) -> Exit {
    let engine = settings.read_only().await?;
    let session = known_session(&engine, global, &wanted.session).await?;
    let nodes = delegation_tree(&engine, &session).await?;
    let names = if global.json { Names::default() } else { Names::all(&engine).await? };
    let mut rows = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let task = first_words(&engine, &node.info).await?.unwrap_or_default();
        if global.json {
            print_report(&report(node, &task))?;
            continue;
        }
        let lead = lead(&nodes, at);
        rows.push([
            format!("{lead}{}", names.short(&node.info.id)),
            clean(node.info.model.as_deref().unwrap_or("—")),
            tokens(input(&node.spend)),
            cost(&node.spend),
            duration(node.info.opened_at, node.info.said_at),
            task,
        ]);
    }
    if !global.json {
        print(&listing(HEADS, &rows, (&[2, 3, 4], TASK), Paint::stdout()))?;
        if nodes.len() == 1 {
            say(global, "the session has no delegates");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the lines of the tree before a node.
fn lead(nodes: &[DelegationNode], at: usize) -> String {
    let Some(node) = nodes.get(at).filter(|node| node.depth > 0) else { return String::new() };
    let goes_on = |depth: usize| {
        let later = nodes.iter().skip(at + 1).find(|later| later.depth <= depth);
        later.is_some_and(|later| later.depth == depth)
    };
    let above = (1..node.depth).map(|depth| if goes_on(depth) { "│  " } else { "   " });
    let own = if goes_on(node.depth) { "├─ " } else { "└─ " };
    above.chain([own]).collect()
}

fn input(spend: &Spend) -> Tokens {
    spend.input + spend.cache_read + spend.cache_write
}

/// Returns the cost; unknown if nothing was reported, or if the price of a reply is unknown.
fn cost(spend: &Spend) -> String {
    if spend.replies == 0 || spend.unpriced > 0 { "unknown".to_owned() } else { money(spend.cost) }
}

fn duration(from: Millis, to: Millis) -> String {
    match to.0.saturating_sub(from.0).max(0) / 1_000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

fn report(node: &DelegationNode, task: &str) -> serde_json::Value {
    let (info, spend) = (&node.info, &node.spend);
    let is_known = spend.replies > 0 && spend.unpriced == 0;
    json!({
        "session": info.id,
        "parent": info.parent,
        "depth": node.depth,
        "model": info.model,
        "messages": info.messages,
        "replies": spend.replies,
        "input": input(spend),
        "output": spend.output,
        "cost_microdollars": is_known.then_some(spend.cost),
        "milliseconds": info.said_at.0.saturating_sub(info.opened_at.0).max(0),
        "task": task,
    })
}
