//! The context of a delegate: the first request of an agent to which a session hands work.
//!
//! ```text
//! parent's lane ─ explain ─► its request ─┬─ fork: the same bytes, and the brief
//! brief ──────────────────────────────────┤
//! definition, tools, instructions ────────┴─ a session of its own, aside: fresh
//!                                              + entries of the parent (slice), or a summary of it (summary)
//! ```
//! Every mode goes the same road as any other request, so each has a report that accounts for every token. Nothing is
//! recorded: the session of the delegate is kept in memory.

mod excerpt;
mod fresh;
mod handed;
mod price;
mod summary;

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::lanes::context::{Built, build_aside};
use crate::ledger::session::{Session, in_overlay};
use crate::request::input::options::ContextOptions;
use handed::ParentRequest;
pub use handed::{DelegateContext, Excerpt, HandedEntry, Handoff, ModePrice, explores};
use wunderblock_core::delegate::brief::{Brief, Narrowed};
use wunderblock_core::delegate::context::{ContextMode, fork_obstacles};
use wunderblock_core::units::Bytes;
use wunderblock_wire::transcript::written_time;
use wunderblock_wire::without_marks;

/// Builds the first request of a delegate. Nothing is recorded.
///
/// # Errors
/// Returns an error if the brief has no goal, if the definition leaves no tool of those that there are, if the request
/// does not fit into the window, or if the ledger cannot be read.
pub(crate) fn delegate_context<'a>(
    session: &'a Session,
    handoff: &'a Handoff<'a>,
) -> BoxFuture<'a, DelegateContext> {
    Box::pin(in_overlay(session, move |aside| context_aside(session, aside, handoff)))
}

fn context_aside<'a>(
    session: &'a Session,
    aside: Session,
    handoff: &'a Handoff<'a>,
) -> BoxFuture<'a, DelegateContext> {
    Box::pin(async move {
        let (message, narrowed) = message(session, handoff)?;
        let options = ContextOptions { at: None, prompt: None, ..handoff.parent.clone() };
        let parent = build_aside(&aside, options.clone()).await?;
        let obstacles = fork_obstacles(handoff.definition, handoff.model, &parent.draft.model);
        let mode = match handoff.mode {
            ContextMode::Fork if !obstacles.is_empty() => ContextMode::Slice,
            mode => mode,
        };
        let parent = ParentRequest { session, built: parent, message };
        let fresh = fresh::Start::of(&parent, handoff)?;
        let first = fresh.build(Vec::new()).await?;
        // A fork that does not fit is an error only if it is what was asked for.
        let fork = fork(&aside, options, &parent).await;
        let fork = if mode == ContextMode::Fork { Some(fork?) } else { fork.ok() };
        let mut context = match (mode, &fork) {
            (ContextMode::Fork, Some((built, shared))) => {
                DelegateContext::new(mode, built.clone(), Some(*shared))
            }
            (ContextMode::Slice, _) => {
                let pieces = excerpt::pieces(&parent, handoff).await?;
                fresh.with(mode, &first, pieces).await?
            }
            (ContextMode::Summary, _) => {
                let summary = summary::write(&parent, handoff, &first).await?;
                fresh.with(mode, &first, summary.into_iter().collect()).await?
            }
            (ContextMode::Fresh | ContextMode::Fork, _) => DelegateContext::new(mode, first.clone(), None),
        };
        context.obstacles = if handoff.mode == ContextMode::Fork { obstacles } else { Vec::new() };
        context.narrowed = narrowed;
        context.unmatched = fresh.unmatched;
        context.prices = price::compare(&parent, &first, fork.as_ref(), &context);
        Ok(context)
    })
}

/// Returns the message that hands the task over, and the bounds that are narrower than asked.
fn message(session: &Session, handoff: &Handoff<'_>) -> Result<(String, Vec<Narrowed>), Error> {
    handoff.brief.check()?;
    let (bounds, narrowed) = handoff.brief.bounds.within(handoff.bounds, session.engine().now())?;
    let schema = match handoff.brief.schema.as_deref().map(serde_json::from_str::<serde_json::Value>) {
        None => None,
        Some(Ok(schema)) if schema.is_object() => Some(schema.to_string().into()),
        Some(Ok(_)) => return Err(Error::Config("the schema of the result is not a JSON object".to_owned())),
        Some(Err(error)) => {
            return Err(Error::Config(format!("the schema of the result is not JSON: {error}")));
        }
    };
    let brief = Brief { bounds, schema, ..handoff.brief.clone() };
    let text = session.engine().config.redactor.push(&brief.text(written_time));
    Ok((text.into_string(), narrowed))
}

/// Builds the request of a fork: the next request after the parent's, with the brief as its turn.
async fn fork(
    aside: &Session,
    options: ContextOptions,
    parent: &ParentRequest<'_>,
) -> Result<(Built, (Bytes, Bytes)), Error> {
    let options = ContextOptions { prompt: Some(parent.message.clone()), ..options };
    let built = build_aside(aside, options).await?;
    let (own, base) = (without_marks(&built.draft.body), without_marks(&parent.built.draft.body));
    let shared = own.iter().zip(base.iter()).take_while(|(own, base)| own == base).count();
    let all = parent.built.draft.stem;
    Ok((built, (Bytes(shared as u64).min(all), all)))
}
