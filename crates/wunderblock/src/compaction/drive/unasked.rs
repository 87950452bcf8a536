//! Searches for what bears on the newest typed turn: in the session itself, and in those of its project, agent and user.

use crate::base::error::Error;
use crate::ledger::session::Session;
use crate::recall::prompted::{RECALL_FLOOR, recall_hits};
use crate::recall::search::{SearchIn, SearchOptions};
use crate::request::named::unasked::{RecallFound, RecallWanted};
use std::collections::BTreeSet;
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_store::{Answer, Query, Reach, ScopeLimit};

/// Returns the passages. A build does not fail because a search does.
pub(super) async fn find(session: &Session, wanted: &RecallWanted) -> RecallFound {
    let failed = RecallFound { passages: Vec::new(), is_partly: true };
    search(session, wanted).await.unwrap_or(failed)
}

async fn search(session: &Session, wanted: &RecallWanted) -> Result<RecallFound, Error> {
    let (engine, own) = (&session.engine, || session.id.clone());
    let Scope { user, project, agent, .. } = session.info().await?.scope;
    let before = Some((own(), wanted.before));
    let options = SearchOptions { before, within: SearchIn::Sessions, ..SearchOptions::default() };
    let (engine, options) = match project {
        Some(_) => {
            let limits = [ScopeLimit::User(user), ScopeLimit::Project(project), ScopeLimit::Agent(agent)];
            (engine.reaching(limits.into_iter().fold(Reach::tenant(), Reach::and)), options)
        }
        // A session without a project has no others beside it.
        None => (engine.clone(), SearchOptions { session: Some(own()), ..options }),
    };
    let mut found = RecallFound::from(recall_hits(&engine, &wanted.typed, options, RECALL_FLOOR).await?);
    if found.passages.iter().any(|passage| passage.hit.session != session.id) {
        let (tenant, stream) = (engine.tenant.no, own());
        let line = session.engine.ask(Query::Lineage { tenant, stream }, Answer::lineage).await?;
        let line: BTreeSet<StreamId> = line.into_iter().map(|stretch| stretch.stream).collect();
        for passage in found.passages.iter_mut().filter(|passage| line.contains(&passage.hit.session)) {
            passage.hit.session = own();
        }
    }
    Ok(found)
}
