//! Reads the delegations of a session from the ledger.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::read_texts;
use crate::ledger::session::Session;
use wunderblock_core::event::Fact;
use wunderblock_core::message::{Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{StreamFilter, StreamInfo};
use wunderblock_wire::delegation::fold::DelegationFold;
use wunderblock_wire::delegation::link::{ChildSession, linked};
use wunderblock_wire::delegation::{DelegateText, Delegation, DelegationOutcome};

/// Returns the work that a session handed to delegates, in order. The sessions of the delegates need not be in the
/// ledger.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be read.
pub(super) fn delegations(session: &Session) -> BoxFuture<'_, Vec<Delegation>> {
    Box::pin(async move {
        let info = session.info().await?;
        let filter = StreamFilter { parents: vec![info.id.clone()], ..StreamFilter::default() };
        let mut children = session.engine().listed(filter, u64::from(u32::MAX)).await?;
        children.sort_by_key(|child| child.opened_at);
        delegations_of(session.engine(), &info, &children).await
    })
}

/// Returns the delegations of a session whose children are known, in the order in which they began.
pub(super) async fn delegations_of(
    engine: &Engine,
    info: &StreamInfo,
    children: &[StreamInfo],
) -> Result<Vec<Delegation>, Error> {
    let session = engine.session_by_id(info.id.clone());
    let mut fold = DelegationFold::new(info.handle);
    let mut pages = session.pages(Seq(1), info.head);
    while let Some(events) = pages.next().await? {
        let texts = read_texts(engine, fold.needs(&events)).await?;
        for event in &events {
            if let Some(fact) = &event.fact {
                fold.fact(event.seq, event.at, fact, &texts);
            }
        }
    }
    let mut told = Vec::with_capacity(children.len());
    for child in children {
        let task = match child.first_user {
            Some(first) => said(engine, child, first, Role::User).await?.map(|task| task.0),
            None => None,
        };
        told.push(ChildSession { id: child.id.clone(), task });
    }
    let mut found = linked(fold, &told);
    for one in &mut found {
        let of = |child: &&StreamInfo| one.session.as_ref().is_some_and(|own| own.root() == child.id.root());
        let Some(child) = children.iter().find(of) else { continue };
        if one.prompt.is_none()
            && let Some(first) = child.first_user
        {
            one.prompt = said(engine, child, first, Role::User)
                .await?
                .map(|(text, address)| DelegateText::new(&text, address));
        }
        if one.outcome == DelegationOutcome::Done && one.result.is_none() {
            let last = said(engine, child, child.said, Role::Assistant).await?;
            one.result = last.map(|(text, address)| DelegateText::new(&text, address));
        }
    }
    Ok(found)
}

/// Returns the first text of the message at a position, and its address. `None` if another role said it.
async fn said(
    engine: &Engine,
    info: &StreamInfo,
    at: Seq,
    role: Role,
) -> Result<Option<(String, String)>, Error> {
    let events = engine.session_by_id(info.id.clone()).events(at, at, 1, Bytes(1 << 20)).await?;
    let Some(Fact::MessageAppended(said)) = events.first().and_then(|event| event.fact.as_ref()) else {
        return Ok(None);
    };
    let text = said.message.parts.iter().find_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    });
    let Some(body) = text.filter(|_| said.message.role == role) else { return Ok(None) };
    let texts = read_texts(engine, body.handle()).await?;
    Ok(texts.of(body).map(|text| (text.to_owned(), format!("{}#{at}", info.handle))))
}
