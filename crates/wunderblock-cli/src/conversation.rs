//! Selects one conversation of a file that contains several, and lists all of them.

use crate::args::Global;
use crate::columns::{fit, plural};
use crate::console::{say, time};
use crate::exit::{Failure, wrong};
use crate::terminal::{clean, width};
use std::path::Path;
use wunderblock::store::StreamInfo;
use wunderblock::{Engine, Session};
use wunderblock_core::event::Fact;
use wunderblock_core::message::Part;
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;

/// Maximum number of conversations listed; the latest are listed.
const LISTED: usize = 6;

/// Splits a path from the conversation it selects, for example: `chat.md#12`. An existing file with a `#` in its name
/// is not split.
pub(crate) fn split(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('#') {
        Some((file, wanted)) if !Path::new(text).exists() && Path::new(file).is_file() => {
            (file, Some(wanted))
        }
        _ => (text, None),
    }
}

/// Returns the selected conversation of a file. Without a selection by number or by the end of an id, returns the
/// latest conversation with content. If the file contains several conversations, also lists them.
pub(crate) async fn conversation(
    global: &Global,
    session: Session,
    (file, wanted): (&str, Option<&str>),
) -> Result<Session, Failure> {
    if !Path::new(file).is_file() {
        return Ok(session);
    }
    let all = session.siblings().await?;
    if all.len() < 2 && wanted.is_none() {
        return Ok(session);
    }
    let place = match wanted {
        Some(wanted) => named(&all, wanted).ok_or_else(|| {
            let count = plural(all.len() as u64, "conversation", "conversations");
            wrong(format!(
                "unknown conversation `{wanted}`: {file} has {count}; give a number from 1 to {}",
                all.len()
            ))
        })?,
        None => all.iter().rposition(has_content).unwrap_or(all.len() - 1),
    };
    let Some(chosen) = all.get(place) else { return Ok(session) };
    let engine = session.engine();
    if wanted.is_none() && !global.quiet {
        list(global, engine, (file, place), &all).await?;
    }
    Ok(engine.session_by_id(chosen.id.clone()))
}

fn has_content(info: &StreamInfo) -> bool {
    info.first_user.is_some() && info.messages > 1
}

/// Minimum length of the end of an id that selects a conversation. Shorter texts are taken as numbers, even if they
/// are also the end of an id.
const ID_END: usize = 8;

fn named(all: &[StreamInfo], wanted: &str) -> Option<usize> {
    if wanted.len() < ID_END {
        let place = wanted.parse::<usize>().ok()?.checked_sub(1)?;
        return (place < all.len()).then_some(place);
    }
    let mut fits =
        (0..all.len()).filter(|place| all.get(*place).is_some_and(|info| info.id.as_str().ends_with(wanted)));
    fits.next().filter(|_| fits.next().is_none())
}

/// Lists the conversations of a file, and marks the selected one.
async fn list(
    global: &Global,
    engine: &Engine,
    (file, place): (&str, usize),
    all: &[StreamInfo],
) -> Result<(), Failure> {
    let (name, count) = (clean(file), grouped(all.len() as u64));
    say(
        global,
        &format!(
            "{name} holds {count} conversations. This is #{}, the newest in which something was said:",
            place + 1
        ),
    );
    let first = all.len().saturating_sub(LISTED).min(place);
    for (index, info) in all.iter().enumerate().skip(first).rev() {
        if index + LISTED < all.len() && index != place {
            continue;
        }
        let begins = beginning(engine, info).await?.unwrap_or_default();
        let mark = if index == place { "→" } else { " " };
        let said = plural(info.messages, "message", "messages");
        let line = format!("{mark} #{:<6} {}  {said:>14}  {begins}", index + 1, time(info.opened_at));
        say(global, &fit(&line, width()));
    }
    say(
        global,
        &format!(
            "another one: {name}#{}; all of them: `wunderblock sessions -n {}`",
            place.max(1),
            all.len()
        ),
    );
    Ok(())
}

/// Returns a one-line description of a session: the user's first words, or the session from which it was forked or
/// started.
pub(crate) async fn beginning(engine: &Engine, info: &StreamInfo) -> Result<Option<String>, Failure> {
    let from = match (&info.fork, &info.parent) {
        (_, Some(parent)) => Some(clean(&format!("sub-agent of {parent}"))),
        (Some((parent, at)), None) => Some(clean(&format!("fork of {parent} at {at}"))),
        (None, None) => None,
    };
    if info.parent.is_some() {
        return Ok(from);
    }
    Ok(first_words(engine, info).await?.or(from))
}

/// Returns the beginning of the first request, on one line: in a sub-agent's session, its task. `None` if neither a
/// person nor another agent asked for something.
pub(crate) async fn first_words(engine: &Engine, info: &StreamInfo) -> Result<Option<String>, Failure> {
    let Some(event) = wunderblock::first_request(engine, info).await? else { return Ok(None) };
    let events = [event];
    let bodies = engine.bodies(&events).await?;
    let Some(Fact::MessageAppended(said)) = events.first().and_then(|event| event.fact.as_ref()) else {
        return Ok(None);
    };
    let words = said.message.parts.iter().enumerate().find_map(|(index, part)| match part {
        // What a hook or a harness wrote around the words does not belong to the title.
        Part::Text { text, .. } => {
            said.message.own_pieces(index, bodies.of(text)?).into_iter().next().map(|(_, piece)| piece)
        }
        _ => None,
    });
    Ok(words.map(|text| {
        let head: String = text.chars().take(400).collect();
        clean(&head.split_whitespace().collect::<Vec<_>>().join(" "))
    }))
}
