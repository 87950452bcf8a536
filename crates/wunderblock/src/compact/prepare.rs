//! What a climb needs: the lane's view with all its texts, and what the request holds beside the conversation.

use super::adopt::adoptable;
use super::history::task_marks;

use super::options::CompactOptions;
use crate::drive::{context_job, read_view_texts, run_build};
use crate::error::Error;
use crate::limits;
use crate::record::append_events;
use crate::request::build::Build;
use crate::request::stages::{Bench, ShorterTexts};
use crate::request::work::{expected, work_log};
use crate::session::Session;
use crate::store::StoreError;
use std::sync::Arc;
use wunderblock_core::compact::{TaskMark, TaskRange, task};
use wunderblock_core::id::Handle;
use wunderblock_core::plan::weigh;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;
use wunderblock_core::view::{SummaryNode, forget_work};
use wunderblock_core::work::WorkLog;

/// A lane, ready to be compacted.
#[derive(Clone)]
pub(crate) struct Prepared {
    /// The lane, with the texts of all its view.
    pub(crate) bench: Bench,
    pub(crate) tasks: Vec<TaskRange>,
    /// What the request takes.
    pub(crate) tokens: Tokens,
    /// Summaries of other lanes that a lane may begin with.
    pub(crate) adopted: Vec<SummaryNode>,
    /// What the work has come to: what is recorded of it with the compaction.
    pub(crate) work: Option<WorkLog>,
    /// What saying it adds to the request, where nothing was said of it before.
    pub(crate) spare: Tokens,
}

impl Prepared {
    /// A lane with the texts of all its view, and where its tasks begin and end.
    pub(crate) fn new(mut bench: Bench, marks: &[TaskMark], stream: Handle, policy: &Policy) -> Self {
        let tasks = task::tasks(&bench.view, marks, &bench.texts);
        let tokens = weigh(&bench.ask()).tokens;
        let work = work_log(&bench.view, &bench.texts, policy.protect.work_share);
        // What the compaction says of the work replaces what stands of it.
        let stood = forget_work(Arc::make_mut(&mut bench.view));
        let limit = bench.budget.limit().tokens;
        let says = work.as_ref().and_then(|log| expected(log, (stream, limit), &bench.costs));
        let spare = says.iter().filter(|_| !stood).map(|(_, tokens)| *tokens).sum();
        bench.must.extend(says.map(|(item, _)| item));
        Self { bench, tasks, tokens, adopted: Vec::new(), work, spare }
    }

    /// What must fit.
    pub(crate) fn limit(&self) -> Tokens {
        self.bench.budget.limit().tokens
    }
}

pub(super) async fn prepare(session: &Session, options: &CompactOptions) -> Result<Prepared, Error> {
    let mut bench = build_bench(session, options).await?;
    read_view_texts(&session.engine, &bench.view, &mut bench.texts).await?;
    let marks = task_marks(session, &bench.view, &bench.texts).await?;
    let adopted = adoptable(session, &mut bench).await?;
    let stream = context_job(session, &options.context).stream_handle();
    Ok(Prepared { adopted, ..Prepared::new(bench, &marks, stream, &options.compactor.policy) })
}

/// The lane as a compaction finds it. That it begins again, for another model or window, is recorded first.
pub(super) async fn build_bench(session: &Session, options: &CompactOptions) -> Result<Bench, Error> {
    for _ in 0..limits::BUILD_RETRIES {
        let bench = run_build(session, Build::bench(context_job(session, &options.context))).await??;
        let ShorterTexts { through, events } = bench.shorter.clone();
        if events.is_empty() {
            return Ok(bench);
        }
        match append_events(&session.engine, &session.id, Some(through), events).await {
            Ok(_) | Err(Error::Store(StoreError::HeadMoved { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Restless)
}
