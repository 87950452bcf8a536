//! Filters of sessions and messages, as the storage answers them.

use crate::args::{Global, MessageFilterArgs, RoleArg, SearchedArgs, SessionFilterArgs};
use crate::console::zone;
use crate::exit::{Failure, wrong};
use crate::lookup::known_session;
use std::path::Path;
use wunderblock::store::{EventFilter, StreamFilter};
use wunderblock::{Engine, project_folders};
use wunderblock_core::author::Author;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::Role;
use wunderblock_core::units::Millis;

/// Returns the filter of sessions.
pub(crate) fn session_filter(wanted: &SessionFilterArgs, prefix: &str) -> Result<StreamFilter, Failure> {
    Ok(StreamFilter {
        prefix: prefix.to_owned(),
        projects: wanted.project.as_deref().map(projects).transpose()?.unwrap_or_default(),
        agent: wanted.agent.clone(),
        tags: wanted.tag.clone(),
        since: wanted.since.as_deref().map(since).transpose()?,
        ..StreamFilter::default()
    })
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
        Some(text) => Some(known_session(engine, global, text).await?.id().clone()),
        None => None,
    };
    let sessions = session_filter(&wanted.sessions, "")?;
    let messages = message_filter(&wanted.messages, &sessions);
    Ok((session, sessions, messages))
}

/// Returns the filter of messages. A time limits the messages, and not only their sessions.
fn message_filter(wanted: &MessageFilterArgs, sessions: &StreamFilter) -> EventFilter {
    let (role, author) = match wanted.role {
        None => (None, None),
        Some(RoleArg::System) => (Some(Role::System), None),
        Some(RoleArg::Assistant) => (Some(Role::Assistant), None),
        Some(RoleArg::Tool) => (Some(Role::Tool), None),
        Some(RoleArg::User) => (Some(Role::User), Some(Author::Person)),
        Some(RoleArg::Harness) => (Some(Role::User), Some(Author::Harness)),
        Some(RoleArg::Hook) => (Some(Role::User), Some(Author::Hook)),
        Some(RoleArg::Peer) => (Some(Role::User), Some(Author::Peer)),
    };
    let text = |text: &Option<String>| text.as_deref().map(Into::into);
    EventFilter { role, author, tool: text(&wanted.tool), path: text(&wanted.path), since: sessions.since }
}

/// Returns the projects that an argument names: a folder with its repository, or a name.
fn projects(text: &str) -> Result<Vec<String>, Failure> {
    let path = Path::new(text);
    if !path.is_dir() {
        return Ok(vec![text.trim_end_matches('/').to_owned()]);
    }
    let folder = dunce::canonicalize(path).map_err(|error| wrong(format!("{text}: {error}")))?;
    Ok(project_folders(&folder).iter().map(|folder| folder.to_string_lossy().into_owned()).collect())
}

/// Parses a date, a point in time, or an age such as `2w`.
fn since(text: &str) -> Result<Millis, Failure> {
    let date = || -> Option<jiff::Timestamp> {
        let date: jiff::civil::Date = text.parse().ok()?;
        Some(date.to_zoned(zone()).ok()?.timestamp())
    };
    let time = text.parse::<jiff::Timestamp>().ok().or_else(date).map(|time| time.as_millisecond());
    let time = time.or_else(|| Some(jiff::Timestamp::now().as_millisecond() - age(text)?));
    let why = || {
        wrong(format!("invalid time `{text}`: expected 2w, 3d, 12h, 30m, 2026-11-01 or 2026-11-01T09:30:00Z"))
    };
    time.map(Millis).ok_or_else(why)
}

/// Parses an age, in milliseconds.
fn age(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
    let minutes = match unit {
        'w' => 7 * 24 * 60,
        'd' => 24 * 60,
        'h' => 60,
        'm' => 1,
        _ => return None,
    };
    Some(i64::from(count) * minutes * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_number_and_a_unit() {
        let day = 24 * 60 * 60_000;
        assert_eq!(
            [age("2w"), age("3d"), age("0h"), age("90m")],
            [Some(14 * day), Some(3 * day), Some(0), Some(90 * 60_000)]
        );
        for wrong in ["", "w", "2", "2y", "-1d", "1.5d", "2 w", "二w", "99999999999d"] {
            assert_eq!(age(wrong), None, "{wrong}");
        }
    }
}
