//! The latest session of a project.

use crate::engine::Engine;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::limits::LATEST_SESSIONS;
use crate::session::Session;
use crate::sources::Workspace;
use crate::store::StreamFilter;
use std::collections::HashMap;
use std::path::Path;

/// Name of the folder or file that marks the root of a repository.
const REPOSITORY: &str = ".git";

/// Returns the session with the latest event in the project of a folder. A project is a repository with all its
/// worktrees and folders, or a folder that is not in a repository. Sessions of sub-agents, and those that keep the
/// outputs of commands, are not considered.
///
/// # Errors
/// Fails if the folder does not exist, or if the ledger cannot be read.
pub fn latest_session<'a>(engine: &'a Engine, folder: &'a Path) -> BoxFuture<'a, Option<Session>> {
    Box::pin(async move {
        let markers = [REPOSITORY.to_owned()];
        let here = Workspace::find(folder, &markers).map_err(|error| Error::Config(error.to_string()))?;
        let sessions = engine.listed(StreamFilter::default(), LATEST_SESSIONS).await?;
        // Most sessions of a ledger share a few folders.
        let mut known: HashMap<String, bool> = HashMap::new();
        let latest = sessions.into_iter().find(|info| {
            let Some(recorded) = info.scope.project.as_ref().filter(|_| info.parent.is_none()) else {
                return false;
            };
            *known.entry(recorded.clone()).or_insert_with(|| is_within(Path::new(recorded), &here, &markers))
        });
        Ok(latest.map(|info| engine.session_by_id(info.id)))
    })
}

/// Returns whether a recorded folder belongs to the project of a workspace. The folder may no longer exist.
fn is_within(recorded: &Path, here: &Workspace, markers: &[String]) -> bool {
    recorded.starts_with(&here.root)
        || Workspace::find(recorded, markers).is_ok_and(|there| there.project == here.project)
}
