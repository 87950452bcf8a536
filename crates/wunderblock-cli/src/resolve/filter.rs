//! Filters of sessions and messages, as the arguments give them.

use crate::args::{Global, MessageFilterArgs, RoleArg, SearchedArgs, SessionFilterArgs};
use crate::drawing::terminal::clean;
use crate::output::console::{say, zone};
use crate::output::exit::Failure;
use crate::resolve::lookup::lookup;
use wunderblock::Engine;
use wunderblock::store::{EventFilter, StreamFilter};
use wunderblock_core::id::StreamId;
use wunderblock_settings::filter::{self, MessageChoice, SessionChoice, Speaker, message_filter};

/// Returns the choice of sessions as data.
pub(crate) fn session_choice(wanted: &SessionFilterArgs) -> SessionChoice {
    SessionChoice {
        project: wanted.project.clone(),
        user: wanted.user.clone(),
        agent: wanted.agent.clone(),
        run: wanted.run.clone(),
        tags: wanted.tag.clone(),
        since: wanted.since.clone(),
        ..SessionChoice::default()
    }
}

/// Returns the filter of sessions.
pub(crate) fn session_filter(choice: &SessionChoice) -> Result<StreamFilter, Failure> {
    Ok(filter::session_filter(choice, zone)?)
}

/// Says which of the conditions no session passes, if no session passes all of them. Returns whether it said something.
pub(crate) async fn tell_unmatched(
    global: &Global,
    engine: &Engine,
    choice: &SessionChoice,
) -> Result<bool, Failure> {
    let unmatched =
        filter::unmatched(engine, choice, zone).await?.filter(|_| *choice != SessionChoice::default());
    if let Some(text) = &unmatched {
        say(global, &format!("{}; `wunderblock sessions` lists all of them", clean(text)));
    }
    Ok(unmatched.is_some())
}

/// The session, the sessions and the messages that a search considers.
pub(crate) type Searched = (Option<StreamId>, StreamFilter, EventFilter);

/// Returns where a search looks.
pub(crate) async fn searched(
    engine: &Engine,
    global: &Global,
    wanted: &SearchedArgs,
) -> Result<Searched, Failure> {
    let session = match &wanted.session {
        Some(text) => Some(lookup(global).known(engine, text).await?.id().clone()),
        None => None,
    };
    let sessions = session_filter(&session_choice(&wanted.sessions))?;
    let messages = message_filter(&choice(&wanted.messages), &sessions);
    Ok((session, sessions, messages))
}

/// Returns the choice of messages as data.
fn choice(wanted: &MessageFilterArgs) -> MessageChoice {
    let speaker = wanted.role.map(|role| match role {
        RoleArg::System => Speaker::System,
        RoleArg::User => Speaker::Person,
        RoleArg::Assistant => Speaker::Assistant,
        RoleArg::Tool => Speaker::Tool,
        RoleArg::Harness => Speaker::Harness,
        RoleArg::Hook => Speaker::Hook,
        RoleArg::Peer => Speaker::Peer,
    });
    MessageChoice { speaker, tool: wanted.tool.clone(), path: wanted.path.clone() }
}
