//! Input of a climb: the lane's view with all its texts, and the rest of the request.

use super::history::task_marks;
use super::options::CompactOptions;
use crate::base::error::Error;
use crate::compaction::compact::summaries::adopt::adoptable;
use crate::compaction::compact::summaries::paid::PaidSummaries;
use crate::ledger::recording::record::MadeFrom;
use crate::ledger::texts::Texts;
use crate::limits;
use crate::request::build::bench;
use crate::request::desk::{ControlEvents as _, Desk};
use crate::request::input::snapshot::{item_handles, spoken, view_handles};
use crate::request::need::MarkedWanted;
use crate::request::stages::{Bench, ShorterTexts};
use crate::request::steps::work::{expected, work_log};
use std::collections::BTreeSet;
use std::sync::Arc;
use wunderblock_core::compact::{TaskMark, TaskRange, guard, task};
use wunderblock_core::decision::Quote;
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::message::Body;
use wunderblock_core::pair::{Exchange, arrange};
use wunderblock_core::plan::{PlanInput, weigh};
use wunderblock_core::policy::{Permille, Policy, Protect};
use wunderblock_core::thinking::unbound_by_step;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::SummaryNode;
use wunderblock_core::work::{FileChange, TouchedFile, WorkLog};
use wunderblock_redact::Redactor;
use wunderblock_store::{Marked, StoreError};
use wunderblock_summary::standing::{has_rules, standing_rules};

/// A lane, ready to be compacted.
#[derive(Clone)]
pub(crate) struct Prepared {
    /// The lane, with the texts of its whole view.
    pub(crate) bench: Bench,
    pub(crate) tasks: Vec<TaskRange>,
    /// Tokens in the request before the compaction.
    pub(crate) tokens: Tokens,
    /// Summaries of other programs that this lane may begin with.
    pub(crate) adopted: Vec<SummaryNode>,
    /// Summaries that models wrote before.
    pub(crate) paid: PaidSummaries,
    /// The user's standing rules, best first.
    pub(crate) rules: Vec<Quote>,
    /// Speakers of the exchanges that stay word for word because they read files that have not changed since, in
    /// ascending order.
    pub(crate) files: Vec<Seq>,
    /// Work log, recorded together with the compaction.
    pub(crate) work: Option<WorkLog>,
    /// Number of tokens that the work log adds to the request; zero if the request already showed a work log.
    pub(crate) spare: Tokens,
    /// Rules for the secrets that no summary and no account contains.
    pub(crate) redactor: Arc<Redactor>,
}

impl Prepared {
    /// Prepares a lane whose bench has all texts of the view. `marks` are the starts and ends of the lane's tasks.
    pub(crate) fn new(
        mut bench: Bench,
        marks: &[TaskMark],
        policy: &Policy,
        redactor: Arc<Redactor>,
    ) -> Self {
        let tokens = weigh(&bench.ask()).tokens;
        // No request after a compaction holds the thinking before it. Weighed as if it stayed, it made the ladder stop
        // long before its goal: first requests at 32,000 tokens then left out up to 38,000 tokens without a summary.
        let thinking = unbound_by_step(bench.view.head(), &bench.costs);
        Arc::make_mut(&mut bench.view).unbind(thinking);
        let rules = match policy.protect.rules_share {
            Permille::ZERO => Vec::new(),
            _ => standing_rules(&bench.view, &bench.texts),
        };
        let tasks = match policy.goes_by_tasks() {
            true => task::tasks(&bench.view, marks, &bench.texts),
            false => Vec::new(),
        };
        let work = work_log(&bench.view, &bench.texts, policy.protect.work_share, &redactor);
        let files =
            work.as_ref().map(|log| recent_reads(&bench.ask(), log, &policy.protect)).unwrap_or_default();
        // The new work log replaces the one in the view. Removing the old one first keeps the ladder from weighing
        // both.
        let stood = Arc::make_mut(&mut bench.view).forget_work().is_some();
        let limit = bench.budget.limit().tokens;
        let says = work.as_ref().and_then(|log| expected(log, bench.stream, limit, &bench.costs));
        let spare = says.iter().filter(|_| !stood).map(|(_, tokens)| *tokens).sum();
        bench.must.extend(says.map(|(item, _)| item));
        let (adopted, paid) = (Vec::new(), PaidSummaries::default());
        Self { bench, tasks, tokens, adopted, paid, rules, files, work, spare, redactor }
    }

    /// Returns the maximum size of a request.
    pub(crate) fn limit(&self) -> Tokens {
        self.bench.budget.limit().tokens
    }
}

/// Returns the speakers of the exchanges that show the most recently read files, if these files have not changed
/// since and the exchanges are within the policy's size limit.
fn recent_reads(ask: &PlanInput<'_>, log: &WorkLog, protect: &Protect) -> Vec<Seq> {
    let count = usize::try_from(protect.files).unwrap_or(usize::MAX);
    if count == 0 {
        return Vec::new();
    }
    let arrangement = arrange(ask.view);
    let shown = guard::shown(ask, &arrangement);
    let is_whole =
        |file: &&TouchedFile| file.change != FileChange::Deleted && file.shown.first() > file.changes.first();
    let read = log.files.iter().filter(is_whole).take(count).filter_map(|file| file.shown.first());
    let exchanges = read.filter_map(|at| {
        let of = |exchange: &&Exchange| exchange.members.binary_search(at).is_ok();
        shown.iter().find(|(exchange, tokens)| of(exchange) && *tokens <= protect.files_tokens)
    });
    let speakers: BTreeSet<Seq> =
        exchanges.flat_map(|(exchange, _)| exchange.speakers.iter().copied()).collect();
    speakers.into_iter().collect()
}

pub(super) async fn prepare(desk: &Desk, options: &CompactOptions) -> Result<Prepared, Error> {
    let mut bench = build_bench(desk, options).await?;
    // What was made ahead may take effect and become part of another summary in the same compaction.
    let ahead: Vec<&SummaryNode> = bench.view.lane().made_ahead().collect();
    let items = item_handles(bench.view.nodes().chain(ahead.iter().copied()));
    let texts = ahead.iter().filter_map(|node| node.text.handle());
    let handles: Vec<Handle> = view_handles(&bench.view).chain(texts).chain(items).collect();
    desk.texts(&mut bench.texts, handles).await?;
    let policy = &options.compactor.policy;
    let marks = match policy.goes_by_tasks() {
        true => task_marks(desk, &bench.view, &bench.texts).await?,
        false => Vec::new(),
    };
    let adopted = adoptable(desk, &mut bench).await?;
    let paid = PaidSummaries::read(desk, options, &bench.view).await?;
    if policy.protect.rules_share > Permille::ZERO {
        hold_turns(desk, &mut bench).await?;
    }
    let redactor = Arc::clone(desk.house.redactor());
    Ok(Prepared { adopted, paid, ..Prepared::new(bench, &marks, policy, redactor) })
}

/// Puts the user's turns that contain rules back into the view, if no compaction has searched them yet. These are the
/// turns before a frontier that moved without a compaction, and all turns if the lane begins.
async fn hold_turns(desk: &Desk, bench: &mut Bench) -> Result<(), Error> {
    let trim = bench.view.trim();
    let (known, frontier) = (trim.rules.through, trim.drop_before);
    if known.next() >= frontier {
        return Ok(());
    }
    let (what, to, limit) = (Marked::UserTurn, frontier.prev(), limits::RULE_TURNS);
    let mut turns = desk.marked(MarkedWanted { what, to, limit }).await?;
    turns.retain(|turn| turn.seq > known);
    let said = turns.iter().filter_map(|event| match &event.fact {
        Some(Fact::MessageAppended(said)) => Some((event, &said.message)),
        _ => None,
    });
    let said: Vec<_> = said.collect();
    let handles = said.iter().flat_map(|(_, message)| spoken(message)).filter_map(Body::handle);
    let handles: Vec<Handle> = handles.collect();
    let mut texts = Texts::default();
    desk.texts(&mut texts, handles).await?;
    let view = Arc::make_mut(&mut bench.view);
    said.iter().filter(|(_, message)| has_rules(message, &texts)).for_each(|(event, _)| view.hold(event));
    bench.texts.extend(texts);
    Ok(())
}

/// Builds the lane's bench. If the lane begins again for another model or window, the step for this is recorded first
/// and the bench is built again.
pub(super) async fn build_bench(desk: &Desk, options: &CompactOptions) -> Result<Bench, Error> {
    for _ in 0..limits::BUILD_RETRIES {
        let bench = bench(&desk.house.job(&options.context), &desk.ask).await?;
        let ShorterTexts { through, epoch, events } = bench.shorter.clone();
        if events.is_empty() {
            return Ok(bench);
        }
        match desk.append(Some(through), events, MadeFrom::session(epoch, through)).await {
            Ok(_) | Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Restless)
}
