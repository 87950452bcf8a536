//! Selects one conversation of a file that contains several.

use super::Lookup;
use super::error::FindError;
use super::host::Conversations;
use super::place::FileReference;
use std::path::Path;
use wunderblock::Session;
use wunderblock::store::StreamInfo;

/// Minimum length of the end of an id that selects a conversation. Shorter texts are taken as numbers, even if they
/// are also the end of an id.
const ID_END: usize = 8;

impl Lookup<'_> {
    /// Returns the selected conversation of a file. Without a selection by number or by the end of an id, returns the
    /// latest conversation with content. If the file contains several conversations, the host lists them.
    pub(super) async fn conversation(
        &self,
        session: Session,
        FileReference { file, wanted }: FileReference<'_>,
    ) -> Result<Session, FindError> {
        if !Path::new(file).is_file() {
            return Ok(session);
        }
        let all = session.siblings().await?;
        if all.len() < 2 && wanted.is_none() {
            return Ok(session);
        }
        let chosen = match wanted {
            Some(wanted) => named(&all, wanted).ok_or_else(|| FindError::NoConversation {
                wanted: wanted.to_owned(),
                file: file.to_owned(),
                count: all.len(),
            })?,
            None => all.iter().rposition(has_content).unwrap_or(all.len() - 1),
        };
        let Some(info) = all.get(chosen) else { return Ok(session) };
        let engine = session.engine();
        if wanted.is_none() {
            self.host.list(engine, Conversations { file, all: &all, chosen }).await?;
        }
        Ok(engine.session_by_id(info.id.clone()))
    }
}

fn has_content(info: &StreamInfo) -> bool {
    info.first_user.is_some() && info.messages > 1
}

fn named(all: &[StreamInfo], wanted: &str) -> Option<usize> {
    if wanted.len() < ID_END {
        let place = wanted.parse::<usize>().ok()?.checked_sub(1)?;
        return (place < all.len()).then_some(place);
    }
    let mut fits =
        (0..all.len()).filter(|place| all.get(*place).is_some_and(|info| info.id.as_str().ends_with(wanted)));
    fits.next().filter(|_| fits.next().is_none())
}
