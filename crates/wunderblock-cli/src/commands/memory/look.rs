//! Memories as text: lists, one memory, its history.

use super::{found, name};
use crate::args::{Global, MemoryList};
use crate::drawing::columns::wrap;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{age, answer, print, print_report, say, time, zone};
use crate::output::exit::{Exit, Failure, wrong};
use wunderblock::{Memories, MemoryDescription, MemoryFilter, MemoryStep};
use wunderblock_core::units::Millis;
use wunderblock_settings::filter::since;

/// Number of columns by which the text of a memory is indented.
const INDENT: usize = 4;

pub(super) async fn list(global: &Global, memories: &Memories, wanted: &MemoryList) -> Exit {
    let as_of = wanted.as_of.as_deref().map(|text| since(text, zone)).transpose()?;
    let filter = MemoryFilter {
        kind: wanted.kind.map(crate::args::KindArg::kind),
        tags: wanted.tag.clone(),
        all: wanted.all,
        as_of,
    };
    let listed = memories.list(filter).await?;
    let waiting = memories.proposals(false).await?.len();
    if global.json {
        listed.iter().try_for_each(print_report)?;
    } else {
        print(&listed.iter().map(memory).collect::<String>())?;
    }
    if listed.is_empty() {
        say(global, "no memories here; `wunderblock memory add TEXT` adds one");
    }
    if waiting > 0 {
        say(global, &format!("waiting for your verdict: {waiting}; `wunderblock memory review` shows them"));
    }
    Ok(found(!listed.is_empty()))
}

/// Returns a memory as a person reads it in a list: a line about it, and its text.
pub(super) fn memory(memory: &MemoryDescription) -> String {
    let paint = Paint::stdout();
    let scope = &memory.scope;
    let whose = match (&scope.user, &scope.project) {
        (Some(user), Some(_)) => clean(user),
        (Some(user), None) => format!("{}, everywhere", clean(user)),
        (None, Some(_)) => "shared".to_owned(),
        (None, None) => "shared, everywhere".to_owned(),
    };
    let state = if memory.state == "current" { String::new() } else { format!(" · {}", memory.state) };
    let by = memory.superseded_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let pinned = if memory.pinned { " · pinned" } else { "" };
    let tags: String = memory.tags.iter().map(|tag| format!(" #{}", clean(tag))).collect();
    let line = format!("{} · {whose} · {}{state}{by}{pinned}{tags}", memory.kind, age(memory.at));
    let text = memory.text.as_deref().map_or_else(|| "(erased)".to_owned(), clean);
    let lines: String = text.lines().map(|line| wrap(line, width().min(100), INDENT)).collect();
    format!("{}  {}\n{lines}", paint.bold(&memory.memory.to_string()), paint.dim(&line))
}

pub(super) async fn show(global: &Global, memories: &Memories, text: &str) -> Exit {
    let name = name(text)?;
    let shown = memories.show(name.clone()).await;
    if shown.is_err()
        && let Some(proposal) = memories.proposals(true).await?.into_iter().find(|one| one.proposal == name)
    {
        return answer(global, &proposal, || super::review::page(&proposal));
    }
    let shown = shown?;
    answer(global, &shown, || {
        let (kind, who) = &shown.by;
        let mut out = memory(&shown);
        out.push_str(&format!("    approved by {kind} {}, {}\n", clean(who), time(shown.at)));
        out.push_str(&format!("    importance {}, confidence {}\n", shown.importance, shown.confidence));
        for (what, at) in [("from", shown.from), ("until", shown.until), ("expires", shown.expires)] {
            out.extend(at.map(|at: Millis| format!("    {what} {}\n", time(at))));
        }
        out.extend(shown.evidence.iter().map(|place| format!("    rests on {place}\n")));
        out
    })
}

pub(super) async fn history(global: &Global, memories: &Memories, text: &str) -> Exit {
    let steps = memories.history(name(text)?).await?;
    let step = |step: &MemoryStep| {
        let (kind, who) = &step.by;
        let text = step.text.as_deref().map_or_else(|| "(erased)".to_owned(), clean);
        let (seq, state, at) = (step.seq, step.state, time(step.at));
        format!("{seq:>6}  {at}  {state:<10} {kind} {}\n{}", clean(who), wrap(&text, width().min(100), 8))
    };
    answer(global, &steps, || steps.iter().map(step).collect())
}

/// Returns the part of a claim that is read from stdin, if it is `-`.
pub(super) fn text_or_stdin(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    std::io::read_to_string(std::io::stdin()).map_err(|error| wrong(format!("stdin cannot be read: {error}")))
}
