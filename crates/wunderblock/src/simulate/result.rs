//! What a simulation found.

use super::compare::PolicyDifference;
use serde::Serialize;

/// Sessions under several policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Simulation {
    /// Each history by itself, in the order in which they were given.
    pub histories: Vec<SimulatedHistory>,
    /// Histories that were left out since no model replies in them.
    pub silent: u64,
    /// How many windows each history was played in.
    pub windows: u64,
    /// How many requests were to be built under each policy: one before each reply of the model, in each window.
    pub requests: u64,
    /// What all that was said takes, in tokens.
    pub history_tokens: u64,
    /// How often the agent's replies name something that was said last more than 8,000 tokens before.
    pub far_references: u64,
    /// How many replies have any.
    pub far_replies: u64,
    /// The part of them that the reply with the most of them has.
    pub largest_reply: f64,
    /// How often they name something nearer, that was said before the exchange which they continue.
    pub near_references: u64,
    /// Calls that read again what an earlier call had read, and none has changed since.
    pub rereads: u64,
    /// The size that every summary was given; none where each policy's own holds.
    pub summary_tokens: Option<u64>,
    /// The policy that others are compared with.
    pub against: String,
    /// What each policy came to over all histories, the highest recall per reply first, then the lowest cost.
    pub policies: Vec<PolicyResult>,
}

/// A history under several policies: a session, or several that were played as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SimulatedHistory {
    /// The session; the first, where several were played as one.
    pub session: String,
    /// How many sessions were played, one after the other.
    pub sessions: u64,
    /// The model the requests are for.
    pub model: String,
    /// Its window, in tokens, before it is varied.
    pub window: u64,
    /// What a request may take, in tokens, in each window.
    pub limits: Vec<u64>,
    /// How many requests were to be built: one before each reply of the model.
    pub requests: u64,
    /// What all that was said takes, in tokens.
    pub history_tokens: u64,
    /// See [`Simulation::far_references`].
    pub far_references: u64,
    /// See [`Simulation::far_replies`].
    pub far_replies: u64,
    /// See [`Simulation::near_references`].
    pub near_references: u64,
    /// See [`Simulation::rereads`].
    pub rereads: u64,
    /// How many different paths, identifiers, numbers and ids were named before the last request.
    pub literals: u64,
    /// What each policy came to, over all windows, in the order in which they were given.
    pub policies: Vec<PolicyResult>,
}

/// What a policy came to. Counts are sums over windows and histories.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyResult {
    /// Its name.
    pub name: String,
    /// How many requests were sent.
    pub requests: u64,
    /// How many requests could not be built: what cannot be left out did not fit.
    pub refused: u64,
    /// How often a request that was sent exceeded the limit. Always 0.
    pub over_budget: u64,
    /// How often the lane was compacted.
    pub compactions: u64,
    /// How often a compaction was tried and changed nothing.
    pub rejected: u64,
    /// How many summaries of a model were refused.
    pub refused_summaries: u64,
    /// How often the plan left out the oldest because the request did not fit.
    pub steps: u64,
    /// Tokens of all requests.
    pub tokens_sent: u64,
    /// … of which the provider finds so many in its cache.
    pub cached_tokens: u64,
    /// … and so many not.
    pub fresh_tokens: u64,
    /// What the requests cost, answers not counted, and the summaries of models, in millionths of a dollar; none where no
    /// price is known.
    pub cost: Option<u64>,
    /// … of which models' work on summaries.
    pub summary_cost: u64,
    /// The largest request.
    pub peak_tokens: u64,
    /// The largest part of its limit that a request took.
    pub peak_share: f64,
    /// Of what replies name that was said last more than 8,000 tokens before.
    pub far: Recall,
    /// Of what they name that was said later, but before the exchange which they continue.
    pub near: Recall,
    /// Words of the user's turns so far, over all requests.
    pub user_words: u64,
    /// The number of them that stood in the request as they were said.
    pub user_words_shown: u64,
    /// … and which part of them.
    pub user_words_share: f64,
    /// Calls that read again what no longer stood in the request as an earlier call had given it; of
    /// [`Simulation::rereads`] in each window.
    pub repeated_reads: u64,
    /// What the next three calls after each compaction needed of what was known before it: paths and ids in their arguments,
    /// and texts that they replace.
    pub needed: u64,
    /// How many of them stood in the request that the call answers.
    pub needed_shown: u64,
    /// How many of them stood there or could be read back in one step of at most 2,000 tokens.
    pub needed_reached: u64,
    /// Which part of them stood there; 1 where nothing was needed.
    pub needs_visible: f64,
    /// … or could be read back.
    pub needs_reachable: f64,
    /// How many of the literals neither stand in the last request nor can be read back from it in one step.
    pub literals_lost: u64,
    /// How many summaries were made.
    pub summaries: u64,
    /// Their tokens.
    pub summary_tokens: u64,
    /// Who wrote them.
    pub writer: SummaryWriter,
    /// The target of a summary, in tokens; what a range needs or has room for can be less.
    pub summary_target: u64,
    /// The levels at which the policy compacts, in words.
    pub levels: Vec<String>,
    /// The time spent on building requests and compacting, in milliseconds of the machine that simulated. The only figure that
    /// differs from run to run.
    pub time_ms: u64,
    /// How it differs from the policy that it is compared with; none for that policy itself, and where there are too few
    /// replies to tell.
    pub difference: Option<PolicyDifference>,
    /// The policies that recall more, beyond chance, at a cost of no more than a twentieth above.
    pub dominated_by: Vec<String>,
    /// The policies of which this one is that.
    pub dominates: Vec<String>,
    /// The first policy whose requests were of the same sizes and held the same of what replies name.
    pub same_as: Option<String>,
    /// The tokens of each request, in order, window by window; 0 for one that could not be built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<u64>,
    /// What each request held of what its reply names, over all windows; of a history only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ReplyRecall>,
}

/// Who wrote a policy's summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryWriter {
    /// Its steps make none.
    #[default]
    Nobody,
    /// The extractive summariser.
    Extractive,
    /// What the caller handed over: a model, a command.
    Model,
}

/// What a request held of what its reply names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplyRecall {
    /// Of what was said far back.
    pub far: RecallCounts,
    /// Of what was said nearer.
    pub near: RecallCounts,
}

/// How many references there were, and where they stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecallCounts {
    /// Names that were said before.
    pub references: u64,
    /// … that stood in an entry, or in a line with at least four content words beside its names.
    pub recalled: u64,
    /// … that stood in other lines alone.
    pub in_lists: u64,
    /// … that were recalled, or stood on the first page (2,000 tokens) of a read that the request names.
    pub reached: u64,
}

/// What a policy's requests held of the names in replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Recall {
    /// The counts.
    #[serde(flatten)]
    pub counts: RecallCounts,
    /// The part of the references that was recalled; 1 where there are none.
    pub recall: f64,
    /// … on average over the replies that have any.
    pub recall_per_reply: f64,
    /// The part that was reached.
    pub reach: f64,
    /// … on average over the replies that have any.
    pub reach_per_reply: f64,
    /// The part that stood in lists alone.
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

impl Recall {
    /// The figures of replies.
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
    /// Adds what the policy came to elsewhere: in another window, or over another history.
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

    /// Adds what the same requests held in another window.
    pub(super) fn add_window(&mut self, other: &Self) {
        self.add(other);
        for (sum, more) in self.replies.iter_mut().zip(&other.replies) {
            sum.far.add(more.far);
            sum.near.add(more.near);
        }
    }

    /// Works out the shares, of counts that are complete.
    pub(super) fn finish<'r>(&mut self, replies: impl Iterator<Item = &'r ReplyRecall> + Clone) {
        self.far = Recall::of(replies.clone().map(|reply| reply.far));
        self.near = Recall::of(replies.map(|reply| reply.near));
        self.user_words_share = share(self.user_words_shown, self.user_words);
        self.needs_visible = share(self.needed_shown, self.needed);
        self.needs_reachable = share(self.needed_reached, self.needed);
    }

    /// What it cost; where no price is known, its tokens that are not cached.
    pub(super) fn price(&self) -> u64 {
        self.cost.unwrap_or(self.fresh_tokens)
    }
}

/// A part of a whole, with four decimals; all of nothing is everything.
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

/// With four decimals.
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
        let found = Recall::of([reply(90, 9), reply(0, 0), reply(5, 5), reply(5, 5)].into_iter());
        assert_eq!((found.recall, found.recall_per_reply), (0.19, 0.7));
        assert_eq!(found.counts.references, 100);
        assert_eq!(Recall::of(std::iter::empty()).recall_per_reply, 1.0, "nothing was missed");
    }
}
