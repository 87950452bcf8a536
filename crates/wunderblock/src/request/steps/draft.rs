//! Encodes a rendered request, and accounts for it.

use crate::base::error::Error;
use crate::request::input::job::BuildJob;
use crate::request::input::target::Target;
use crate::request::named::AskedFor;
use crate::request::named::unasked::UnaskedRecall;
use crate::request::stages::{Planned, Rendered};
use crate::request::steps::prefix::{self, CachePlan, RequestSize};
use crate::request::steps::withhold::Withheld;
use crate::rules::tokens::{Class, Counted, Counter};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wunderblock_core::budget::{BudgetReport, Certainty, Reason};
use wunderblock_core::describe::describe;
use wunderblock_core::event::{ContextBuilt, Stem};
use wunderblock_core::id::{LaneId, StreamId};
use wunderblock_core::instruction::Finding;
use wunderblock_core::message::{Dialect, Message, Part};
use wunderblock_core::plan::{Plan, TrimReason};
use wunderblock_core::preamble::{Inclusion, Preamble, PreambleBlock, PreambleChange};
use wunderblock_core::render::{self, Missing, RenderInput};
use wunderblock_core::report::{Tally, report};
use wunderblock_core::request::{CachePoint, Request};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_core::usage::{Anchor, Calibration, Overhead};
use wunderblock_core::view::View;
use wunderblock_redact::Redactor;
use wunderblock_store::TallyRow;
use wunderblock_wire::{Dropped, Encoded, refusal};

/// Encoded request with its report.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Bytes of the encoded request.
    pub body: Vec<u8>,
    /// Number of leading bytes that the lane's next request repeats, not counting cache marks.
    pub stem: Bytes,
    /// BLAKE3 hash of the encoded request, in hexadecimal.
    pub digest: String,
    /// Format of the request.
    pub dialect: Dialect,
    /// Name of the model.
    pub model: String,
    /// Name of the policy that compacts the lane.
    pub policy: String,
    /// Whether the catalog knows the model.
    pub model_known: bool,
    /// Report that accounts for every token.
    pub report: BudgetReport,
    /// Content that the format cannot express. Parts that are missing as a whole are also listed in the report.
    pub dropped: Vec<Dropped>,
    /// Whether the request ends with an assistant message. Nothing in a request that ends with an assistant message
    /// asks for an answer, and newer models reject it.
    pub ends_with_reply: bool,
    /// Position of the latest event that the request was built from.
    pub through: Seq,
    /// Reason for the step that the lane took with this request, if any.
    pub step: Option<TrimReason>,
    /// Content before the conversation, if any.
    pub preamble: Option<Arc<Preamble>>,
    /// Changes to the preamble since the lane's previous request.
    pub changes: Vec<PreambleChange>,
    /// Source changes that wait for the lane's next step.
    pub pending: Vec<PreambleChange>,
    /// Findings about sources that were rejected, ignored, unreadable or left out.
    pub findings: Vec<Finding>,
    /// Latest size of the context by the provider's count, plus our estimate of later entries.
    pub anchor: Option<Anchor>,
    /// Factor applied to our token counts.
    pub calibration: Option<Calibration>,
    /// Number of tokens in the system prompt and tools that the session's own agent program added to its requests.
    /// These tokens are not part of this request; room is kept for them if
    /// [`ContextOptions::harness`](crate::ContextOptions::harness) is set.
    pub overhead: Option<Overhead>,
    /// Expected cache hits, and the cost of the request.
    pub cache: CachePlan,
    /// Highest threshold that the request passed, in hundredths of the limit.
    pub warned: Option<u8>,
    /// Texts that the newest turn asks for by name, and what became of each.
    pub asked: Vec<AskedFor>,
    /// What was recalled without being asked for. `None` if nothing was searched for: recall is off, the turn says too
    /// little, or an earlier request of the lane has searched for it.
    pub unasked: Option<UnaskedRecall>,
    /// Tokens that the entries would take in addition, had each of them stood verbatim.
    pub(crate) unsent: Tokens,
    /// Digests of the request's beginning, to be recorded.
    pub(crate) marks: Stem,
    /// Plan that the request was made from.
    pub(crate) planned: Arc<Planned>,
}

impl Draft {
    /// Returns the lane that the request was built for.
    #[must_use]
    pub fn lane(&self) -> &LaneId {
        self.planned.snapshot.lane()
    }

    /// Returns an entry of the conversation in a few words, in which secrets are masked. `None` if the view has no such
    /// entry.
    #[must_use]
    pub fn words_of(&self, seq: Seq, redactor: &Redactor) -> Option<String> {
        let Planned { decision, texts, .. } = &*self.planned;
        let message = &decision.view.entry(seq)?.message;
        Some(describe(seq, message, &decision.view, texts, &|text| redactor.mask(text)))
    }

    /// Returns the event that records the request.
    pub(crate) fn record(&self, stream: &StreamId) -> ContextBuilt {
        let Planned { snapshot, target, decision, .. } = &*self.planned;
        ContextBuilt {
            lane: snapshot.lane().clone(),
            model: self.model.as_str().into(),
            policy: Some(self.policy.as_str().into()),
            dialect: self.dialect,
            render: render::VERSION,
            budget: target.budget,
            // Injections are recorded as events. A copy in the request's event would have to be erased, too.
            plan: Plan { inject: Vec::new(), ..decision.plan.clone() },
            heads: vec![(stream.clone(), self.through)],
            inputs: None,
            preamble: decision.view.lane().preamble_at(),
            cache: self.cache.points.clone(),
            stem: Some(self.marks.clone()),
            common: self.cache.common.map(|(same, _)| same),
            expected_cached: Some(self.cache.expected),
            calibration: self.calibration,
            overhead: self.overhead,
            sections: self.report.sections.iter().map(|line| (line.name, line.tokens)).collect(),
            total_tokens: self.report.total_tokens,
            verbatim: Some(self.report.verbatim(self.unsent)),
            encoded_bytes: Bytes(self.body.len() as u64),
            digest: self.digest.as_str().into(),
        }
    }

    /// Returns the approximate number of tokens in the ledger up to a position, for the request's model.
    pub(crate) fn tally_tokens(&self, row: TallyRow) -> Tokens {
        scaled(row, self.planned.target.row.counter(), self.calibration).0
    }
}

/// Encodes a rendered request, validates it, and accounts for every token.
///
/// # Errors
/// Returns an error if the request is empty, or if the provider would reject it.
pub(in crate::request) fn encode(mut request: Rendered, job: &BuildJob) -> Result<Draft, Error> {
    let mut account = account(&mut request, job)?;
    let withheld = Withheld::of(&request, &account.encoded);
    let mut dropped = Vec::new();
    if !withheld.is_empty() {
        // Parts that are dropped as a whole are listed from the first encoding, because the second no longer contains
        // them.
        dropped = account.encoded.dropped;
        dropped.retain(|dropped| dropped.whole);
        withheld.decide(&mut request.planned)?;
        request = rendered(request.planned, request.tallies, job);
        account = self::account(&mut request, job)?;
    }
    let Account { mut report, points, encoded } = account;
    let unsent = request.rendered.shortened + request.missing();
    let Rendered { planned, rendered, .. } = request;
    let Planned { snapshot, target, decision, .. } = &planned;
    report.at_step(decision.view.lane().stepped);
    check(&encoded, target)?;
    // A request for an earlier position is judged as of the time of that position.
    let now = if job.options.at.is_some() { snapshot.newest_at } else { job.now };
    let cache = prefix::plan(target, &encoded, report.total_tokens, snapshot, now);
    let used = percent(report.total_tokens.max(planned.measured()), report.limit);
    dropped.extend(unsendable(&rendered.missing, &decision.view, target.dialect));
    dropped.extend(encoded.dropped.iter().cloned());
    Ok(Draft {
        digest: blake3::hash(&encoded.bytes).to_hex().to_string(),
        stem: Bytes(encoded.stem as u64),
        marks: prefix::stem(&encoded),
        body: encoded.bytes,
        dialect: target.dialect,
        model: target.model.clone(),
        policy: job.options.policy().to_owned(),
        model_known: target.known,
        report,
        dropped,
        ends_with_reply: rendered.ends_with_reply,
        unsent,
        through: planned.through(),
        step: decision.plan.step.or(snapshot.is_resized().then_some(TrimReason::Resized)),
        preamble: decision.view.lane().preamble().cloned(),
        changes: planned.composed.changes.clone(),
        pending: planned.composed.pending.clone(),
        findings: planned.composed.findings.clone(),
        anchor: planned.anchor.clone(),
        calibration: planned.calibration,
        overhead: planned.overhead,
        cache: CachePlan { points, ..cache },
        asked: planned.asked.clone(),
        unasked: planned.unasked.clone(),
        warned: job.options.warn.iter().copied().filter(|warn| used >= u64::from(*warn)).max(),
        planned: Arc::new(planned),
    })
}

/// Returns the media and the provider's own blocks that the plan left out because the provider would refuse them.
fn unsendable(missing: &[Missing], view: &View, dialect: Dialect) -> Vec<Dropped> {
    let refused = missing.iter().filter(|run| matches!(run.reason, Reason::Dialect | Reason::Unsendable));
    let seqs: BTreeSet<Seq> = refused.filter(|run| run.from == run.to).map(|run| run.from).collect();
    let mut dropped = Vec::new();
    for message in seqs.into_iter().filter_map(|seq| view.entry(seq)).map(|entry| &entry.message) {
        for (part, piece) in message.parts.iter().enumerate() {
            let is_named = match piece {
                Part::Media { .. } => true,
                Part::Opaque { dialect: own, .. } => *own == dialect,
                _ => false,
            };
            if let Some((reason, what)) = refusal(dialect, message.role, piece).filter(|_| is_named) {
                dropped.push(Dropped { message: None, part, reason, what: what.into_owned(), whole: true });
            }
        }
    }
    dropped
}

impl Rendered {
    /// Returns the tokens of what the request leaves out to save room. Other content, such as a failed turn, would be
    /// missing from any request. The tokens are estimated from the lengths of the texts, because the record of a
    /// request must not depend on the progress of counting.
    fn missing(&self) -> Tokens {
        let is_saved = |run: &&Missing| {
            matches!(run.reason, Reason::Budget | Reason::Stepped | Reason::Summarised | Reason::Curated)
        };
        let until = |seq: Seq| self.tallies.get(&seq).map(|row| row.text).unwrap_or_default();
        let text = |run: &Missing| match run.known {
            Some((_, cost)) => cost.bytes,
            None => until(run.to).saturating_sub(until(run.from.prev())),
        };
        let text = self.rendered.missing.iter().filter(is_saved).map(text).sum();
        let row = TallyRow { text, ..TallyRow::default() };
        scaled(row, self.planned.target.row.counter(), self.planned.calibration).0
    }
}

/// Encoded request with its report.
struct Account {
    report: BudgetReport,
    points: Vec<CachePoint>,
    encoded: Encoded,
}

/// Encodes a request and accounts for it. Takes the request's messages out of `request`.
fn account(request: &mut Rendered, job: &BuildJob) -> Result<Account, Error> {
    let Rendered { planned, rendered, tallies, .. } = request;
    let Planned { snapshot, target, decision, .. } = &*planned;
    let preamble = decision.view.lane().preamble();
    if is_silent(&rendered.request.messages, preamble) {
        return Err(Error::Silence(job.stream.clone()));
    }
    let tally = |seq: Seq| {
        let row = tallies.get(&seq).copied().unwrap_or_default();
        let (tokens, certainty) = scaled(row, target.row.counter(), planned.calibration);
        Tally { messages: row.messages, tokens, certainty: certainty.max(target.certainty) }
    };
    let report = report(rendered, target.budget, target.certainty, job.stream_handle(), &tally);
    let marks = preamble.map_or(&[][..], |preamble| &preamble.cache);
    let blocks = rendered.request.messages.iter().map(|message| message.parts.len() as u64).sum();
    let size = RequestSize { blocks, tokens: report.total_tokens };
    let before = snapshot.before().filter(|_| !snapshot.begins());
    let points = prefix::points(target, marks, &size, before);
    let encoded = bytes(std::mem::take(&mut rendered.request), target, Some(&points))?;
    Ok(Account { report, points, encoded })
}

/// Renders a plan. All texts that the request shows must be loaded.
pub(in crate::request) fn rendered(
    planned: Planned,
    tallies: BTreeMap<Seq, TallyRow>,
    job: &BuildJob,
) -> Rendered {
    let (view, trim) = (&planned.decision.view, &planned.decision.plan.trim);
    let costs = &planned.costs;
    let version = render::VERSION;
    let scene =
        RenderInput { stream: job.stream_handle(), bodies: &planned.texts, costs, tools: &[], version };
    let mut rendered = render::render(view, trim, scene);
    rendered.lines.insert(0, planned.target.model_line(costs));
    let total = rendered.lines.iter().map(|line| line.cost).sum();
    Rendered { planned, rendered, tallies, total }
}

impl Planned {
    /// Returns the size of the lane's own last request by the provider's count, plus later entries. This count is
    /// more accurate than any estimate. Zero if nothing was measured.
    pub(crate) fn measured(&self) -> Tokens {
        let built = self.decision.view.lane().built.map(|(at, _)| at);
        let own = self.anchor.as_ref().filter(|anchor| built.is_some_and(|at| anchor.seq > at));
        own.map(Anchor::total).unwrap_or_default()
    }

    /// Returns the share of its limit that the lane's previous request used, in hundredths.
    pub(crate) fn used_before(&self) -> Option<u64> {
        let (_, built) = self.snapshot.before()?;
        Some(percent(built.total_tokens, built.budget.limit().tokens))
    }
}

fn percent(tokens: Tokens, limit: Tokens) -> u64 {
    tokens.0.saturating_mul(100) / limit.0.max(1)
}

/// Checks that the provider would accept an encoded request.
fn check(encoded: &Encoded, target: &Target) -> Result<(), Error> {
    let dialect = target.dialect.name();
    if Bytes(encoded.bytes.len() as u64) > target.budget.max_bytes {
        let (bytes, most) = (encoded.bytes.len(), target.budget.max_bytes);
        let first = format!("it has {bytes} bytes: the provider's maximum is {most}");
        return Err(Error::Invalid { dialect, first });
    }
    let violations = wunderblock_wire::validate(target.dialect, &encoded.bytes);
    // A session that ends with an assistant message waits for the user's message, which the sender of the request
    // adds.
    let waits = |rule: &str| matches!(rule, "prefill" | "trailing-space");
    match violations.iter().find(|violation| !waits(violation.rule)) {
        Some(first) => Err(Error::Invalid { dialect, first: format!("{}: {}", first.path, first.detail) }),
        None => Ok(()),
    }
}

/// Returns whether a request shows nothing of the conversation. A preamble alone is not worth sending.
fn is_silent(messages: &[Message], preamble: Option<&Arc<Preamble>>) -> bool {
    let has_message = |preamble: &Arc<Preamble>| {
        let shown = |block: &PreambleBlock| block.shown != Inclusion::Out && !block.authority.commands();
        preamble.blocks.iter().any(shown) || preamble.tools.iter().any(|tool| tool.deferred.is_some())
    };
    messages.len() <= usize::from(preamble.is_some_and(has_message))
}

/// Converts a running sum to a number of tokens for a model. How far a model's count exceeds the o200k count depends
/// on the class of the text, which the sum does not record, so the text is treated as code. Without a count, every 4
/// bytes are estimated as one token.
fn scaled(row: TallyRow, counter: Counter, calibration: Option<Calibration>) -> (Tokens, Certainty) {
    let (o200k, certainty) = match row.tokens {
        Some(tokens) => (tokens.0, Certainty::Exact),
        None => (row.text.0.div_ceil(4), Certainty::Estimated),
    };
    let o200k = u32::try_from(o200k).unwrap_or(u32::MAX);
    let tokens = counter.scale(Counted { o200k, class: Class::Code }, None);
    let learned = calibration.map_or(tokens, |calibration| calibration.of(tokens));
    (learned.max(Tokens(u64::from(o200k))), certainty)
}

/// Encodes a rendered request for its target.
pub(crate) fn bytes(
    request: Request,
    target: &Target,
    points: Option<&[CachePoint]>,
) -> Result<Encoded, Error> {
    let request = Request {
        model: Some(target.model.as_str().into()),
        max_output: Some(target.budget.reserve),
        cache: points.map(<[CachePoint]>::to_vec),
        ..request
    };
    Ok(wunderblock_wire::encode(target.dialect, &request)?)
}
