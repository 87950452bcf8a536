//! What a policy's requests come to.

use super::index::{Index, Moment};
use super::names::Name;
use super::needs;
use super::result::PolicyResult;
use super::sheet::Sheet;
use crate::catalog::MicroDollars;
use crate::request::prefix::{billed, cached};
use crate::request::target::Target;
use wunderblock_core::units::{Cost, Millis, Tokens};

/// The account of a policy, under way.
#[derive(Default)]
pub(super) struct PolicyAccount {
    pub(super) result: PolicyResult,
    /// When the request before was sent.
    before: Option<Millis>,
    /// What the requests cost so far; none if no price is known.
    cost: Option<MicroDollars>,
    /// The sum of the shares of the user's turns that stood in a request.
    verbatim: f64,
    requests: u32,
    /// Calls that are still looked at since the newest compaction, and the event before which what they need must be known.
    after: (usize, usize),
}

impl PolicyAccount {
    pub(super) fn new(name: &str, target: &Target) -> Self {
        let cost = target.row.prices.first().map(|_| MicroDollars::ZERO);
        Self {
            result: PolicyResult { name: name.to_owned(), ..PolicyResult::default() },
            cost,
            ..Self::default()
        }
    }

    /// Counts a request: what it takes, and how much of that is as it was at the beginning of the one before.
    pub(super) fn send(&mut self, (total, again): (Cost, Tokens), now: Millis, target: &Target) {
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

    /// Adds what a model's work on summaries cost.
    pub(super) fn spend(&mut self, micro_dollars: u64) {
        if let Some(cost) = &mut self.cost {
            *cost += MicroDollars(micro_dollars);
        }
        self.result.summary_cost += micro_dollars;
    }

    /// Counts what a request still holds of what its reply refers to, and of the user's words.
    pub(super) fn look(&mut self, sheet: &Sheet, moment: &Moment, index: &Index) {
        let result = &mut self.result;
        for name in &moment.far {
            let shown = sheet.shows(*name);
            result.recalled += u64::from(shown);
            result.reached += u64::from(shown || sheet.leads_to(*name));
        }
        self.look_ahead(sheet, moment, index);
        let result = &mut self.result;
        let turns = index.turns.get(..moment.turns).unwrap_or_default();
        let held = turns.iter().filter(|turn| sheet.holds(turn)).count();
        result.user_messages_verbatim = share(held as u64, turns.len() as u64);
        self.verbatim += result.user_messages_verbatim;
        self.requests += 1;
    }

    /// Notes that the lane was compacted before the reply that begins at an event.
    pub(super) fn compacted(&mut self, before: usize) {
        self.after = (needs::CALLS, before);
    }

    /// Counts what a request holds of what the next calls after a compaction need, as far as it was known before.
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

    /// The account, when the last request is sent.
    pub(super) fn close(self, sheet: &Sheet, index: &Index, target: &Target) -> PolicyResult {
        let far = index.moments.iter().map(|moment| moment.far.len() as u64).sum();
        let mut result = self.result;
        result.cost = self.cost.map(|cost| cost.0);
        result.far_reference_recall = share(result.recalled, far);
        result.far_reference_reachable = share(result.reached, far);
        result.needs_visible = share(result.needed_shown, result.needed);
        result.needs_reachable = share(result.needed_reached, result.needed);
        result.peak_share = share(result.peak_tokens, target.budget.limit().tokens.0);
        result.user_messages_verbatim_mean =
            if self.requests == 0 { 1.0 } else { rounded(self.verbatim / f64::from(self.requests)) };
        let lost = index.ever.iter().filter(|name| !sheet.shows(**name) && !sheet.leads_to(**name));
        result.literals_lost = lost.count() as u64;
        result
    }
}

/// A part of a whole, with four decimals; all of nothing is everything.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    // Counts of tokens and entities are far below 2^52.
    #[allow(clippy::cast_precision_loss)]
    if whole == 0 { 1.0 } else { rounded(part as f64 / whole as f64) }
}

fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}
