//! What a climb needs: the lane's view with all its texts, and what the request holds beside the conversation.

use super::CompactOptions;
use crate::build::{Bench, load::Texts};
use crate::error::Error;
use crate::gauge::Scales;
use crate::session::Session;
use wunderblock_core::budget::Budget;
use wunderblock_core::compact::{Mark, Task, task};
use wunderblock_core::id::LaneId;
use wunderblock_core::plan::{Ask, Fixed, weigh};
use wunderblock_core::step::Injection;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::View;

/// A lane, ready to be compacted.
#[derive(Clone)]
pub(super) struct Prepared {
    pub(super) view: View,
    pub(super) budget: Budget,
    pub(super) gauge: Scales,
    pub(super) texts: Texts,
    pub(super) fixed: Vec<Fixed>,
    pub(super) must: Vec<Injection>,
    pub(super) recall: Tokens,
    pub(super) transcript: Tokens,
    pub(super) tasks: Vec<Task>,
    /// The first position of which everything is in the view.
    pub(super) floor: Seq,
    /// What the request takes.
    pub(super) tokens: Tokens,
}

impl Prepared {
    /// The question a plan would be asked.
    pub(super) fn ask(&self) -> Ask<'_> {
        Ask {
            view: &self.view,
            budget: self.budget,
            gauge: &self.gauge,
            bodies: &self.texts,
            fixed: &self.fixed,
            must: &self.must,
            hits: &[],
            recall: self.recall,
            transcript: self.transcript,
            floor: self.floor,
        }
    }
}

impl Session {
    pub(super) async fn prepare(&self, options: &CompactOptions, lane: &LaneId) -> Result<Prepared, Error> {
        let Bench { view, budget, gauge, mut texts, fixed, must, recall, transcript, floor } =
            self.bench(lane, &options.context).await?;
        self.engine.view_texts(&view, &mut texts).await?;
        let marks: Vec<Mark> = self.task_marks(&view, &texts).await?;
        let tasks = task::tasks(&view, &marks, &texts);
        let mut prepared = Prepared {
            view,
            budget,
            gauge,
            texts,
            fixed,
            must,
            recall,
            transcript,
            tasks,
            floor,
            tokens: Tokens::ZERO,
        };
        prepared.tokens = weigh(&prepared.ask()).tokens;
        Ok(prepared)
    }
}
