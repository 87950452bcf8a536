//! `agents tree`: the delegates that a session had, level by level, and what became of their work.

use crate::args::{Global, TreeArgs};
use crate::commands::looking::cost::money;
use crate::drawing::columns::fit;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report, say};
use crate::output::exit::Exit;
use crate::resolve::conversation::first_words;
use crate::resolve::lookup::lookup;
use crate::resolve::names::Names;
use crate::showing::table::{listing, tokens};
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock::account::Spend;
use wunderblock::{DelegateText, DelegationNode, ModelMismatch};
use wunderblock_core::delegate::model::ModelTable;
use wunderblock_core::units::Tokens;
use wunderblock_settings::Settings;

const HEADS: [&str; 8] = ["session", "type", "model", "input", "cost", "time", "outcome", "task"];
/// Minimum number of columns for a task.
const TASK: usize = 10;
/// Maximum number of columns for a type and for a model.
const WORD: usize = 17;
/// In place of what is unknown.
const UNKNOWN: &str = "—";

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &TreeArgs) -> Exit {
    let engine = settings.read_only().await?;
    let session = lookup(global).known(&engine, &wanted.session).await?;
    let nodes = engine.agents().tree(&session).await?;
    let models = settings.delegate_rules()?.models();
    let names = if global.json { Names::default() } else { Names::all(&engine).await? };
    let mut rows = Vec::with_capacity(nodes.len());
    let mut remarks = String::new();
    for (at, node) in nodes.iter().enumerate() {
        let told = match &node.info {
            Some(info) => first_words(&engine, info).await?,
            None => None,
        };
        let prompt = || Some(node.delegation.as_ref()?.prompt.as_ref()?.text.clone());
        let task = told.or_else(prompt).unwrap_or_default();
        let mismatch = mismatch(node, &models);
        if global.json {
            print_report(&report(node, &task, mismatch.as_ref()))?;
            continue;
        }
        let name = node.info.as_ref().map_or_else(|| UNKNOWN.to_owned(), |info| names.short(&info.id));
        if let Some(mismatch) = &mismatch {
            remarks += &format!("{}: {}\n", place(node, &name), clean(&in_words(mismatch)));
        }
        let cells = row(node, mismatch.as_ref());
        let task = clean(&task.split_whitespace().collect::<Vec<_>>().join(" "));
        let [kind, model, input, cost, time, outcome] = cells;
        rows.push([format!("{}{name}", lead(&nodes, at)), kind, model, input, cost, time, outcome, task]);
    }
    if !global.json {
        print(&listing(HEADS, &rows, &[3, 4, 5], TASK, Paint::stdout()))?;
        print(&remarks)?;
        if nodes.len() == 1 {
            say(global, "the session has no delegates");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the cells between the session and the task.
fn row(node: &DelegationNode, mismatch: Option<&ModelMismatch>) -> [String; 6] {
    let delegation = node.delegation.as_ref();
    let kind = delegation.and_then(|delegation| delegation.agent.as_deref());
    let model = match (mismatch, node.model()) {
        (Some(mismatch), _) => format!("{} → {}", bare(&mismatch.expected), bare(&mismatch.answered)),
        (None, model) => model.map_or(UNKNOWN, undated).to_owned(),
    };
    let has_session = node.info.is_some();
    let known = |text: String| if has_session { text } else { UNKNOWN.to_owned() };
    [
        fit(&clean(kind.unwrap_or(UNKNOWN)), WORD),
        fit(&clean(&model), WORD + 8),
        known(tokens(input(&node.spend))),
        known(cost(&node.spend)),
        node.millis().map_or_else(|| UNKNOWN.to_owned(), duration),
        delegation.map_or(UNKNOWN, |delegation| delegation.outcome.name()).to_owned(),
    ]
}

fn mismatch(node: &DelegationNode, models: &ModelTable) -> Option<ModelMismatch> {
    node.delegation.as_ref()?.mismatch(node.model(), models)
}

fn in_words(mismatch: &ModelMismatch) -> String {
    let ModelMismatch { expected, is_routed, answered } = mismatch;
    let wanted = if *is_routed { "the route chose" } else { "the call asked for" };
    format!("{wanted} {expected}, but {answered} answered")
}

/// Returns a name for a node in a remark.
fn place(node: &DelegationNode, name: &str) -> String {
    match &node.delegation {
        Some(delegation) if node.info.is_none() => format!("#{}", delegation.at),
        _ => name.to_owned(),
    }
}

/// Returns an id without its date.
fn undated(model: &str) -> &str {
    let dated = |date: &str| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    model.rsplit_once(['-', '@']).filter(|(_, date)| dated(date)).map_or(model, |(name, _)| name)
}

/// Returns an id without date, provider and vendor.
fn bare(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split_once("anthropic.").map_or(name, |(_, name)| name);
    let name = undated(name.split(':').next().and_then(|name| name.strip_suffix("-v1")).unwrap_or(name));
    name.strip_prefix("claude-").unwrap_or(name)
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

fn duration(millis: u64) -> String {
    match millis / 1_000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

fn report(node: &DelegationNode, task: &str, mismatch: Option<&ModelMismatch>) -> Value {
    let (info, spend) = (node.info.as_ref(), &node.spend);
    let delegation = node.delegation.as_ref();
    let is_known = spend.replies > 0 && spend.unpriced == 0;
    let text = |text: Option<&DelegateText>| {
        text.map(|text| json!({ "text": text.text, "bytes": text.bytes, "address": text.address }))
    };
    let differs = mismatch.map(|mismatch| {
        let by = if mismatch.is_routed { "route" } else { "call" };
        json!({ "expected": mismatch.expected, "by": by, "answered": mismatch.answered })
    });
    json!({
        "session": info.map(|info| &info.id).or(delegation.and_then(|one| one.session.as_ref())),
        "is_recorded": info.is_some(),
        "parent": info.and_then(|info| info.parent.as_ref()),
        "depth": node.depth,
        "type": delegation.and_then(|one| one.agent.as_ref()),
        "model": node.model(),
        "asked": delegation.and_then(|one| one.asked.as_ref()),
        "chosen": delegation.and_then(|one| one.chosen.as_ref()),
        "mismatch": differs,
        "outcome": delegation.map(|one| one.outcome.name()),
        "call": delegation.and_then(|one| one.call.as_ref()),
        "position": delegation.map(|one| one.at),
        "mode": delegation.and_then(|one| one.mode.as_ref()),
        "prompt": text(delegation.and_then(|one| one.prompt.as_ref())),
        "result": text(delegation.and_then(|one| one.result.as_ref())),
        "messages": info.map(|info| info.messages),
        "replies": spend.replies,
        "input": input(spend),
        "output": spend.output,
        "reported_tokens": delegation.and_then(|one| one.tokens),
        "cost_microdollars": is_known.then_some(spend.cost),
        "milliseconds": node.millis(),
        "task": task,
    })
}
