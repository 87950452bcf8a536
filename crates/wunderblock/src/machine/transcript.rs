//! A session in the transcript format of an agent, for the agent to continue.

use crate::base::apart::apart_writing;
use crate::base::error::{Error, write_error};
use crate::base::future::BoxFuture;
use crate::ledger::reading::stored::with_whole_texts;
use crate::ledger::session::Session;
use crate::rules::agent::Agent;
use std::io::Write;
use std::path::PathBuf;
use wunderblock_core::event::Fact;
use wunderblock_core::units::Seq;
use wunderblock_sources::places::Places;
use wunderblock_wire::transcript::{AgentFormat, SessionOutline, TranscriptWriter, WrittenTranscript};

/// Writes a session in an agent's transcript format, whatever agent it came from. The session is read twice, page by
/// page, and is not changed. Returns the number of bytes, and the transcript without its text.
///
/// # Errors
/// Returns an error if the session does not exist, if a record is damaged, or if `out` cannot be written.
pub fn write_agent_transcript<'a>(
    session: &'a Session,
    format: AgentFormat,
    out: &'a mut (dyn Write + Send),
) -> BoxFuture<'a, (u64, WrittenTranscript)> {
    let session = session.clone();
    Box::pin(apart_writing(out, move |mut out| async move {
        let session = &session;
        let head = session.info().await?.head;
        let mut writer = TranscriptWriter::new(format, outline(session, head).await?);
        let mut bytes = 0;
        let mut write = |text: &str| {
            bytes += text.len() as u64;
            out.write_all(text.as_bytes()).map_err(|error| write_error(&error))
        };
        let mut pages = session.pages(Seq(1), head);
        while let Some(page) = pages.next().await? {
            write(&writer.write(&with_whole_texts(session.engine(), page).await?)?)?;
        }
        let mut written = writer.finish()?;
        write(&std::mem::take(&mut written.text))?;
        Ok(((bytes, written), out))
    }))
}

/// Reads what a writer needs to know of the whole session. Of its texts, only summaries are read.
async fn outline(session: &Session, head: Seq) -> Result<SessionOutline, Error> {
    let mut outline = SessionOutline::default();
    let mut pages = session.pages(Seq(1), head);
    while let Some(page) = pages.next().await? {
        let mut events = Vec::with_capacity(page.len());
        for event in page {
            match event.fact {
                Some(Fact::SessionCompacted(_)) => {
                    events.extend(with_whole_texts(session.engine(), vec![event]).await?);
                }
                _ => events.push(event),
            }
        }
        outline.read(&events);
    }
    if outline.hides() {
        let mut pages = session.pages(Seq(1), head);
        while let Some(page) = pages.next().await? {
            outline.read_hidden(&page);
        }
    }
    Ok(outline)
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
