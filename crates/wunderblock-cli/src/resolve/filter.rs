//! Filters of sessions and messages, as the arguments give them.

use crate::args::{Global, MessageFilterArgs, RoleArg, SearchedArgs, SessionFilterArgs};
use crate::output::console::zone;
use crate::output::exit::Failure;
use crate::resolve::lookup::lookup;
use wunderblock::Engine;
use wunderblock::store::{EventFilter, StreamFilter};
use wunderblock_core::id::StreamId;
use wunderblock_settings::filter::{self, MessageChoice, SessionChoice, Speaker, message_filter};

/// Returns the filter of sessions.
pub(crate) fn session_filter(wanted: &SessionFilterArgs, prefix: &str) -> Result<StreamFilter, Failure> {
    let choice = SessionChoice {
        prefix: prefix.to_owned(),
        project: wanted.project.clone(),
        agent: wanted.agent.clone(),
        tags: wanted.tag.clone(),
        since: wanted.since.clone(),
    };
    Ok(filter::session_filter(&choice, zone)?)
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
    let sessions = session_filter(&wanted.sessions, "")?;
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
