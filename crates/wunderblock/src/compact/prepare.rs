//! What a climb needs: the lane's view with all its texts, and what the request holds beside the conversation.

use super::history::task_marks;

use super::options::CompactOptions;
use crate::drive::{context_job, read_view_texts, run_build};
use crate::error::Error;
use crate::request::build::Build;
use crate::request::stages::Bench;
use crate::session::Session;
use wunderblock_core::compact::{TaskMark, TaskRange, task};
use wunderblock_core::plan::weigh;
use wunderblock_core::units::Tokens;

/// A lane, ready to be compacted.
#[derive(Clone)]
pub(crate) struct Prepared {
    /// The lane, with the texts of all its view.
    pub(crate) bench: Bench,
    pub(crate) tasks: Vec<TaskRange>,
    /// What the request takes.
    pub(crate) tokens: Tokens,
}

impl Prepared {
    /// A lane with the texts of all its view, and where its tasks begin and end.
    pub(crate) fn new(bench: Bench, marks: &[TaskMark]) -> Self {
        let tasks = task::tasks(&bench.view, marks, &bench.texts);
        let tokens = weigh(&bench.ask()).tokens;
        Self { bench, tasks, tokens }
    }

    /// What must fit.
    pub(crate) fn limit(&self) -> Tokens {
        self.bench.budget.limit().tokens
    }
}

pub(super) async fn prepare(session: &Session, options: &CompactOptions) -> Result<Prepared, Error> {
    let mut bench = run_build(session, Build::bench(context_job(session, &options.context))).await??;
    read_view_texts(&session.engine, &bench.view, &mut bench.texts).await?;
    let marks = task_marks(session, &bench.view, &bench.texts).await?;
    Ok(Prepared::new(bench, &marks))
}
