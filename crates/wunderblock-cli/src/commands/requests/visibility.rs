//! `pin`, `unpin`, `hide`, `unhide`: control whether an entry is in every request, or in none.

use crate::args::{Global, VisibilityArgs};
use crate::drawing::columns::{fit, wrap};
use crate::drawing::terminal::{clean, width};
use crate::output::console::answer;
use crate::output::exit::{Exit, wrong};
use crate::resolve::lookup::{lookup, one_position};
use crate::resolve::names::{placed, short};
use crate::showing::entry::{entry_head, joined_positions};
use wunderblock::report::VisibilityReport;
use wunderblock::{Visibility, VisibilityChange};
use wunderblock_settings::Settings;

pub(crate) async fn run(
    global: &Global,
    settings: &Settings,
    wanted: &VisibilityArgs,
    change: Visibility,
) -> Exit {
    let engine = settings.existing().await?;
    let (session, place) = lookup(global).session_at(&engine, &wanted.session.session).await?;
    let Some(seq) = one_position(wanted.seq, place)? else {
        return Err(wrong("give the position of a message: SESSION#118, or SESSION 118"));
    };
    let done = change.set(&session, seq).await?;
    let (id, name) = (session.id().as_str(), short(&session).await?);
    answer(global, &VisibilityReport::new(id, change, &done), || words(&name, change, &done))
}

/// Describes the change, its entry and its effects. Commands are on separate lines, so that they can be copied.
fn words(session: &str, change: Visibility, done: &VisibilityChange) -> String {
    let entry = &done.entry;
    let already = if done.recorded.is_none() { " already" } else { "" };
    let mut out = format!("#{} is {}{already}: {}\n", entry.seq, change.word(), entry_head(entry));
    out.push_str(&format!("  {}\n", fit(&clean(&entry.what), width() - 2)));
    if !entry.along.is_empty() {
        let line = format!("what belongs to it goes along: {}", joined_positions(&entry.along));
        out.push_str(&wrap(&line, width(), 2));
    }
    if !done.copies.is_empty() {
        let line = format!("so do its copies that came back at the tail: {}", joined_positions(&done.copies));
        out.push_str(&wrap(&line, width(), 2));
    }
    let mut say = |line: &str, command: &str| {
        out.push_str(&wrap(line, width(), 2));
        if !command.is_empty() {
            out.push_str(&format!("    wunderblock {command}\n"));
        }
    };
    let seq = entry.seq;
    let read = format!("read {}", placed(session, &entry.address));
    let lanes: Vec<String> =
        done.left_out.iter().map(|(lane, at)| format!("`{}` (step #{at})", clean(lane.as_str()))).collect();
    let lanes = lanes.join(", ");
    match change {
        Visibility::Pin if done.hidden => {
            say("it is hidden, and a pin shows nothing that is hidden:", &format!("unhide {session}#{seq}"));
        }
        Visibility::Pin => {
            if done.brought_back {
                say(&format!("it comes back into lanes that had left it out: {lanes}"), "");
            }
            say(
                "it stays in every request, word for word. To take that back:",
                &format!("unpin {session}#{seq}"),
            );
        }
        Visibility::Unpin => say("it may leave requests again, as everything may.", ""),
        Visibility::Hide => {
            say("it is in no request from here on, and stays readable:", &read);
            say("to take that back:", &format!("unhide {session}#{seq}"));
            if let Some(at) = done.told_by.last() {
                let line = format!(
                    "the summary at #{at} was made with it and may still tell of it. To take the summary out of the view:"
                );
                say(&line, &format!("undo {session}"));
            }
        }
        Visibility::Unhide if done.left_out.is_empty() => say("it is in requests again.", ""),
        Visibility::Unhide => {
            let line = format!(
                "lanes that have left it out do not show it by themselves: {lanes}. To bring it back:"
            );
            say(&line, &format!("pin {session}#{seq}"));
        }
    }
    out
}
