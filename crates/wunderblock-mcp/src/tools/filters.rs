//! Filters of a search: which sessions, and which messages.

use super::call::ToolCall;
use crate::answer::ToolFailure;
use jiff::tz::TimeZone;
use wunderblock::store::{EventFilter, StreamFilter};
use wunderblock::{Engine, SearchIn};
use wunderblock_core::fence::plain_line;
use wunderblock_core::id::StreamId;
use wunderblock_settings::SettingsError;
use wunderblock_settings::filter::{
    MessageChoice, SessionChoice, Speaker, message_filter, session_filter, unmatched,
};

/// What a search looks at.
pub(super) struct Searched {
    pub(super) within: SearchIn,
    pub(super) session: Option<StreamId>,
    pub(super) sessions: StreamFilter,
    pub(super) events: EventFilter,
    choice: SessionChoice,
}

impl Searched {
    /// Returns what the arguments of a call choose. Dates are days of UTC, as times in answers are.
    pub(super) async fn of(call: &ToolCall<'_>, engine: &Engine) -> Result<Self, ToolFailure> {
        let text = |name: &str| call.arguments.text(name).map(str::to_owned);
        let choice = SessionChoice {
            project: text("project"),
            user: text("user"),
            agent: text("agent"),
            run: text("run"),
            since: text("since"),
            ..SessionChoice::default()
        };
        let speaker = call.arguments.text("role").map(|role| match role {
            "user" => Speaker::Person,
            "assistant" => Speaker::Assistant,
            "tool" => Speaker::Tool,
            _ => Speaker::System,
        });
        let messages = MessageChoice { speaker, tool: text("tool"), path: text("path") };
        let session = call.named_session(engine).await?;
        let sessions = session_filter(&choice, || TimeZone::UTC).map_err(failure)?;
        let events = message_filter(&messages, &sessions);
        let within = match call.arguments.text("in") {
            Some("sessions") => SearchIn::Sessions,
            Some("documents") => SearchIn::Documents,
            _ => SearchIn::Everything,
        };
        Ok(Self { within, session, sessions, events, choice })
    }

    /// Says, after a search that found nothing, where it has looked, and which filter no session passes.
    pub(super) async fn nothing(&self, call: &ToolCall<'_>, engine: &Engine) -> Result<String, ToolFailure> {
        let searched = call.ledger.searched(engine).await?;
        let unmatched = match self.choice == SessionChoice::default() {
            true => None,
            false => unmatched(engine, &self.choice, || TimeZone::UTC).await.map_err(failure)?,
        };
        let unmatched = unmatched.map(|why| format!(" Among these, {}.", plain_line(&why)));
        Ok(format!("Nothing was found.{searched}{}", unmatched.unwrap_or_default()))
    }
}

fn failure(error: SettingsError) -> ToolFailure {
    ToolFailure::Door(plain_line(&error.to_string()))
}
