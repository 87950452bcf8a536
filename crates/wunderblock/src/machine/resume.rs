//! How to continue a session in the agent that wrote it.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::reading::lineage::native;
use crate::ledger::session::Session;
use crate::rules::agent::Agent;
use serde::Serialize;
use wunderblock_core::event::Fact;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};

/// Maximum length of an opening that is read, in bytes of text. An opening holds no text of the conversation.
const OPENING: Bytes = Bytes(1 << 20);

/// Command that continues a session in its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resume {
    /// Folder in which the command must run, if it is known.
    pub folder: Option<Box<str>>,
    /// Command line, for a shell.
    pub command: String,
}

/// Returns the command that continues a session in its agent. Returns `None` for a session that was not imported, for
/// one of a sub-agent, and for an agent without such a command. A branch is continued where its agent last was.
///
/// # Errors
/// Returns an error if the session does not exist, or if a record is damaged.
pub fn resume(session: &Session) -> BoxFuture<'_, Option<Resume>> {
    Box::pin(async move {
        let info = session.info().await?;
        let agent = info.scope.agent.as_deref().and_then(Agent::from_name);
        let Some(agent) = agent.filter(|_| info.source.is_some() && info.parent.is_none()) else {
            return Ok(None);
        };
        let Some(command) = agent.resume_line(native(&info.id)) else { return Ok(None) };
        Ok(Some(Resume { folder: folder_of(session, &info.id).await?, command }))
    })
}

/// Returns the folder in which the agent worked, from the session's opening.
async fn folder_of(session: &Session, id: &StreamId) -> Result<Option<Box<str>>, Error> {
    let first = Seq::START.next();
    let events = session.engine.session_by_id(id.clone()).events(first, first, 1, OPENING).await?;
    Ok(events.into_iter().next().and_then(|event| match event.fact? {
        Fact::SessionOpened(opened) => opened.cwd,
        _ => None,
    }))
}
