//! A rendered request as the bytes that are sent, and the account of it.

use super::job::BuildJob;
use super::prefix::{self, CachePlan, RequestSize};
use super::stages::{Planned, Rendered};
use super::target::Target;
use super::withhold::Withheld;
use crate::error::Error;
use crate::store::TallyRow;
use crate::tokens::{Class, Counted, Counter};
use std::collections::BTreeMap;
use std::sync::Arc;
use wunderblock_core::budget::{BudgetReport, Certainty};
use wunderblock_core::event::{ContextBuilt, Stem};
use wunderblock_core::id::{LaneId, StreamId};
use wunderblock_core::instruction::Finding;
use wunderblock_core::message::{Dialect, Message};
use wunderblock_core::plan::{Plan, TrimReason};
use wunderblock_core::preamble::{Inclusion, Preamble, PreambleBlock, PreambleChange};
use wunderblock_core::render::{self, RenderInput};
use wunderblock_core::report::{Tally, report};
use wunderblock_core::request::{CachePoint, Request};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_core::usage::{Anchor, Calibration, Overhead};
use wunderblock_wire::{Dropped, Encoded};

/// A built request, and the account of it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The encoded request.
    pub body: Vec<u8>,
    /// How many bytes of it the lane's next request repeats, cache marks aside.
    pub stem: Bytes,
    /// BLAKE3 of it, hexadecimal.
    pub digest: String,
    /// The format.
    pub dialect: Dialect,
    /// The model.
    pub model: String,
    /// The name of the policy its lane is compacted by.
    pub policy: String,
    /// Whether the catalog knows the model.
    pub model_known: bool,
    /// Where every token went.
    pub report: BudgetReport,
    /// What the format could not carry. Whole parts are listed in the report, too.
    pub dropped: Vec<Dropped>,
    /// Whether it ends with the assistant's words: nothing asks for an answer, and newer models refuse to go on from there.
    pub ends_with_reply: bool,
    /// The position of the newest event it was built from.
    pub through: Seq,
    /// Why the lane took a step with this request, if it did.
    pub step: Option<TrimReason>,
    /// What stands before the conversation; none if nothing does.
    pub preamble: Option<Arc<Preamble>>,
    /// What of that is not as it was in the lane's request before.
    pub changes: Vec<PreambleChange>,
    /// What has changed at its source and waits for the lane's next step.
    pub pending: Vec<PreambleChange>,
    /// What is to be known about the sources: refused, ignored, unreadable, left out.
    pub findings: Vec<Finding>,
    /// What the provider counted last, and what has come since.
    pub anchor: Option<Anchor>,
    /// What our counts were multiplied by.
    pub calibration: Option<Calibration>,
    /// What the program that made the session's requests added to them: its own system prompt and tools. It is no part of this
    /// request; room is kept for it where [`ContextOptions::harness`](crate::ContextOptions::harness) says so.
    pub overhead: Option<Overhead>,
    /// What is expected of the provider's cache, and what the request costs.
    pub cache: CachePlan,
    /// The highest threshold of the limit that it has passed, in hundredths.
    pub warned: Option<u8>,
    /// Digests of its beginning, to be recorded.
    pub(crate) marks: Stem,
    /// What it was made of.
    pub(crate) planned: Arc<Planned>,
}

impl Draft {
    /// The lane it was built for.
    #[must_use]
    pub fn lane(&self) -> &LaneId {
        self.planned.snapshot.lane()
    }

    /// The record of the request.
    pub(crate) fn record(&self, stream: &StreamId) -> ContextBuilt {
        let Planned { snapshot, target, decision, .. } = &*self.planned;
        ContextBuilt {
            lane: snapshot.lane().clone(),
            model: self.model.as_str().into(),
            policy: Some(self.policy.as_str().into()),
            dialect: self.dialect,
            render: render::VERSION,
            budget: target.budget,
            // What came back is recorded beside it; here it would be a second copy to erase.
            plan: Plan { inject: Vec::new(), ..decision.plan.clone() },
            heads: vec![(stream.clone(), self.through)],
            inputs: None,
            preamble: decision.view.preamble_at(),
            cache: self.cache.points.clone(),
            stem: Some(self.marks.clone()),
            common: self.cache.common.map(|(same, _)| same),
            expected_cached: Some(self.cache.expected),
            calibration: self.calibration,
            overhead: self.overhead,
            sections: self.report.sections.iter().map(|line| (line.name, line.tokens)).collect(),
            total_tokens: self.report.total_tokens,
            encoded_bytes: Bytes(self.body.len() as u64),
            digest: self.digest.as_str().into(),
        }
    }

    /// About how many tokens the ledger holds up to a position, for the model of the request.
    pub(crate) fn tally_tokens(&self, row: TallyRow) -> Tokens {
        scaled(row, self.planned.target.row.counter(), self.calibration).0
    }
}

/// Encodes a rendered request, and checks and accounts for what is sent.
///
/// # Errors
/// When there is nothing to send, or the provider would refuse it.
pub(super) fn encode(mut request: Rendered, job: &BuildJob) -> Result<Draft, Error> {
    let mut account = account(&mut request, job)?;
    let withheld = Withheld::of(&request, &account.encoded);
    let mut dropped = Vec::new();
    if !withheld.is_empty() {
        dropped = account.encoded.dropped;
        dropped.retain(|dropped| dropped.whole);
        withheld.decide(&mut request.planned)?;
        request = rendered(request.planned, request.tallies, job);
        account = self::account(&mut request, job)?;
    }
    let Account { mut report, points, encoded } = account;
    let Rendered { planned, rendered, .. } = request;
    let Planned { snapshot, target, decision, .. } = &planned;
    report.at_step(decision.view.progress().stepped);
    check(&encoded, target)?;
    let now = if job.options.at.is_some() { snapshot.newest_at } else { job.now };
    let cache = prefix::plan(target, &encoded, report.total_tokens, snapshot, now);
    let used = percent(report.total_tokens.max(planned.measured()), report.limit);
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
        through: planned.through(),
        step: decision.plan.step.or(snapshot.is_resized().then_some(TrimReason::Resized)),
        preamble: decision.view.preamble().cloned(),
        changes: planned.composed.changes.clone(),
        pending: planned.composed.pending.clone(),
        findings: planned.composed.findings.clone(),
        anchor: planned.anchor.clone(),
        calibration: planned.calibration,
        overhead: planned.overhead,
        cache: CachePlan { points, ..cache },
        warned: job.options.warn.iter().copied().filter(|warn| used >= u64::from(*warn)).max(),
        planned: Arc::new(planned),
    })
}

/// A request as bytes, and the account of it.
struct Account {
    report: BudgetReport,
    points: Vec<CachePoint>,
    encoded: Encoded,
}

/// Encodes a request, whose text is taken out of it, and accounts for it.
fn account(request: &mut Rendered, job: &BuildJob) -> Result<Account, Error> {
    let Rendered { planned, rendered, tallies, .. } = request;
    let Planned { snapshot, target, decision, .. } = &*planned;
    let preamble = decision.view.preamble();
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

/// Renders what was planned. All texts it shows are there.
pub(super) fn rendered(planned: Planned, tallies: BTreeMap<Seq, TallyRow>, job: &BuildJob) -> Rendered {
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
    /// What the provider counted of the lane's own last request, with what has come since: nearer than any estimate.
    pub(crate) fn measured(&self) -> Tokens {
        let built = self.decision.view.progress().built.map(|(at, _)| at);
        let own = self.anchor.as_ref().filter(|anchor| built.is_some_and(|at| anchor.seq > at));
        own.map(Anchor::total).unwrap_or_default()
    }

    /// How much of its limit the lane's request before took, in hundredths.
    pub(crate) fn used_before(&self) -> Option<u64> {
        let (_, built) = self.snapshot.before()?;
        Some(percent(built.total_tokens, built.budget.limit().tokens))
    }
}

fn percent(tokens: Tokens, limit: Tokens) -> u64 {
    tokens.0.saturating_mul(100) / limit.0.max(1)
}

/// What the provider would refuse is not sent.
fn check(encoded: &Encoded, target: &Target) -> Result<(), Error> {
    let dialect = target.dialect.name();
    if Bytes(encoded.bytes.len() as u64) > target.budget.max_bytes {
        let (bytes, most) = (encoded.bytes.len(), target.budget.max_bytes);
        let first = format!("it has {bytes} bytes, the provider takes {most}");
        return Err(Error::Invalid { dialect, first });
    }
    let violations = wunderblock_wire::validate(target.dialect, &encoded.bytes);
    // A session that ends with the assistant's words waits for the user's: the sender of the request adds them.
    let waits = |rule: &str| matches!(rule, "prefill" | "trailing-space");
    match violations.iter().find(|violation| !waits(violation.rule)) {
        Some(first) => Err(Error::Invalid { dialect, first: format!("{}: {}", first.path, first.detail) }),
        None => Ok(()),
    }
}

/// Whether nothing of the conversation is in a request: a preamble alone is nothing to send.
fn is_silent(messages: &[Message], preamble: Option<&Arc<Preamble>>) -> bool {
    let has_message = |preamble: &Arc<Preamble>| {
        let shown = |block: &PreambleBlock| block.shown != Inclusion::Out && !block.authority.commands();
        preamble.blocks.iter().any(shown) || preamble.tools.iter().any(|tool| tool.deferred.is_some())
    };
    messages.len() <= usize::from(preamble.is_some_and(has_message))
}

/// The part of an o200k count that a model's own count exceeds it by is not known for text nobody looked at; it is taken
/// for code.
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

/// The bytes of a rendered request.
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
