//! The project of a session, and what a door of an agent sees.
//!
//! ```text
//! folder ─ place_of ─► project ─► the sessions of the folder get it ─► scope of a session that opens, reach of a door
//! ```

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::session::Session;
use crate::limits::LATEST_SESSIONS;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use wunderblock_core::event::SessionOpened;
use wunderblock_core::id::Scope;
use wunderblock_sources::project::{ProjectPlace, place_of};
use wunderblock_store::{Commit, Reach, Reached, ScopeLimit, StoreError, StreamFilter, Write};

/// How far a door of an agent sees, as a person chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachChoice {
    /// Sessions of the door's user in the project of its folder.
    Own,
    /// Sessions of all users in the project of its folder.
    Project,
    /// All sessions of the tenant.
    Tenant,
}

impl Engine {
    /// Returns what this handle sees.
    #[must_use]
    pub const fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Returns a handle of the same ledger that sees only what is in reach, besides what this handle does not see.
    /// Sessions, bodies and handles outside are unknown to it, and do not count in its rankings.
    #[must_use]
    pub fn reaching(&self, reach: Reach) -> Self {
        let storage = Arc::new(Reached::new(Arc::clone(&self.storage), reach.clone()));
        Self { storage, reach: self.reach.within(&reach), ..self.clone() }
    }
}

/// Returns the reach of an agent's door in a folder.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn reach_at<'a>(engine: &'a Engine, folder: &'a Path, choice: ReachChoice) -> BoxFuture<'a, Reach> {
    Box::pin(async move {
        if choice == ReachChoice::Tenant {
            return Ok(Reach::tenant());
        }
        let project = Reach::tenant().and(ScopeLimit::Project(Some(project_at(engine, folder).await?)));
        let user = ScopeLimit::User(engine.config.user.clone());
        Ok(if choice == ReachChoice::Own { project.and(user) } else { project })
    })
}

/// Returns the session with the latest message in the project of a folder: a repository with all its worktrees, clones
/// and folders, or a folder that is not in a repository. Sessions of sub-agents, and those that keep the outputs of
/// commands, are not considered.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn latest_session<'a>(engine: &'a Engine, folder: &'a Path) -> BoxFuture<'a, Option<Session>> {
    Box::pin(async move {
        let places = places_of(folder);
        let filter = StreamFilter { places, ..StreamFilter::default() };
        let sessions = engine.listed(filter, LATEST_SESSIONS).await?;
        let latest = sessions.into_iter().find(|info| info.parent.is_none());
        Ok(latest.map(|info| engine.session_by_id(info.id)))
    })
}

/// Returns the names under which sessions of a folder's project are found: that of the project, and that of the folder,
/// under which they are until their project is corrected.
pub(crate) fn places_of(folder: &Path) -> Vec<String> {
    match place_of(folder) {
        Some(place) => vec![name(&place.folder), place.project],
        None => vec![name(folder)],
    }
}

/// Returns the project of a folder. The sessions of the folder get it, if they have another and the ledger can be
/// written.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub(crate) async fn project_at(engine: &Engine, folder: &Path) -> Result<String, Error> {
    let Some(place) = place_of(folder) else { return Ok(name(folder)) };
    let mut is_current = true;
    for folder in BTreeSet::from([name(&place.folder), name(&place.cwd)]) {
        // All sessions of a folder are corrected together, so the latest one tells of all.
        let filter = StreamFilter { places: vec![folder.clone()], ..StreamFilter::default() };
        let latest = engine.listed(filter, 1).await?.pop().map(|info| info.scope).unwrap_or_default();
        is_current &= latest.folder != Some(folder) || is_at(&latest, &place);
    }
    if !is_current && engine.can_write() {
        match engine.storage.commit(Commit::raw(vec![correction(engine, &place)])).await {
            // Another process writes, and a later door corrects.
            Ok(_) | Err(StoreError::Locked | StoreError::Full | StoreError::ReadOnly) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(place.project)
}

/// Returns the scope of what a person adds in a folder: its project, and the user of the engine.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn scope_at<'a>(engine: &'a Engine, folder: &'a Path) -> BoxFuture<'a, Scope> {
    Box::pin(async move {
        let project = project_at(engine, folder).await?;
        let folder = place_of(folder).map_or_else(|| name(folder), |place| name(&place.folder));
        let user = engine.config.user.clone();
        Ok(Scope { user, project: Some(project), folder: Some(folder), ..Scope::default() })
    })
}

/// Returns the write that gives the sessions and documents of a folder the project that the folder has now.
fn correction(engine: &Engine, place: &ProjectPlace) -> Write {
    let (tenant, folder) = (engine.tenant.no, name(&place.folder));
    Write::Project {
        tenant,
        folders: vec![folder.clone(), name(&place.cwd)],
        folder,
        project: place.project.clone(),
    }
}

fn is_at(scope: &Scope, place: &ProjectPlace) -> bool {
    scope.project.as_deref() == Some(&*place.project)
        && scope.folder.as_deref() == Some(&*name(&place.folder))
}

/// Returns the write that corrects the project of a session that continues, if its folder has another project now.
pub(crate) fn corrected(engine: &Engine, scope: &Scope) -> Option<Write> {
    let place = place_of(Path::new(scope.folder.as_deref()?)).filter(|place| !is_at(scope, place))?;
    Some(correction(engine, &place))
}

/// Returns the scope of a session that opens, and the write that gives the same project to earlier sessions of its
/// folder. `usual` is the folder of a session that states none.
///
/// A project that a caller names stays as it is, unless it is a path. Otherwise, the folder in which the session began
/// decides; a session without a folder belongs to the project of the session that started it.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub(crate) async fn opening_scope(
    engine: &Engine,
    opened: &SessionOpened,
    usual: Option<&Path>,
) -> Result<(Scope, Option<Write>), Error> {
    let mut scope = opened.scope.clone();
    if let Some(parent) = &opened.parent {
        let above = engine.info(parent).await?.map(|info| info.scope).unwrap_or_default();
        scope.user = scope.user.or(above.user);
        scope.session.get_or_insert_with(|| parent.root().to_owned());
        if scope.project.is_none() && opened.cwd.is_none() {
            (scope.project, scope.folder) = (above.project, above.folder);
        }
    }
    scope.user = scope.user.or_else(|| engine.config.user.clone());
    let stated = scope.project.as_deref().or(opened.cwd.as_deref()).map(Path::new);
    // A path that begins nowhere names no folder: it would be looked for in this program's own one.
    let folder = stated.or(usual).filter(|folder| folder.is_absolute() && scope.folder.is_none());
    let Some(folder) = folder else { return Ok((scope, None)) };
    let place = place_of(folder);
    let write = place.as_ref().map(|place| correction(engine, place));
    // A folder that is gone, as that of an old transcript, is a project of its own.
    let place =
        place.map_or_else(|| (name(folder), name(folder)), |place| (place.project, name(&place.folder)));
    (scope.project, scope.folder) = (Some(place.0), Some(place.1));
    Ok((scope, write))
}

fn name(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}
