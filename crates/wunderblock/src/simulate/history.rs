//! A session's events as they came, without what its lane decided.

use crate::build::Aim;
use crate::build::load::Texts;
use crate::catch_up::{is_data, leaves};
use crate::engine::unexpected;
use crate::error::Error;
use crate::gauge::Scales;
use crate::limits::{CATCH_UP_BYTES, VIEW_EVENTS};
use crate::parallel;
use crate::session::Session;
use crate::store::{Answer, BodyCount, Query};
use std::collections::BTreeSet;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, LaneId, StreamId, TenantId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;

/// Bodies that are counted together.
const COUNT: usize = 64;

/// A session, in memory.
pub(super) struct History {
    pub(super) tenant: TenantId,
    pub(super) stream: StreamId,
    /// The session's own handle.
    pub(super) handle: Handle,
    /// What handles of new bodies are made with.
    pub(super) key: [u8; 32],
    /// The lane that is played.
    pub(super) lane: LaneId,
    pub(super) events: Vec<Event>,
    pub(super) texts: Texts,
    counts: Vec<(Handle, BodyCount)>,
}

impl Session {
    /// Reads the session: what was said and what came from outside, not what the lane decided about it.
    pub(super) async fn history(&self, lane: LaneId, aim: &Aim) -> Result<History, Error> {
        let mut events: Vec<Event> = Vec::new();
        let mut from = Seq::START;
        loop {
            let some = self.events(from, Seq(i64::MAX.unsigned_abs()), (VIEW_EVENTS, CATCH_UP_BYTES)).await?;
            let Some(last) = some.last() else { break };
            from = last.seq.next();
            events.extend(some.into_iter().filter(|event| is_given(event, &lane)));
        }
        let handles: BTreeSet<Handle> = events.iter().flat_map(bodies).collect();
        let texts = self.engine.texts(handles.iter().copied()).await?;
        let counts = self.counts(handles.into_iter().collect(), &texts, aim).await?;
        let (tenant, key) = (self.engine.config.tenant.clone(), self.engine.tenant.key);
        let (stream, handle) = (self.id.clone(), self.engine.stream_handle(&self.id));
        Ok(History { tenant, stream, handle, key, lane, events, texts, counts })
    }

    /// What is known of bodies; what nobody has counted yet is counted now.
    async fn counts(
        &self,
        handles: Vec<Handle>,
        texts: &Texts,
        aim: &Aim,
    ) -> Result<Vec<(Handle, BodyCount)>, Error> {
        let query = Query::Counts { tenant: self.engine.tenant.no, handles: handles.clone() };
        let Answer::Counts(found) = self.engine.one(query).await? else { return Err(unexpected()) };
        let known = handles.iter().zip(found).filter_map(|(handle, count)| Some((*handle, count?)));
        let mut counts: Vec<(Handle, BodyCount)> = known.collect();
        let gauge = aim.scales();
        counts.iter().for_each(|(handle, count)| gauge.learn(*handle, *count));
        counts.retain(|(handle, _)| gauge.knows(*handle));
        let unknown: Vec<Handle> = handles.into_iter().filter(|handle| !gauge.knows(*handle)).collect();
        let some: Vec<Vec<Handle>> = unknown.chunks(COUNT).map(<[Handle]>::to_vec).collect();
        let fresh = parallel::map(some, |handles| {
            let gauge = aim.scales();
            let count = |handle: &Handle| Some((*handle, gauge.measure(texts.text(*handle)?)));
            Ok(handles.iter().filter_map(count).collect::<Vec<_>>())
        })?;
        counts.extend(fresh.into_iter().flatten());
        Ok(counts)
    }
}

impl History {
    /// A gauge that knows every body of the session.
    pub(super) fn gauge(&self, aim: &Aim) -> Scales {
        let gauge = aim.scales();
        self.counts.iter().for_each(|(handle, count)| gauge.learn(*handle, *count));
        gauge
    }
}

/// Whether an event came from elsewhere than from the lane's own requests and compactions.
fn is_given(event: &Event, lane: &LaneId) -> bool {
    match &event.fact {
        Some(Fact::ContextInjected(injected)) => {
            injected.lane != *lane || injected.items.iter().all(|item| item.section != Section::Recall)
        }
        Some(Fact::SessionCompacted(made)) => made.lane.is_none(),
        // Its content is gone already; the receipt has nothing more to take.
        Some(Fact::ContentErased(_)) => false,
        Some(
            Fact::ViewTrimmed(_)
            | Fact::ContextBuilt(_)
            | Fact::ContentReduced(_)
            | Fact::CompactionRejected(_)
            | Fact::CompactionUndone(_)
            | Fact::BudgetWarned(_),
        ) => false,
        _ => true,
    }
}

/// The bodies of an event that a request can show.
fn bodies(event: &Event) -> Vec<Handle> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => {
            let leaves = said.message.parts.iter().flat_map(leaves);
            leaves.filter(|(part, _)| !is_data(part)).filter_map(|(_, body)| body.handle()).collect()
        }
        Some(Fact::PreambleChanged(changed)) => {
            changed.preamble.bodies().into_iter().filter_map(Body::handle).collect()
        }
        Some(Fact::ContextInjected(injected)) => {
            injected.items.iter().filter_map(|item| item.body.handle()).collect()
        }
        _ => Vec::new(),
    }
}
