//! A session in the transcript format of an agent, for the agent to continue.

use super::agent::Agent;
use super::places::Places;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::session::Session;
use crate::stored::with_whole_texts;
use std::path::PathBuf;
use wunderblock_core::units::Seq;
use wunderblock_wire::transcript::{AgentFormat, WrittenTranscript, write_transcript};

/// Returns a session in an agent's transcript format, whatever agent it came from. The whole session is held in
/// memory. The session is not changed.
///
/// # Errors
/// Returns an error if the session does not exist, or if a record is damaged.
pub fn agent_transcript(session: &Session, format: AgentFormat) -> BoxFuture<'_, WrittenTranscript> {
    Box::pin(async move {
        let head = session.info().await?.head;
        let mut events = Vec::new();
        let mut pages = session.pages(Seq(1), head);
        while let Some(page) = pages.next().await? {
            events.extend(with_whole_texts(session.engine(), page).await?);
        }
        write_transcript(format, &events).map_err(Error::from)
    })
}

/// Where an agent finds a written transcript, and the command that continues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPlace {
    /// File in which the agent looks for the transcript. `None` if it depends on the project's folder, and this folder
    /// is not known.
    pub file: Option<PathBuf>,
    /// Command line, for a shell.
    pub command: String,
}

/// Returns the place of a written transcript. `None` if the agent is not known.
#[must_use]
pub fn transcript_place(
    format: AgentFormat,
    written: &WrittenTranscript,
    places: &Places,
) -> Option<TranscriptPlace> {
    let agent = Agent::of_format(format.format().name())?;
    let folder = agent.history.first().and_then(|place| places.folders(&place.base).into_iter().next());
    let file = folder.zip(written.file.as_deref()).map(|(folder, file)| folder.join(file));
    Some(TranscriptPlace { file, command: agent.resume_line(&written.session)? })
}
