//! Where the outputs of commands are kept.

use wunderblock::{Engine, Output, Session};
use wunderblock_core::id::StreamId;

/// The session of outputs that belong to no other.
const OUTPUTS: &str = "outputs";

/// The session in which outputs are kept: of a session that was named, or begins so, the one for its outputs.
pub(crate) async fn outputs_session(engine: &Engine, text: &str) -> Result<Session, wunderblock::Error> {
    if text == OUTPUTS {
        return Ok(engine.session_by_id(StreamId::new(OUTPUTS)?));
    }
    let session = match engine.find_session(text).await {
        Err(wunderblock::Error::NoSession(_)) => engine.session_by_id(StreamId::new(text)?),
        found => found?,
    };
    Ok(Output::session_beside(&session))
}
