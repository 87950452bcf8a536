//! Lists the conversations of a file, and describes sessions by their first words.

use crate::args::Global;
use crate::drawing::columns::{fit, plural};
use crate::drawing::terminal::{clean, width};
use crate::output::console::{say, time};
use wunderblock::store::StreamInfo;
use wunderblock::{Engine, Error};
use wunderblock_core::event::Fact;
use wunderblock_core::message::Part;
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;
use wunderblock_settings::lookup::Conversations;

/// Maximum number of conversations listed; the latest are listed.
const LISTED: usize = 6;

/// Lists the conversations of a file, and marks the selected one.
pub(crate) async fn list(
    global: &Global,
    engine: &Engine,
    Conversations { file, all, chosen }: Conversations<'_>,
) -> Result<(), Error> {
    if global.quiet {
        return Ok(());
    }
    let (name, count) = (clean(file), grouped(all.len() as u64));
    say(
        global,
        &format!(
            "{name} holds {count} conversations. This is #{}, the newest in which something was said:",
            chosen + 1
        ),
    );
    let first = all.len().saturating_sub(LISTED).min(chosen);
    for (index, info) in all.iter().enumerate().skip(first).rev() {
        if index + LISTED < all.len() && index != chosen {
            continue;
        }
        let begins = beginning(engine, info).await?.unwrap_or_default();
        let mark = if index == chosen { "→" } else { " " };
        let said = plural(info.messages, "message", "messages");
        let line = format!("{mark} #{:<6} {}  {said:>14}  {begins}", index + 1, time(info.opened_at));
        say(global, &fit(&line, width()));
    }
    say(
        global,
        &format!(
            "another one: {name}#{}; all of them: `wunderblock sessions -n {}`",
            chosen.max(1),
            all.len()
        ),
    );
    Ok(())
}

/// Returns a one-line description of a session: the user's first words, or the session from which it was forked or
/// started.
pub(crate) async fn beginning(engine: &Engine, info: &StreamInfo) -> Result<Option<String>, Error> {
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
pub(crate) async fn first_words(engine: &Engine, info: &StreamInfo) -> Result<Option<String>, Error> {
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
