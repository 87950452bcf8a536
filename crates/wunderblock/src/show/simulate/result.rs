//! Results of a simulation.

use super::compare::PolicyDifference;
use serde::Serialize;

/// Results of all histories under several policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Simulation {
    /// Results of each history, in the order given.
    pub histories: Vec<SimulatedHistory>,
    /// Number of histories left out because the model never replies in them.
    pub silent: u64,
    /// Number of windows each history was played in.
    pub windows: u64,
    /// Number of requests to build under each policy: one before each reply of the model, in each window.
    pub requests: u64,
    /// Tokens of all messages.
    pub history_tokens: u64,
    /// Number of far references: names in the agent's replies that were last said more than 8,000 tokens earlier.
    pub far_references: u64,
    /// Number of replies with far references.
    pub far_replies: u64,
    /// Share of all far references that belong to the reply with the most of them.
    pub largest_reply: f64,
    /// Number of near references: names last said at most 8,000 tokens earlier, but before the exchange that the
    /// reply continues.
    pub near_references: u64,
    /// Number of calls that read again what an earlier call had read, with no change by a call in between.
    pub rereads: u64,
    /// Size given to every summary, in tokens; `None` if each policy uses its own.
    pub summary_tokens: Option<u64>,
    /// Name of the policy that the others are compared with.
    pub against: String,
    /// Results of each policy over all histories, sorted by descending recall per reply, then by ascending cost.
    pub policies: Vec<PolicyResult>,
}

/// Results of one history under several policies: of a session, or of several played as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SimulatedHistory {
    /// Id of the session, or of the first if several were played as one.
    pub session: String,
    /// Number of sessions played one after the other.
    pub sessions: u64,
    /// Model that the requests are for.
    pub model: String,
    /// Window of the model in tokens, before it is varied.
    pub window: u64,
    /// Request limit in each window, in tokens.
    pub limits: Vec<u64>,
    /// Number of requests to build: one before each reply of the model.
    pub requests: u64,
    /// Tokens of all messages.
    pub history_tokens: u64,
    /// See [`Simulation::far_references`].
    pub far_references: u64,
    /// See [`Simulation::far_replies`].
    pub far_replies: u64,
    /// See [`Simulation::near_references`].
    pub near_references: u64,
    /// See [`Simulation::rereads`].
    pub rereads: u64,
    /// Number of different paths, identifiers, numbers and ids named before the last request.
    pub literals: u64,
    /// Results of each policy over all windows, in the order given.
    pub policies: Vec<PolicyResult>,
}

/// Results of a policy. Counts are sums over windows and histories.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyResult {
    /// Name of the policy.
    pub name: String,
    /// Number of requests sent.
    pub requests: u64,
    /// Number of requests that could not be built, because the parts that cannot be left out did not fit.
    pub refused: u64,
    /// Number of sent requests that exceeded the limit. Always 0.
    pub over_budget: u64,
    /// Number of compactions that changed the lane.
    pub compactions: u64,
    /// Number of compactions that changed nothing.
    pub rejected: u64,
    /// Number of rejected attempts at summaries.
    pub refused_summaries: u64,
    /// Number of times the plan left out the oldest entries because the request did not fit.
    pub steps: u64,
    /// Tokens of all requests.
    pub tokens_sent: u64,
    /// Number of request tokens that the provider finds in its cache.
    pub cached_tokens: u64,
    /// Number of request tokens that the provider does not find in its cache.
    pub fresh_tokens: u64,
    /// Cost of the requests and of the models' summaries in millionths of a dollar, without replies; `None` if no
    /// price is known.
    pub cost: Option<u64>,
    /// Part of `cost` that was spent on models' summaries.
    pub summary_cost: u64,
    /// Number of tokens in the largest request.
    pub peak_tokens: u64,
    /// Largest share of its limit that a request used.
    pub peak_share: f64,
    /// Recall of far references; see [`Simulation::far_references`].
    pub far: RecallShares,
    /// Recall of near references; see [`Simulation::near_references`].
    pub near: RecallShares,
    /// Number of words in the user's turns up to a request, summed over all requests.
    pub user_words: u64,
    /// Number of the user's words that the requests contained verbatim.
    pub user_words_shown: u64,
    /// `user_words_shown` as a share of `user_words`.
    pub user_words_share: f64,
    /// Number of calls among [`Simulation::rereads`], in each window, whose earlier result was no longer in the
    /// request unchanged.
    pub repeated_reads: u64,
    /// Number of things that the next three calls after each compaction needed and that were known before it: paths
    /// and ids in their arguments, and texts that they replace.
    pub needed: u64,
    /// Number of needed things in the request that the call answers.
    pub needed_shown: u64,
    /// Number of needed things in the request that the call answers, or one read of at most 2,000 tokens away from
    /// it.
    pub needed_reached: u64,
    /// `needed_shown` as a share of `needed`; 1 if nothing was needed.
    pub needs_visible: f64,
    /// `needed_reached` as a share of `needed`; 1 if nothing was needed.
    pub needs_reachable: f64,
    /// Number of literals that are neither in the last request nor one read away from it.
    pub literals_lost: u64,
    /// Number of summaries made.
    pub summaries: u64,
    /// Tokens of all summaries.
    pub summary_tokens: u64,
    /// Writer of the summaries.
    pub writer: SummaryWriter,
    /// Target size of a summary in tokens. A short range or lack of room can make a summary shorter.
    pub summary_target: u64,
    /// Levels at which the policy compacts, in words.
    pub levels: Vec<String>,
    /// Milliseconds spent on building requests and compacting, on the machine that ran the simulation. This is the
    /// only figure that differs from run to run.
    pub time_ms: u64,
    /// Difference from the baseline; `None` for the baseline itself, and if there are too few replies.
    pub difference: Option<PolicyDifference>,
    /// Names of the policies that recall more than this one, beyond what chance explains, and cost at most a
    /// twentieth more.
    pub dominated_by: Vec<String>,
    /// Names of the policies whose recall this one exceeds, beyond what chance explains, at a cost at most a
    /// twentieth higher.
    pub dominates: Vec<String>,
    /// Name of the first policy whose requests had the same sizes and the same recall of far references as this
    /// policy's.
    pub same_as: Option<String>,
    /// Number of tokens in each request, in order, window by window; 0 for a request that could not be built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<u64>,
    /// For each reply, the references contained in its requests, summed over windows. Only results of a single
    /// history list the references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ReplyRecall>,
}

/// Writer of a policy's summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryWriter {
    /// The policy has no step that makes summaries.
    #[default]
    Nobody,
    /// The extractive summariser.
    Extractive,
    /// The caller's summariser: a model or a command.
    Model,
}

/// References in a reply that were contained in its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplyRecall {
    /// Counts of far references.
    pub far: RecallCounts,
    /// Counts of near references.
    pub near: RecallCounts,
}

/// Number of references, grouped by where the request contained them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecallCounts {
    /// Number of names that had already been said.
    pub references: u64,
    /// Number of references in an entry, or in a line with at least four content words besides its names.
    pub recalled: u64,
    /// Number of references in other lines only.
    pub in_lists: u64,
    /// Number of references recalled, or on the first page (2,000 tokens) of a read that the request names.
    pub reached: u64,
}

/// Recall of a policy over many replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RecallShares {
    /// Counts over all replies.
    #[serde(flatten)]
    pub counts: RecallCounts,
    /// Share of the references recalled; 1 without references.
    pub recall: f64,
    /// Share of the references recalled, averaged over the replies that have references.
    pub recall_per_reply: f64,
    /// Share of the references reached.
    pub reach: f64,
    /// Share of the references reached, averaged over the replies that have references.
    pub reach_per_reply: f64,
    /// Share of the references in lists only.
    pub listed: f64,
}

impl RecallCounts {
    pub(super) fn add(&mut self, other: Self) {
        self.references += other.references;
        self.recalled += other.recalled;
        self.in_lists += other.in_lists;
        self.reached += other.reached;
    }
}

impl RecallShares {
    /// Computes the figures of replies.
    pub(super) fn of(replies: impl Iterator<Item = RecallCounts>) -> Self {
        let mut counts = RecallCounts::default();
        let (mut recalled, mut reached, mut having) = (0.0, 0.0, 0_u64);
        for reply in replies.filter(|reply| reply.references > 0) {
            counts.add(reply);
            recalled += ratio(reply.recalled, reply.references);
            reached += ratio(reply.reached, reply.references);
            having += 1;
        }
        let mean = |sum: f64| if having == 0 { 1.0 } else { rounded(sum / number(having)) };
        Self {
            counts,
            recall: share(counts.recalled, counts.references),
            recall_per_reply: mean(recalled),
            reach: share(counts.reached, counts.references),
            reach_per_reply: mean(reached),
            listed: if counts.references == 0 { 0.0 } else { share(counts.in_lists, counts.references) },
        }
    }
}

impl PolicyResult {
    /// Adds the results of another window or another history.
    pub(super) fn add(&mut self, other: &Self) {
        let pairs: [(&mut u64, u64); 18] = [
            (&mut self.requests, other.requests),
            (&mut self.refused, other.refused),
            (&mut self.over_budget, other.over_budget),
            (&mut self.compactions, other.compactions),
            (&mut self.rejected, other.rejected),
            (&mut self.refused_summaries, other.refused_summaries),
            (&mut self.steps, other.steps),
            (&mut self.tokens_sent, other.tokens_sent),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.fresh_tokens, other.fresh_tokens),
            (&mut self.summary_cost, other.summary_cost),
            (&mut self.user_words, other.user_words),
            (&mut self.user_words_shown, other.user_words_shown),
            (&mut self.repeated_reads, other.repeated_reads),
            (&mut self.literals_lost, other.literals_lost),
            (&mut self.summaries, other.summaries),
            (&mut self.summary_tokens, other.summary_tokens),
            (&mut self.time_ms, other.time_ms),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
        self.needed += other.needed;
        self.needed_shown += other.needed_shown;
        self.needed_reached += other.needed_reached;
        self.cost = self.cost.zip(other.cost).map(|(sum, more)| sum + more);
        self.peak_tokens = self.peak_tokens.max(other.peak_tokens);
        self.peak_share = self.peak_share.max(other.peak_share);
        self.series.extend(&other.series);
    }

    /// Adds the results of the same requests in another window.
    pub(super) fn add_window(&mut self, other: &Self) {
        self.add(other);
        for (sum, more) in self.replies.iter_mut().zip(&other.replies) {
            sum.far.add(more.far);
            sum.near.add(more.near);
        }
    }

    /// Computes the shares from complete counts.
    pub(super) fn finish<'r>(&mut self, replies: impl Iterator<Item = &'r ReplyRecall> + Clone) {
        self.far = RecallShares::of(replies.clone().map(|reply| reply.far));
        self.near = RecallShares::of(replies.map(|reply| reply.near));
        self.user_words_share = share(self.user_words_shown, self.user_words);
        self.needs_visible = share(self.needed_shown, self.needed);
        self.needs_reachable = share(self.needed_reached, self.needed);
    }

    /// Returns the cost, or the tokens not found in the cache if no price is known.
    pub(super) fn price(&self) -> u64 {
        self.cost.unwrap_or(self.fresh_tokens)
    }
}

/// Returns a part as a share of a whole with four decimals, or 1 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { rounded(ratio(part, whole)) }
}

pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    number(part) / number(whole)
}

/// Counts of tokens and entities are far below 2^52.
#[allow(clippy::cast_precision_loss)]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

/// Rounds to four decimals.
pub(super) fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_reply_carries_the_sum_and_not_the_mean() {
        let reply = |references, recalled| RecallCounts {
            references,
            recalled,
            reached: recalled,
            ..RecallCounts::default()
        };
        let found = RecallShares::of([reply(90, 9), reply(0, 0), reply(5, 5), reply(5, 5)].into_iter());
        assert_eq!((found.recall, found.recall_per_reply), (0.19, 0.7));
        assert_eq!(found.counts.references, 100);
        assert_eq!(RecallShares::of(std::iter::empty()).recall_per_reply, 1.0, "nothing was missed");
    }
}
