//! Sums over a policy's requests.

use super::levels::levels;
use super::result::{PolicyResult, RecallCounts, ReplyRecall, SummaryWriter, share};
use super::sheet::Sheet;
use crate::request::input::target::Target;
use crate::request::steps::prefix::{billed, cached};
use crate::rules::catalog::MicroDollars;
use crate::rules::compactor::Compactor;
use crate::show::simulate::reading::index::{Index, Moment};
use crate::show::simulate::reading::names::Name;
use crate::show::simulate::reading::needs;
use wunderblock_core::policy::Action;
use wunderblock_core::units::{Cost, Millis, Tokens};

/// Running account of a policy.
#[derive(Default)]
pub(super) struct PolicyAccount {
    pub(super) result: PolicyResult,
    /// Time at which the previous request was sent.
    before: Option<Millis>,
    /// Cost of the requests sent; `None` if no price is known.
    cost: Option<MicroDollars>,
    /// Number of calls still to be examined after the latest compaction, and the event before which their needs must
    /// be known.
    after: (usize, usize),
}

impl PolicyAccount {
    pub(super) fn new(compactor: &Compactor, target: &Target) -> Self {
        let policy = &compactor.policy;
        let writes = |step: &Action| matches!(step, Action::Summarise { .. } | Action::Condense { .. });
        let writer = match (policy.steps.iter().any(writes), &compactor.summariser) {
            (false, _) => SummaryWriter::Nobody,
            (true, None) => SummaryWriter::Extractive,
            (true, Some(_)) => SummaryWriter::Model,
        };
        let result = PolicyResult {
            name: policy.name.to_string(),
            writer,
            summary_target: if writer == SummaryWriter::Nobody { 0 } else { policy.summary.target.0 },
            levels: levels(policy),
            ..PolicyResult::default()
        };
        let cost = target.row.prices.first().map(|_| MicroDollars::ZERO);
        Self { result, cost, ..Self::default() }
    }

    /// Counts a request: its size, and the tokens at its beginning that are unchanged since the previous one.
    pub(super) fn send(&mut self, total: Cost, again: Tokens, now: Millis, target: &Target) {
        let (rule, limit) = (&target.row.cache, target.budget.limit());
        let is_cold = self.before.is_none_or(|at| now.0.saturating_sub(at.0) > rule.lifetime.0);
        let found = if is_cold { Tokens::ZERO } else { cached(rule, again, total.tokens) };
        let result = &mut self.result;
        result.requests += 1;
        result.over_budget += u64::from(!total.fits(limit));
        result.tokens_sent += total.tokens.0;
        result.cached_tokens += found.0;
        result.fresh_tokens += total.tokens.saturating_sub(found).0;
        result.peak_tokens = result.peak_tokens.max(total.tokens.0);
        result.series.push(total.tokens.0);
        if let (Some(cost), Some(price)) = (&mut self.cost, target.row.price_at(now)) {
            *cost += price.cost(billed(rule, found, total.tokens));
        }
        self.before = Some(now);
    }

    /// Adds the cost of a model's work on summaries.
    pub(super) fn spend(&mut self, micro_dollars: u64) {
        if let Some(cost) = &mut self.cost {
            *cost += MicroDollars(micro_dollars);
        }
        self.result.summary_cost += micro_dollars;
    }

    /// Counts the reply's references and the user's words that a request contains. Without a request, nothing is
    /// counted as contained.
    pub(super) fn look(&mut self, sheet: Option<&Sheet>, moment: &Moment, index: &Index) {
        let recall = |names: &[Name]| recalled(names, sheet);
        let reply = ReplyRecall { far: recall(&moment.far), near: recall(&moment.near) };
        self.result.replies.push(reply);
        let Some(sheet) = sheet else { return };
        self.look_ahead(sheet, moment, index);
        let from = index.rereads.partition_point(|read| read.event < moment.before);
        let own = index.rereads.iter().skip(from).take_while(|read| read.event < moment.until);
        self.result.repeated_reads += own.filter(|read| !sheet.holds(&read.earlier)).count() as u64;
        let (words, shown) = sheet.user_words();
        self.result.user_words += words;
        self.result.user_words_shown += shown;
    }

    /// Notes that the lane was compacted before the reply that begins at an event.
    pub(super) fn compacted(&mut self, before: usize) {
        self.after = (needs::CALLS, before);
    }

    /// Counts the needs that a request contains, among those that were known before a compaction and that the next
    /// calls after it have.
    fn look_ahead(&mut self, sheet: &Sheet, moment: &Moment, index: &Index) {
        let (left, known) = self.after;
        let from = index.calls.partition_point(|call| call.event < moment.before);
        let own = index.calls.iter().skip(from).take_while(|call| call.event < moment.until);
        for call in own.take(left) {
            self.after.0 -= 1;
            for item in &call.items {
                let was_known = |name: &Name| index.first.get(*name as usize).is_some_and(|at| *at < known);
                if !item.iter().all(was_known) {
                    continue;
                }
                let shown = item.iter().all(|name| sheet.shows(*name));
                let reached = item.iter().all(|name| sheet.shows(*name) || sheet.leads_to(*name));
                self.result.needed += 1;
                self.result.needed_shown += u64::from(shown);
                self.result.needed_reached += u64::from(reached);
            }
        }
    }

    /// Closes the account after the last request.
    pub(super) fn close(self, sheet: &Sheet, index: &Index, target: &Target) -> PolicyResult {
        let mut result = self.result;
        result.cost = self.cost.map(|cost| cost.0);
        result.peak_share = share(result.peak_tokens, target.budget.limit().tokens.0);
        let lost = index.ever.iter().filter(|name| !sheet.shows(**name) && !sheet.leads_to(**name));
        result.literals_lost = lost.count() as u64;
        result
    }
}

/// Counts where names occur in a request. Without a request, names occur nowhere.
fn recalled(names: &[Name], sheet: Option<&Sheet>) -> RecallCounts {
    let mut counts = RecallCounts { references: names.len() as u64, ..RecallCounts::default() };
    for name in names {
        let Some(sheet) = sheet else { break };
        let said = sheet.says(*name);
        counts.recalled += u64::from(said);
        counts.in_lists += u64::from(!said && sheet.shows(*name));
        counts.reached += u64::from(said || sheet.leads_to(*name));
    }
    counts
}
