//! Planning of a request: which entries it shows, and in which form, under a budget.
//!
//! Between two steps a request only grows at its end. When the request no longer fits, the lane's two frontiers
//! ([`Trim`]) move forward far enough to free a fifth of the window if possible, and the step is recorded. Until the
//! next step, nothing that was shown changes. Some content always stays: the operator's words, the user's first turn
//! and a project's instructions while they are short, the user's newest turn, and pins.

mod fit;
mod instructions;
mod recall;
mod refusal;

use crate::id::{CallId, Handle};
use crate::lane::pair::{Arrangement, Exchange, ExchangeKind, arrange};
use crate::lane::thinking;
use crate::lane::trim::{self, GapOrSummary, treatment};
use crate::lane::view::{View, first_user};
use crate::planning::cost::{self, EntryCost};
use crate::planning::quote;
use crate::ports::{Bodies, CostModel};
use crate::record::budget::{Budget, Treatment};
pub use crate::record::decision::{Injection, Plan, Trim, TrimReason};
use crate::record::message::{Body, Part};
use crate::source::section::Section;
use crate::units::{Bytes, Cost, Seq, Tokens};
use fit::{longest_that, reach};
pub use instructions::{INSTRUCTIONS_DIVISOR, instructions_max, instructs, latest_instructions};
pub use recall::{AskedText, Recalled, recall, returning, shown_entries};
pub use refusal::{Fixed, PlanRefusal};

/// First position that a view must hold to be complete. The first event of a stream only opens the stream.
const FIRST: Seq = Seq(2);
/// Divisor of the window: one step frees a fifth of it. A step changes the beginning of the request, which then has
/// to be paid for without the provider's cache, so steps should be rare and large.
pub const STEP_DIVISOR: u64 = 5;
/// Divisor of the limit: stubs may take a tenth of it.
pub const STUB_DIVISOR: u64 = 10;
/// Divisor of the window: the user's first turn stays while it takes at most a twentieth of the window.
pub const FIRST_TURN_DIVISOR: u64 = 20;
/// Maximum cost of the mark of a gap.
pub const GAP_COST: Cost = Cost::new(96, 512);

/// Input of planning.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// View of the lane, with all entries that could be shown.
    pub view: &'a View,
    /// Handle of the session; marks name positions of the session.
    pub stream: Handle,
    /// Budget that the request must fit.
    pub budget: Budget,
    /// Cost of texts.
    pub costs: &'a dyn CostModel,
    /// Texts of long user turns, needed if one of them alone exceeds the window.
    pub bodies: &'a dyn Bodies,
    /// Tools and other text outside the transcript.
    pub fixed: &'a [Fixed],
    /// Texts that must be at the tail unless the request shows them elsewhere: the state, and the instructions for
    /// places that the work has reached.
    pub must: &'a [Injection],
    /// Texts that could be brought back, best first.
    pub hits: &'a [Injection],
    /// Maximum number of tokens in the texts that are brought back.
    pub recall: Tokens,
    /// Maximum number of tokens in everything that is not fixed.
    pub transcript: Tokens,
    /// Everything from this position on is in the view. Entries between the lane's frontier and this position were
    /// not loaded, because they are more than any window can hold, so the lane must step past them.
    pub floor: Seq,
}

/// Decides what goes into a request. The function is total: it returns a plan that fits, or the parts that do not
/// fit.
///
/// # Errors
/// Returns a refusal if fixed parts, system messages, pinned entries and the newest turn, clipped as far as allowed,
/// exceed the limit.
pub fn plan(ask: &PlanInput<'_>) -> Result<Plan, Box<PlanRefusal>> {
    let arrangement = arrange(ask.view);
    let waiting = waiting(&arrangement, ask.view);
    let trim = Trim { waiting, unbound: unbound(ask), ..ask.view.trim().clone() };
    let mut scale = ExchangeCosts::new(ask, &arrangement, &trim);
    let mut plan = Plan { through: ask.view.head(), trim, ..Plan::default() };
    if ask.floor > plan.trim.drop_before.max(FIRST) || !scale.total(&plan.trim).fits(scale.limit) {
        plan.trim.unbound = thinking::unbound_by_step(plan.through, ask.costs);
        scale = ExchangeCosts::new(ask, &arrangement, &plan.trim);
        plan.trim = Trim { unbound: plan.trim.unbound, ..scale.step()? };
        plan.step = Some(TrimReason::OverBudget);
    } else if arrangement.exchanges.iter().any(|exchange| has_changed(exchange, ask.view)) {
        plan.step = Some(TrimReason::LateResult);
    }
    if plan.step.is_some() {
        trim::settle(&mut plan.trim, &arrangement, ask.view);
    }
    // A text added now would come after the waiting calls, but would precede them once they are shown.
    if plan.trim.waiting.is_empty() {
        plan.inject = scale.unsaid(&plan.trim).cloned().chain(scale.returning(&plan.trim)).collect();
    }
    plan.synthetic = synthetic(&arrangement, &plan.trim, ask.view);
    Ok(plan)
}

/// Returns the cost of the request that the view's own trim shows, which is never less than the cost of what is
/// rendered.
#[must_use]
pub fn weigh(ask: &PlanInput<'_>) -> Cost {
    let arrangement = arrange(ask.view);
    let trim = Trim { unbound: unbound(ask), ..ask.view.trim().clone() };
    ExchangeCosts::new(ask, &arrangement, &trim).total(&trim)
}

/// Returns the clip of the newest exchange that leaves half of the room beside what always stays; empty if the
/// exchange takes no more than that. The user's newest turn is clipped, too, if it alone takes more than half.
pub(crate) fn newest_clip(ask: &PlanInput<'_>) -> Vec<(Seq, Bytes)> {
    let arrangement = arrange(ask.view);
    let trim = Trim { unbound: unbound(ask), ..ask.view.trim().clone() };
    let scale = ExchangeCosts::new(ask, &arrangement, &trim);
    let Some((newest, cost)) = scale.newest_exchange() else { return Vec::new() };
    let mut kept = Trim { keep: scale.kept(false), ..Trim::default() };
    // The newest turn of the user may be the newest exchange.
    kept.keep.retain(|seq| !newest.speakers.contains(seq));
    let rest = scale.total(&scale.required(kept.clone()));
    let of_all = scale.half(&Trim::default(), scale.limit);
    let is_turn_long = !rest.fits(of_all);
    let half = if is_turn_long { of_all } else { scale.half(&kept, scale.limit) };
    if (rest + cost.verbatim).fits(half) {
        return Vec::new();
    }
    let turn = kept.keep.iter().filter(|_| is_turn_long);
    let clipped: Vec<Seq> = turn.chain(&newest.members).copied().collect();
    // Many results may exceed half even with the shortest heads and tails.
    let shortest = Trim { clip: clip(&clipped, MIN_CLIP), ..kept };
    scale.clipped(&shortest, half).unwrap_or(shortest).clip
}

/// Returns whether an exchange is part of the conversation: it is neither the operator's, nor a text that the engine
/// added at the tail of an earlier request.
#[must_use]
pub fn is_said(exchange: &Exchange, view: &View) -> bool {
    exchange.shape != ExchangeKind::System && !exchange.members.iter().all(|seq| view.lane().is_ours(*seq))
}

/// Returns the runs of positions whose thinking is not sent.
fn unbound(ask: &PlanInput<'_>) -> Vec<(Seq, Seq)> {
    if ask.costs.binds_thinking() { thinking::unbound(ask.view) } else { Vec::new() }
}

/// Returns the limit of the request: the budget's limit, or the fixed parts plus the transcript's share, whichever is
/// less.
#[must_use]
pub fn limit(ask: &PlanInput<'_>) -> Cost {
    let fixed: Cost = ask.fixed.iter().map(|part| part.cost).sum();
    let limit = ask.budget.limit();
    Cost { tokens: limit.tokens.min(fixed.tokens + ask.transcript), ..limit }
}

/// Returns whether the lane's last request showed this exchange, and the exchange has grown since.
fn has_changed(exchange: &Exchange, view: &View) -> bool {
    let Some((_, through)) = view.lane().built.filter(|(_, through)| exchange.last > *through) else {
        return false;
    };
    let spoke =
        exchange.speakers.first().is_some_and(|seq| *seq <= through && !view.lane().waited.contains(seq));
    let end = exchange.members.iter().rev().find(|seq| **seq <= through);
    let shown = end.is_some_and(|seq| *seq >= view.trim().drop_before);
    spoke && (shown || trim::stays(exchange, view.trim(), view))
}

fn synthetic(arrangement: &Arrangement, trim: &Trim, view: &View) -> Vec<CallId> {
    let shown =
        arrangement.exchanges.iter().filter(|exchange| treatment(exchange, trim, view) != Treatment::LeftOut);
    let calls = shown.flat_map(Exchange::calls);
    calls.filter(|call| call.result.is_none()).map(|call| call.id.clone()).collect()
}

/// Exchanges with their costs, ordered by where they end, so that a frontier divides them into a front and a back.
struct ExchangeCosts<'a> {
    ask: &'a PlanInput<'a>,
    limit: Cost,
    fixed: Cost,
    /// Cost of the user's standing rules. Of all steps, only a compaction changes the rules.
    rules: Cost,
    newest: Option<Seq>,
    /// Exchanges that are not waiting for results.
    exchanges: Vec<(&'a Exchange, EntryCost)>,
    /// Speakers of the exchanges that are waiting for results.
    waiting: Vec<Seq>,
}

/// Returns the speakers of the newest exchanges with calls whose results are outstanding. An exchange with an
/// outstanding result is withheld, because a stand-in for the result would be replaced in the next request. An
/// exchange no longer waits once the user has continued, or an earlier request has shown it with a stand-in.
fn waiting(arrangement: &Arrangement, view: &View) -> Vec<Seq> {
    let (newest, built) = (view.newest_user(), view.lane().built.map(|(_, through)| through));
    let is_shown =
        |seq: &Seq| built.is_some_and(|through| *seq <= through) && !view.lane().waited.contains(seq);
    let waits = |exchange: &Exchange| {
        exchange.is_waiting()
            && exchange.speakers.iter().all(|seq| !is_shown(seq) && newest.is_none_or(|user| *seq > user))
    };
    let exchanges = &arrangement.exchanges;
    let mut from = exchanges.iter().rposition(|exchange| !waits(exchange)).map_or(0, |index| index + 1);
    // The waiting exchanges must come after all shown content, wherever a step moves it.
    let mut last = exchanges.iter().take(from).map(|exchange| exchange.last).max();
    for (index, exchange) in exchanges.iter().enumerate().skip(from) {
        if last.is_none_or(|last| exchange.speakers.first().is_some_and(|seq| *seq <= last)) {
            from = index + 1;
            last = exchanges.iter().take(from).map(|exchange| exchange.last).max();
        }
    }
    let mut speakers: Vec<Seq> =
        exchanges.iter().skip(from).flat_map(|exchange| exchange.speakers.iter().copied()).collect();
    speakers.sort_unstable();
    speakers
}

impl<'a> ExchangeCosts<'a> {
    fn new(ask: &'a PlanInput<'a>, arrangement: &'a Arrangement, trim: &Trim) -> Self {
        let waiting = trim.waiting.clone();
        let is_there = |exchange: &&Exchange| !exchange.speakers.iter().any(|seq| waiting.contains(seq));
        let cost = |exchange| (exchange, cost::exchange(exchange, trim, ask.view, ask.costs));
        let mut exchanges: Vec<_> = arrangement.exchanges.iter().filter(is_there).map(cost).collect();
        exchanges.sort_by_key(|(exchange, _)| exchange.last);
        let fixed: Cost = ask.fixed.iter().map(|part| part.cost).sum();
        let rules = quote::total(trim, ask.view, ask.bodies, ask.costs);
        Self { ask, limit: limit(ask), fixed, rules, newest: ask.view.newest_user(), exchanges, waiting }
    }

    fn total(&self, trim: &Trim) -> Cost {
        let view = self.ask.view;
        let mut total = self.fixed + self.gaps(trim) + self.saying(trim);
        for (exchange, cost) in &self.exchanges {
            total += match treatment(exchange, trim, view) {
                Treatment::Verbatim | Treatment::Reduced => cost.verbatim,
                Treatment::Stub => cost.stub,
                Treatment::LeftOut => Cost::ZERO,
                Treatment::Clipped => cost::clipped(exchange, trim, view, self.ask.costs, self.ask.bodies),
            };
        }
        total
    }

    /// Returns the texts that must be at the tail because the request does not show them elsewhere under this trim.
    fn unsaid(&self, trim: &Trim) -> impl Iterator<Item = &'a Injection> {
        self.ask.must.iter().filter(move |item| !self.is_said(item, trim))
    }

    fn is_said(&self, item: &Injection, trim: &Trim) -> bool {
        let view = self.ask.view;
        let Some((at, body)) = view.lane().last_injected(item.section, &item.what) else { return false };
        let exchange = self.exchanges.iter().find(|(exchange, _)| exchange.members.contains(&at));
        // A text that a step turned into a stub is sent again: the state belongs at the end, where a model looks.
        *body == item.body
            && exchange.is_some_and(|(exchange, _)| treatment(exchange, trim, view) == Treatment::Verbatim)
    }

    fn saying(&self, trim: &Trim) -> Cost {
        self.unsaid(trim).map(|item| cost::injection(item, self.ask.costs)).sum()
    }

    fn gaps(&self, trim: &Trim) -> Cost {
        let stands = trim::stands(self.exchanges.iter().map(|(exchange, _)| *exchange), trim, self.ask.view);
        let cost = |stand: &GapOrSummary<'_>| match stand {
            GapOrSummary::Gap(..) => GAP_COST,
            GapOrSummary::Node(_, node) => cost::node(node, self.ask.costs),
        };
        let rules = if trim.rules.quotes.is_empty() { Cost::ZERO } else { self.rules };
        rules + stands.iter().map(cost).sum()
    }

    /// Returns the limit minus what a step frees: a fifth of the window in tokens (but at most half of the token
    /// limit), and a fifth of the bytes.
    fn roomy(&self) -> Cost {
        let Cost { tokens, bytes } = self.limit;
        let share = (self.ask.budget.window.0 / STEP_DIVISOR).min(tokens.0 / 2);
        Cost::new(tokens.0 - share, bytes.0 - bytes.0 / STEP_DIVISOR)
    }

    /// Returns the next step, with its frontiers far enough forward, but not past the newest exchange if that can be
    /// avoided.
    fn step(&self) -> Result<Trim, Box<PlanRefusal>> {
        let roomy = self.roomy();
        let kept = [self.kept(true), self.kept(false)];
        let kept = kept.map(|keep| Trim { keep, ..Trim::default() });
        // A summary is worth more than the room that its removal frees, so it is removed only if it does not fit at
        // all. Without this rule, a first request of 5,600 tokens lost the summary of everything older, and stayed 43
        // % empty.
        for (target, summaries) in [
            (roomy, Summaries::All),
            (self.limit, Summaries::All),
            (roomy, Summaries::Newest),
            (self.limit, Summaries::Newest),
        ] {
            let mut trims = kept.iter().filter_map(|kept| self.with_nodes(target, summaries, kept));
            if let Some(trim) = trims.next() {
                return Ok(trim);
            }
        }
        for kept in &kept {
            let cut = self.with_newest_cut(kept, roomy);
            if let Some(trim) = cut.and_then(|cut| self.with_nodes(self.limit, Summaries::Newest, &cut)) {
                return Ok(trim);
            }
        }
        self.last_resort(roomy)
    }

    /// Returns what always stays: the user's newest turn, and, if `with_first` is set, the user's first turn and the
    /// project's instructions, unless they are long.
    fn kept(&self, with_first: bool) -> Vec<Seq> {
        let small = Tokens(self.ask.budget.window.0 / FIRST_TURN_DIVISOR);
        let is_small = |seq: &Seq| {
            let turn = self.exchanges.iter().find(|(exchange, _)| exchange.speakers.contains(seq));
            turn.is_some_and(|(_, cost)| cost.verbatim.tokens <= small)
        };
        let first = first_user(self.ask.view).filter(|seq| with_first && is_small(seq));
        let orders = self.exchanges.iter().rev().find(|(exchange, _)| instructs(exchange, self.ask.view));
        let most = instructions_max(self.ask.budget.window);
        let orders = orders.filter(|(_, cost)| with_first && cost.verbatim.tokens <= most);
        let orders = orders.into_iter().flat_map(|(exchange, _)| exchange.speakers.iter().copied());
        let mut keep: Vec<Seq> = first.into_iter().chain(self.newest).chain(orders).collect();
        keep.sort_unstable();
        keep.dedup();
        keep
    }

    /// Returns the step with all summaries, or with as many of the newest as fit. The ranges of the dropped summaries
    /// are listed as left out.
    fn with_nodes(&self, target: Cost, summaries: Summaries, kept: &Trim) -> Option<Trim> {
        let all = &self.ask.view.trim().nodes;
        let without = |oldest: usize| {
            let nodes = all.get(oldest..).unwrap_or_default().to_vec();
            let trim = self.frontiers(target, Trim { nodes, ..kept.clone() })?;
            self.total(&trim).fits(self.limit).then_some(trim)
        };
        let whole = without(0);
        if whole.is_some() || all.is_empty() || summaries == Summaries::All {
            return whole;
        }
        let mut best = without(all.len())?;
        // Each dropped summary leaves more room, so a binary search finds the smallest number to drop.
        let (mut low, mut high) = (0, all.len());
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            match without(middle) {
                Some(trim) => (best, high) = (trim, middle),
                None => low = middle,
            }
        }
        Some(best)
    }

    /// Returns the trim with its frontiers as far back as `target` allows; `None` if the content that must stay, or the
    /// newest exchange, does not fit. `kept` has what stays wherever the frontiers are.
    fn frontiers(&self, target: Cost, kept: Trim) -> Option<Trim> {
        let view = self.ask.view;
        let old = view.trim();
        let mut trim = Trim { nodes: kept.nodes.clone(), nodes_last: old.nodes_last, ..self.required(kept) };
        trim.rules = old.rules.clone();
        let min = self.total(&trim);
        if !min.fits(target) {
            return None;
        }
        let room = target.saturating_sub(min);
        let left_out =
            |(exchange, _): &&(&Exchange, EntryCost)| treatment(exchange, &trim, view) == Treatment::LeftOut;
        let free: Vec<&(&Exchange, EntryCost)> = self.exchanges.iter().filter(left_out).collect();
        // Stubs get a share of the room, but not the room of the newest exchange.
        let beside = free.last().map_or(room, |(_, cost)| room.saturating_sub(cost.verbatim)).tokens;
        let stubs = free.iter().map(|(_, cost)| cost.stub).sum::<Cost>().tokens;
        let reserved = stubs.min(Tokens(self.limit.tokens.0 / STUB_DIVISOR)).min(beside);
        let verbatim_room = Cost { tokens: room.tokens.saturating_sub(reserved), ..room };
        let (start, used) = reach(&free, free.len(), verbatim_room, |cost| cost.verbatim);
        let is_newest =
            |exchange: &Exchange| self.exchanges.last().is_some_and(|(last, _)| last.last == exchange.last);
        if start == free.len() && free.last().is_some_and(|(exchange, _)| is_newest(exchange)) {
            return None;
        }
        let (from, _) = reach(&free, start, room.saturating_sub(used), |cost| cost.stub);
        let frontier = |index: usize| match index.checked_sub(1).and_then(|before| free.get(before)) {
            Some((exchange, _)) => exchange.last.next(),
            None => Seq::START,
        };
        trim.stub_before = frontier(start).max(old.stub_before);
        let floor = if self.ask.floor > FIRST { self.ask.floor } else { Seq::START };
        trim.stub_before = trim.stub_before.max(floor);
        trim.drop_before = frontier(from).max(old.drop_before).max(floor).min(trim.stub_before);
        // Turns after the frontier are shown anyway, so they do not have to be kept.
        trim.keep.retain(|seq| *seq < trim.stub_before);
        Some(trim)
    }

    /// Returns the first position after everything that could be shown. The position is not after the head: records
    /// of the engine after the newest message are not left-out content, and would cost a mark.
    fn end(&self) -> Seq {
        let view = self.ask.view;
        let last = view.entries().next_back().map_or(Seq::START, |entry| entry.seq);
        last.next().max(view.trim().drop_before).max(self.ask.floor)
    }

    /// Returns a trim that shows only what it keeps and clips.
    fn required(&self, kept: Trim) -> Trim {
        let (drop_before, stub_before) = (self.end(), self.end());
        let (view, old) = (self.ask.view, self.ask.view.trim());
        // A pinned entry stays in the form in which it was weighed.
        let (waiting, forms) = (self.waiting.clone(), old.forms.clone());
        let stays = |seq: Seq| view.pinned().contains(&seq) && !kept.clip.iter().any(|(at, _)| *at == seq);
        let clip = old.clip.iter().filter(|(seq, _)| stays(*seq)).chain(&kept.clip);
        let mut clip: Vec<(Seq, Bytes)> = clip.copied().collect();
        clip.sort_unstable();
        Trim { drop_before, stub_before, waiting, forms, clip, ..kept }
    }

    /// Returns the newest exchange of the conversation, which other texts may follow.
    fn newest_exchange(&self) -> Option<&(&'a Exchange, EntryCost)> {
        self.exchanges.iter().rev().find(|(exchange, _)| is_said(exchange, self.ask.view))
    }

    /// Returns the cost of the kept entries with half of the room that they leave.
    fn half(&self, kept: &Trim, target: Cost) -> Cost {
        let rest = self.total(&self.required(kept.clone()));
        let room = target.saturating_sub(rest);
        rest + Cost::new(room.tokens.0 / 2, room.bytes.0 / 2)
    }

    /// Adds to a trim the head and tail of what is too long in the newest exchange. The exchange takes half of the room
    /// that the kept entries leave, or what all others leave. A stub would say nothing about what was asked for last,
    /// and the agent would ask again.
    fn with_newest_cut(&self, kept: &Trim, target: Cost) -> Option<Trim> {
        let (newest, _) = self.newest_exchange()?;
        let required = self.required(kept.clone());
        let half = self.half(kept, target);
        let is_kept = |exchange| treatment(exchange, &required, self.ask.view) != Treatment::LeftOut;
        let others = self.exchanges.iter().filter(|(other, _)| other.key != newest.key && !is_kept(other));
        let others: Cost = others.map(|(_, cost)| cost.verbatim).sum();
        let all = target.saturating_sub(others);
        let most = Cost { tokens: half.tokens.max(all.tokens), bytes: half.bytes.max(all.bytes) };
        self.clipped(&Trim { clip: clip(&newest.members, MIN_CLIP), ..kept.clone() }, most)
    }

    /// Returns a trim that shows only the required content: the user's newest turn and the newest exchange, with the
    /// head and tail of what is too long in them.
    fn last_resort(&self, roomy: Cost) -> Result<Trim, Box<PlanRefusal>> {
        let kept = Trim { keep: self.newest.into_iter().collect(), ..Trim::default() };
        let of = |seq: &Seq| self.exchanges.iter().find(|(exchange, _)| exchange.speakers.contains(seq));
        let turn = self.newest.as_ref().and_then(of).map_or(&[][..], |(exchange, _)| &exchange.speakers);
        let newest = self.newest_exchange().map_or(&[][..], |(exchange, _)| &exchange.members);
        let both: Vec<Seq> = turn.iter().chain(newest).copied().collect();
        // The user's own words are clipped only if they do not fit without the newest exchange.
        let beside = if newest == turn { &[] } else { newest };
        let plain = self.required(kept.clone());
        let clipped = |members: &[Seq], target| {
            self.clipped(&Trim { clip: clip(members, MIN_CLIP), ..kept.clone() }, target)
        };
        let trim = clipped(beside, self.limit).map(|kept| self.required(kept));
        if let Some(trim) = trim.or_else(|| self.total(&plain).fits(self.limit).then(|| plain.clone())) {
            return Ok(trim);
        }
        for members in [&both, turn] {
            let trim = clipped(members, roomy).or_else(|| clipped(members, self.limit));
            if let Some(kept) = trim {
                return Ok(self.required(kept));
            }
        }
        let is_long = turn.iter().any(|seq| self.longest_text(*seq) > MIN_CLIP);
        let shortest = self.required(Trim { clip: clip(turn, MIN_CLIP), ..kept.clone() });
        Err(Box::new(self.refusal(if is_long { &shortest } else { &plain })))
    }

    /// Returns the trim that shows as much as `target` allows of each text that a trim clips; `None` if the texts are
    /// too short to clip, or do not fit even when they are clipped to their minimum.
    fn clipped(&self, kept: &Trim, target: Cost) -> Option<Trim> {
        let at = |bytes| kept.clip.iter().map(|(seq, _)| (*seq, bytes)).collect();
        let trim = |bytes| self.required(Trim { clip: at(bytes), ..kept.clone() });
        let fits = |bytes| self.total(&trim(bytes)).fits(target);
        let longest = kept.clip.iter().map(|(seq, _)| self.longest_text(*seq)).max()?;
        (longest > MIN_CLIP && fits(MIN_CLIP)).then(|| {
            let bytes = longest_that(fits, MIN_CLIP, longest);
            Trim { clip: at(bytes), ..kept.clone() }
        })
    }

    /// Returns the length of an entry's longest text, in bytes.
    fn longest_text(&self, seq: Seq) -> Bytes {
        let parts = self.ask.view.entry(seq).into_iter().flat_map(|entry| &entry.message.parts);
        parts.flat_map(Part::bodies).map(Body::bytes).max().unwrap_or_default()
    }

    fn refusal(&self, trim: &Trim) -> PlanRefusal {
        let mut parts = self.ask.fixed.to_vec();
        for (exchange, cost) in &self.exchanges {
            let cost = match treatment(exchange, trim, self.ask.view) {
                Treatment::LeftOut => continue,
                Treatment::Clipped => {
                    cost::clipped(exchange, trim, self.ask.view, self.ask.costs, self.ask.bodies)
                }
                Treatment::Verbatim | Treatment::Reduced | Treatment::Stub => cost.verbatim,
            };
            let (section, what) = if exchange.shape == ExchangeKind::System {
                (Section::System, format!("system message at position {}", exchange.last))
            } else if self.newest.is_some_and(|newest| exchange.speakers.contains(&newest)) {
                (Section::Prompt, format!("the user's newest turn, at position {}", exchange.key))
            } else {
                (Section::Transcript, format!("pinned entry at position {}", exchange.key))
            };
            parts.push(Fixed { section, what, cost });
        }
        for item in self.unsaid(trim) {
            let cost = cost::injection(item, self.ask.costs);
            parts.push(Fixed { section: item.section, what: item.what.to_string(), cost });
        }
        let marks = self.gaps(trim);
        if marks != Cost::ZERO {
            let what = "marks of what is left out".to_owned();
            parts.push(Fixed { section: Section::Summaries, what, cost: marks });
        }
        PlanRefusal { limit: self.limit, needed: parts.iter().map(|part| part.cost).sum(), parts }
    }
}

/// Summaries that a step keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Summaries {
    All,
    Newest,
}

/// Minimum length of a clipped text that is worth sending, in bytes: it says more than a stub, for as many tokens.
pub const MIN_CLIP: Bytes = Bytes(128);

/// Returns a clip of the same length for each of some entries.
fn clip(members: &[Seq], bytes: Bytes) -> Vec<(Seq, Bytes)> {
    let mut clip: Vec<(Seq, Bytes)> = members.iter().map(|seq| (*seq, bytes)).collect();
    clip.sort_unstable();
    clip.dedup();
    clip
}
