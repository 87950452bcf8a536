//! Filters of sessions and messages, as a caller chooses them.

use crate::error::SettingsError;
use jiff::tz::TimeZone;
use std::path::Path;
use wunderblock::store::{EventFilter, StreamFilter};
use wunderblock::{Engine, place_of, project_folders};
use wunderblock_core::author::Author;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::Role;
use wunderblock_core::units::Millis;

/// Sessions that a program considers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionChoice {
    /// Beginning of the ids.
    pub prefix: String,
    /// A folder, which names the project of its repository, or the name of a project.
    pub project: Option<String>,
    /// Name of the user.
    pub user: Option<String>,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Id of the session to which the sessions belong: itself, its branches, its sub-agents and their outputs.
    pub session: Option<StreamId>,
    /// Name of a run inside the session.
    pub run: Option<String>,
    /// Tags that a session must all have.
    pub tags: Vec<String>,
    /// Time since which something was said: a date, a point in time, or an age such as `2w`.
    pub since: Option<String>,
}

/// Messages that a program considers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageChoice {
    /// Who speaks.
    pub speaker: Option<Speaker>,
    /// Name of a tool: its calls and their results.
    pub tool: Option<String>,
    /// A file or folder: calls about it and their results.
    pub path: Option<String>,
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The system text.
    System,
    /// A person.
    Person,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// The harness of the agent, in the user's place.
    Harness,
    /// A hook, in the user's place.
    Hook,
    /// Another agent, in the user's place.
    Peer,
}

/// Returns the filter of sessions. Dates are days of the zone, which is asked only for a date.
///
/// # Errors
/// Fails if the time is invalid, or if the project is a folder that cannot be read.
pub fn session_filter(
    choice: &SessionChoice,
    zone: impl Fn() -> TimeZone,
) -> Result<StreamFilter, SettingsError> {
    Ok(StreamFilter {
        prefix: choice.prefix.clone(),
        projects: choice.project.as_deref().map(projects).transpose()?.unwrap_or_default(),
        user: choice.user.clone(),
        agent: choice.agent.clone(),
        session: choice.session.as_ref().map(|id| StreamId::new(id.root()).unwrap_or_else(|_| id.clone())),
        run: choice.run.clone(),
        tags: choice.tags.clone(),
        since: choice.since.as_deref().map(|text| since(text, zone)).transpose()?,
        ..StreamFilter::default()
    })
}

/// Returns which of the conditions of a choice no session passes, in words, if no session passes all of them.
///
/// # Errors
/// Fails if a condition is invalid, or if the ledger cannot be read.
pub async fn unmatched(
    engine: &Engine,
    choice: &SessionChoice,
    zone: impl Fn() -> TimeZone,
) -> Result<Option<String>, SettingsError> {
    if !engine.listed(session_filter(choice, &zone)?, 1).await?.is_empty() {
        return Ok(None);
    }
    let SessionChoice { prefix, project, user, agent, session, run, tags, since } = choice.clone();
    let (none, text) = (SessionChoice::default, |name: &str, value: &str| format!("{name} `{value}`"));
    let mut each: Vec<(Option<String>, SessionChoice)> = vec![
        (project.as_deref().map(|one| text("of the project", one)), SessionChoice { project, ..none() }),
        (user.as_deref().map(|one| text("of the user", one)), SessionChoice { user, ..none() }),
        (agent.as_deref().map(|one| text("of the agent", one)), SessionChoice { agent, ..none() }),
        (
            session.as_ref().map(|one| text("of the session", one.as_str())),
            SessionChoice { session, ..none() },
        ),
        (run.as_deref().map(|one| text("of the run", one)), SessionChoice { run, ..none() }),
        (since.as_deref().map(|one| text("with a message since", one)), SessionChoice { since, ..none() }),
    ];
    each.extend(
        tags.into_iter()
            .map(|tag| (Some(text("with the tag", &tag)), SessionChoice { tags: vec![tag], ..none() })),
    );
    let begins = Some(text("whose id begins with", &prefix)).filter(|_| !prefix.is_empty());
    each.push((begins, SessionChoice { prefix, ..none() }));
    let mut all = Vec::new();
    for (words, alone) in each {
        let Some(words) = words else { continue };
        if engine.listed(session_filter(&alone, &zone)?, 1).await?.is_empty() {
            return Ok(Some(format!("there is no session {words}")));
        }
        all.push(words);
    }
    Ok(Some(format!("there is no session {}, although some pass each of these alone", all.join(", "))))
}

/// Returns the filter of messages. A time limits the messages, and not only their sessions.
#[must_use]
pub fn message_filter(choice: &MessageChoice, sessions: &StreamFilter) -> EventFilter {
    let (role, author) = match choice.speaker {
        None => (None, None),
        Some(Speaker::System) => (Some(Role::System), None),
        Some(Speaker::Assistant) => (Some(Role::Assistant), None),
        Some(Speaker::Tool) => (Some(Role::Tool), None),
        Some(Speaker::Person) => (Some(Role::User), Some(Author::Person)),
        Some(Speaker::Harness) => (Some(Role::User), Some(Author::Harness)),
        Some(Speaker::Hook) => (Some(Role::User), Some(Author::Hook)),
        Some(Speaker::Peer) => (Some(Role::User), Some(Author::Peer)),
    };
    let text = |text: &Option<String>| text.as_deref().map(Into::into);
    EventFilter { role, author, tool: text(&choice.tool), path: text(&choice.path), since: sessions.since }
}

/// Returns the projects that a text names: that of a folder, with the folders of its repository, or a name.
pub(crate) fn projects(text: &str) -> Result<Vec<String>, SettingsError> {
    let path = Path::new(text);
    if !path.is_dir() {
        return Ok(vec![text.trim_end_matches('/').to_owned()]);
    }
    let folder =
        dunce::canonicalize(path).map_err(|error| SettingsError::value(format!("{text}: {error}")))?;
    let folders = project_folders(&folder).into_iter().map(|folder| folder.to_string_lossy().into_owned());
    Ok(place_of(&folder).map(|place| place.project).into_iter().chain(folders).collect())
}

/// Parses a date, a point in time, or an age such as `2w`.
pub fn since(text: &str, zone: impl Fn() -> TimeZone) -> Result<Millis, SettingsError> {
    let date = || -> Option<jiff::Timestamp> {
        let date: jiff::civil::Date = text.parse().ok()?;
        Some(date.to_zoned(zone()).ok()?.timestamp())
    };
    let time = text.parse::<jiff::Timestamp>().ok().or_else(date).map(|time| time.as_millisecond());
    let time = time.or_else(|| Some(jiff::Timestamp::now().as_millisecond() - age(text)?));
    let why = || {
        SettingsError::value(format!(
            "invalid time `{text}`: expected 2w, 3d, 12h, 30m, 2026-11-01 or 2026-11-01T09:30:00Z"
        ))
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
