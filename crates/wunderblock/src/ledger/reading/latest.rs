//! The latest session of a project.

use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::session::Session;
use crate::limits::LATEST_SESSIONS;
use std::path::Path;
use wunderblock_sources::project::project_folders;
use wunderblock_store::StreamFilter;

/// Returns the session with the latest message in the project of a folder. A project is a repository with all its
/// worktrees and folders, or a folder that is not in a repository. Sessions of sub-agents, and those that keep the
/// outputs of commands, are not considered.
///
/// # Errors
/// Fails if the ledger cannot be read.
pub fn latest_session<'a>(engine: &'a Engine, folder: &'a Path) -> BoxFuture<'a, Option<Session>> {
    Box::pin(async move {
        let folders = project_folders(folder);
        let projects = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        let filter = StreamFilter { projects, ..StreamFilter::default() };
        let sessions = engine.listed(filter, LATEST_SESSIONS).await?;
        let latest = sessions.into_iter().find(|info| info.parent.is_none());
        Ok(latest.map(|info| engine.session_by_id(info.id)))
    })
}
