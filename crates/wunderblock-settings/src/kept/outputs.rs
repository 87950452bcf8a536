//! Finds the sessions that store outputs of commands.

use std::path::Path;
use wunderblock::{Engine, Output, Session};
use wunderblock_core::id::StreamId;

/// Argument of commands whose outputs belong to no session.
const OUTPUTS: &str = "outputs";

/// Returns the session for outputs of a command that ran in a folder. If a session is named, by its id or the start of
/// its id, outputs go to a separate session beside the named one.
pub async fn outputs_session(
    engine: &Engine,
    text: &str,
    cwd: Option<&Path>,
) -> Result<Session, wunderblock::Error> {
    if text == OUTPUTS {
        return Output::session_for(engine, None, cwd).await;
    }
    let session = match engine.find_session(text).await {
        Err(wunderblock::Error::NoSession(_)) => engine.session_by_id(StreamId::new(text)?),
        found => found?,
    };
    Output::session_for(engine, Some(&session), cwd).await
}
