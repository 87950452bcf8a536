//! What enters the next request shorter: loaded, shortened, and applied to the view as the events it means.
//!
//! Nothing is recorded here. Who builds a request that is recorded records these events before it; who only looks gets
//! the same request from them.

use super::load::{Loaded, Texts};
use super::offer::Shelf;
use super::step::Step;
use crate::engine::Engine;
use crate::error::Error;
use crate::reduce::{Choice, Means, in_order, named, shorten};
use crate::store::{Answer, Query};
use std::collections::HashSet;
use wunderblock_core::event::{ContentReduced, Fact, NewEvent};
use wunderblock_core::id::{Handle, LaneId, StreamId};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Seq, Tokens};

/// What a build makes shorter, to be appended at a head.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduced {
    /// The head it was made from.
    pub(super) through: Seq,
    /// What is to be appended, texts in full.
    pub(super) events: Vec<NewEvent>,
}

impl Engine {
    /// Shortens what the lane's requests have not shown yet, and applies that to the view. The answer is the texts that
    /// were loaded and stay as they are, and those that are new.
    pub(super) async fn reduce(
        &self,
        (stream, lane): (&StreamId, &LaneId),
        loaded: &mut Loaded,
        means: &Means<'_>,
        room: Tokens,
    ) -> Result<Texts, Error> {
        let mut texts = Texts::default();
        let shelf = Shelf::new(&self.tenant.key);
        let facts = self.shorter(loaded, means, room, (&mut texts, &shelf)).await?;
        if facts.is_empty() {
            return Ok(texts);
        }
        let replaced = facts.iter().filter_map(|fact| {
            let part = loaded.view.part(fact.at())?;
            part.bodies().into_iter().find_map(|body| body.handle())
        });
        let replaced: HashSet<Handle> = replaced.collect();
        texts.0.retain(|handle, _| !replaced.contains(handle));
        super::decide::take_in(&shelf, means.gauge, &mut texts);
        let mut step = Step::begin(self, stream, (lane, &loaded.view));
        for fact in facts {
            step.take(Fact::ContentReduced(Box::new(fact)), &texts)?;
        }
        loaded.reduced = Reduced { through: loaded.view.head(), events: step.events };
        loaded.view = step.view;
        Ok(texts)
    }

    async fn shorter(
        &self,
        loaded: &Loaded,
        means: &Means<'_>,
        room: Tokens,
        (texts, shelf): (&mut Texts, &Shelf<'_>),
    ) -> Result<Vec<ContentReduced>, Error> {
        let mut choice = Choice::new(&loaded.view, means, room);
        let mut facts = Vec::new();
        loop {
            let candidates = choice.more();
            if candidates.is_empty() {
                break;
            }
            let handles = candidates.iter().flat_map(|one| one.earlier.iter().copied().chain([one.handle]));
            self.more_texts(texts, handles).await?;
            let own = candidates.iter().filter_map(|candidate| texts.text(candidate.handle));
            let ours = self.ours(named(own)).await?;
            let pack = |text: String| shelf.pack(text);
            let more = shorten(&candidates, &*texts, means, &ours, &pack)?;
            choice.gained(&more);
            facts.extend(more);
        }
        Ok(in_order(facts))
    }

    /// Which of these handles the ledger knows, in one round trip for all of them: a text with such a mark was reduced
    /// here, and is not reduced again. Most texts have no mark, and nothing is asked.
    async fn ours(&self, handles: HashSet<Handle>) -> Result<HashSet<Handle>, Error> {
        if handles.is_empty() {
            return Ok(handles);
        }
        let mut handles: Vec<Handle> = handles.into_iter().collect();
        handles.sort_unstable();
        let query = Query::Blobs { tenant: self.tenant.no, handles };
        let blobs = self.ask(query, Answer::blobs).await?;
        Ok(blobs.into_iter().flatten().map(|blob| blob.handle).collect())
    }
}
