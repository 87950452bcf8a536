//! `describe`: describes a summary and its sources, or lists all summaries of a session.

use crate::args::{Describe, Global};
use crate::drawing::columns::{fit, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, clean_lines, width};
use crate::output::console::{answer, say};
use crate::output::exit::Exit;
use crate::resolve::lookup::lookup;
use crate::resolve::names::{placed, short};
use std::collections::{BTreeMap, BTreeSet};
use wunderblock::machine::resume;
use wunderblock::originals;
use wunderblock::report::{SessionReport, SummariesReport};
use wunderblock::summary_graph::{ChildNode, Described, GraphNode, ReadingCost};
use wunderblock_core::compaction::{LostFact, Manner};
use wunderblock_core::event::{Fact, SessionDescribed};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_settings::Settings;
use wunderblock_settings::lookup::is_place;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Describe) -> Exit {
    if wanted.title.is_some() || !wanted.tag.is_empty() || !wanted.untag.is_empty() {
        return label(global, settings, wanted).await;
    }
    if wanted.node.starts_with("wb:") || is_place(&wanted.node) {
        let engine = settings.read_only().await?;
        let address = lookup(global).session_address(&engine, &wanted.node).await?;
        let described = engine.recall().describe(address).await?;
        return answer(global, &described, || picture(&described, Paint::stdout()));
    }
    let (_, session) = lookup(global).reading(settings, &wanted.node).await?;
    let nodes = session.nodes(None).await?;
    if nodes.is_empty() && !global.json {
        say(global, "the session has no summaries: nothing of it has been compacted yet");
    }
    let name = short(&session).await?;
    let report = SummariesReport { session: session.id(), nodes: &nodes };
    answer(global, &report, || tree(&name, &nodes, Paint::stdout()))
}

/// Gives a session a title and tags.
async fn label(global: &Global, settings: &Settings, wanted: &Describe) -> Exit {
    let engine = settings.existing().await?;
    let session = lookup(global).known(&engine, &wanted.node).await?;
    let info = session.info().await?;
    let mut tags = info.tags.clone();
    let new = wanted.tag.iter().map(|tag| tag.trim().into()).filter(|tag| !info.tags.contains(tag));
    tags.extend(new);
    tags.retain(|tag| !wanted.untag.iter().any(|untag| untag.trim() == &**tag));
    let title = wanted.title.as_ref().map(|title| title.trim().into());
    let described = SessionDescribed { title, tags: Some(tags).filter(|tags| *tags != info.tags) };
    if described != SessionDescribed::default() {
        session.append(Fact::SessionDescribed(described)).await?;
    }
    let (info, name) = (session.info().await?, short(&session).await?);
    let report = SessionReport::new(info, originals(&session).await?, resume(&session).await?);
    answer(global, &report, || {
        let title = report.title.as_deref().map_or("no title of its own".to_owned(), clean);
        let tags: Vec<String> = report.tags.iter().map(|tag| format!(" [{}]", clean(tag))).collect();
        format!("{name}: {title}{}\n", tags.concat())
    })
}

/// Lists all nodes, each under the first node that was made from it.
fn tree(session: &str, nodes: &[GraphNode], paint: Paint) -> String {
    let by_seq: BTreeMap<Seq, &GraphNode> = nodes.iter().map(|node| (node.seq, node)).collect();
    let mut roots: Vec<&GraphNode> = nodes.iter().filter(|node| node.parents.is_empty()).collect();
    roots.sort_by_key(|node| (node.from, node.seq));
    let mut seen = BTreeSet::new();
    let mut out = String::new();
    // Nodes that are made from each other in a cycle have no root; they are listed after the others.
    for root in roots.into_iter().chain(nodes) {
        let mut open = vec![(0, root)];
        while let Some((depth, node)) = open.pop() {
            if !seen.insert(node.seq) {
                continue;
            }
            out.push_str(&line(session, node, depth, paint));
            let mut below: Vec<&GraphNode> =
                node.sources.iter().filter_map(|seq| by_seq.get(seq).copied()).collect();
            below.sort_by_key(|node| (node.from, node.seq));
            open.extend(below.into_iter().rev().map(|node| (depth + 1, node)));
        }
    }
    out
}

fn line(session: &str, node: &GraphNode, depth: usize, paint: Paint) -> String {
    let mut facts = vec![format!("#{}–{}", node.from, node.to), plural(node.messages, "message", "messages")];
    facts.extend(saved(node));
    facts.push(node.producer.to_string());
    // A summary made in the normal way needs no remark.
    let manner = node.manner.filter(|manner| *manner != Manner::Normal);
    facts.extend(manner.map(|manner| manner.word().to_owned()));
    let lane = node.lane.as_ref().filter(|lane| lane.as_str() != "main");
    facts.extend(lane.map(|lane| format!("lane {lane}")));
    facts.extend(score(node));
    if node.shown {
        facts.push("shown".to_owned());
    }
    // The indent is limited, so that a long chain of nodes stays on the screen.
    let indent = "  ".repeat(depth.min(12));
    let head = format!("{}  {}", paint.bold(&placed(session, &node.address)), clean(&facts.join(" · ")));
    let mut out = wrap(&head, width(), indent.len());
    out.push_str(&title_line(&indent, &node.title, paint));
    out
}

fn title_line(indent: &str, title: &str, paint: Paint) -> String {
    if title.is_empty() {
        return String::new();
    }
    let room = width().saturating_sub(indent.len() + 4);
    format!("{indent}    {}\n", paint.dim(&fit(&clean(title), room)))
}

fn saved(node: &GraphNode) -> Option<String> {
    let count = |tokens: Option<Tokens>| tokens.map_or_else(|| "?".to_owned(), |tokens| grouped(tokens.0));
    let known = node.tokens_before.is_some() || node.tokens_after.is_some();
    known.then(|| format!("{} → {} tokens", count(node.tokens_before), count(node.tokens_after)))
}

fn score(node: &GraphNode) -> Option<String> {
    let Some(check) = &node.check else {
        return node.lane.is_none().then(|| "unchecked".to_owned());
    };
    let kept = format!("kept {} of {}", grouped(check.kept.into()), grouped(check.demanded.into()));
    // A summary that lost the task is not called grounded, even if the rest is correct.
    let grounded = format!("grounded {}, ", percent(check.grounded.0));
    let grounded = if check.is_task_lost() { String::new() } else { grounded };
    let unfound = match check.unfound {
        0 => String::new(),
        count => format!(", {} not found in the range", plural(count.into(), "line", "lines")),
    };
    Some(format!("{grounded}{kept}{}{unfound}", lost(&check.lost)))
}

/// Maximum number of lost facts named per summary.
const LOST_MAX: usize = 3;

fn lost(facts: &[LostFact]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let named = facts.iter().take(LOST_MAX).map(|fact| format!("{} #{}", fact.kind.words(), fact.at));
    let more = facts.len().saturating_sub(LOST_MAX);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    format!(", lost {}{more}", named.collect::<Vec<_>>().join(", "))
}

/// Formats thousandths as a percentage.
fn percent(permille: u16) -> String {
    if permille.is_multiple_of(10) {
        format!("{} %", permille / 10)
    } else {
        format!("{}.{} %", permille / 10, permille % 10)
    }
}

fn picture(described: &Described, paint: Paint) -> String {
    let node = &described.node;
    let what =
        if node.level == 0 { "of events".to_owned() } else { format!("of summaries, level {}", node.level) };
    let mut out = format!("{}  summary {what}\n", paint.bold(&node.address));
    let lane = node.lane.as_ref().map_or("none: some other program made it", |lane| lane.as_str());
    let replaced =
        format!("#{} to #{}, {}", node.from, node.to, plural(node.messages, "message", "messages"));
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push_str(&format!("{}  {}\n", paint.dim(&format!("{name:>12}")), clean(&value)));
        }
    };
    row("replaces", Some(replaced));
    row("tokens", saved(node));
    row("made by", Some(made_by(node)));
    row("policy", node.policy.as_deref().map(ToOwned::to_owned));
    row("focus", node.focus.as_deref().map(ToOwned::to_owned));
    row("check", score(node));
    row("lane", Some(lane.to_owned()));
    row("shown", Some(if node.shown { "in the lane's present view" } else { "no" }.to_owned()));
    row("part of", (!node.parents.is_empty()).then(|| positions(&node.parents)));
    row("made from", (!node.sources.is_empty()).then(|| positions(&node.sources)));
    row("to expand", Some(cost(described.expand)));
    if !described.subtree.is_empty() {
        out.push_str(&format!("\n{}\n", paint.dim("beneath it")));
        described.subtree.iter().for_each(|branch| out.push_str(&beneath(branch, paint)));
        if described.more > 0 {
            out.push_str(&format!("  … and {} more\n", grouped(described.more)));
        }
    }
    match &described.text {
        Some(text) => out.push_str(&format!("\n{}\n", clean_lines(text).trim_end())),
        None => out.push_str(&wrap("\n⟨its text is not in the ledger, or was erased⟩", width(), 0)),
    }
    out
}

fn made_by(node: &GraphNode) -> String {
    let how = match node.manner {
        None => return node.producer.to_string(),
        Some(Manner::Normal) => "as it was asked for",
        Some(Manner::Aggressive) => "by a second try that aimed lower",
        Some(Manner::Fallback) => "because nothing of what the summarizer wrote could be taken",
        Some(Manner::Capped) => "cut to its cap",
    };
    let word = node.manner.map(Manner::word).unwrap_or_default();
    format!("{}, {word}: {how}", node.producer)
}

fn positions(seqs: &[Seq]) -> String {
    seqs.iter().map(|seq| format!("#{seq}")).collect::<Vec<_>>().join(" ")
}

fn cost(reading: ReadingCost) -> String {
    match (reading.tokens, reading.pages) {
        (Some(tokens), Some(pages)) => {
            format!("{} tokens, {}", grouped(tokens.0), plural(pages, "page", "pages"))
        }
        _ => "not counted yet".to_owned(),
    }
}

fn beneath(branch: &ChildNode, paint: Paint) -> String {
    let indent = "  ".repeat(usize::try_from(branch.depth).unwrap_or(usize::MAX).min(12));
    let facts = format!(
        "#{}–{} · {} · text {} tokens · to expand {}",
        branch.from,
        branch.to,
        plural(branch.messages, "message", "messages"),
        grouped(branch.tokens.0),
        cost(branch.expand)
    );
    format!("{indent}{}  {facts}\n{}", branch.address, title_line(&indent, &branch.title, paint))
}
