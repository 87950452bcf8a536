//! Memories as text: lists, one memory, its history.

use super::words::{memory, name, page};
use crate::args::{Global, MemoryList};
use crate::drawing::columns::wrap;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{answer, print, print_report, say, time, zone};
use crate::output::exit::Exit;
use std::process::ExitCode;
use wunderblock::{Memories, MemoryFilter, MemoryStep};
use wunderblock_core::units::Millis;
use wunderblock_settings::filter::since;

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
    Ok(if listed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

pub(super) async fn show(global: &Global, memories: &Memories, text: &str) -> Exit {
    let name = name(text)?;
    let shown = memories.show(name.clone()).await;
    if shown.is_err()
        && let Some(proposal) = memories.proposals(true).await?.into_iter().find(|one| one.proposal == name)
    {
        return answer(global, &proposal, || page(&proposal));
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
