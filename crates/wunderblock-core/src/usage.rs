//! What providers measured, and what follows from it for our own counts.
//!
//! A session is told as a row of [`UsageMark`]s, oldest first: what was said and what it weighs by our own estimate, and what
//! a provider measured of a reply. From it follow three things:
//!
//! - [`anchor`]: the newest measured size of the context, and our estimate of what has come since. It is as good as the
//!   provider's own count but for its last few entries.
//! - [`calibrate`]: by how much our estimates of a model's texts are off. Between two measured replies of one model the
//!   input grew by the first reply and what followed it; what it grew by is compared with what we had estimated. Where
//!   the reply answered a request of ours, the whole of it is compared instead.
//! - [`overhead`]: what the program that sent the first requests had in them beside what is recorded.
//!
//! Nothing is carried from one model to another, not even within a family: vocabularies change between versions.

pub use crate::calibration::{Anchor, Calibration, Overhead};
use crate::cost;
use crate::id::Handle;
use crate::message::{Message, Part};
use crate::ports::{CostModel, Framing};
use crate::presentation;
use crate::units::{Cost, Seq, Tokens};
use crate::view::{View, ViewEntry};
use std::ops::AddAssign;

/// The least and the most our estimates are multiplied by, in thousandths.
pub const PER_MILLE: (u16, u16) = (500, 2_000);
/// Replies that are learned from, the newest.
pub const NEWEST: usize = 64;
/// Replies that are needed to learn anything.
pub const LEAST_REPLIES: usize = 8;
/// Tokens by which the input must have grown over them.
pub const LEAST_GROWTH: Tokens = Tokens(4_000);
/// How far one reply can speak for or against our estimate: a quarter to four times. What a harness puts in unrecorded
/// (a reminder, a file) and what it silently drops are of any size, and one such reply is not to outweigh sixty others.
const SWAY: u64 = 4;

/// What an entry adds to a request, by our estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Frames every dialect has, and media: constants, whatever the model.
    pub fixed: Tokens,
    /// Texts, and what the model's provider adds around them: what a calibration multiplies.
    pub scaled: Tokens,
}

impl Weight {
    /// Nothing.
    pub const ZERO: Self = Self { fixed: Tokens::ZERO, scaled: Tokens::ZERO };

    /// All of it.
    #[must_use]
    pub fn total(self) -> Tokens {
        self.fixed + self.scaled
    }

    /// What a message adds: its frame, the parts the model's dialect has a place for, and a frame for each result, which
    /// may become a message of its own. Nothing, if it is not sent.
    #[must_use]
    pub fn of(message: &Message, costs: &dyn CostModel) -> Self {
        let sent: Vec<&Part> = message.parts.iter().filter(|part| costs.refuses(part).is_none()).collect();
        if sent.is_empty() || !message.standing.is_sendable() {
            return Self::ZERO;
        }
        let frames = 1 + message.results().count();
        let weigh = |costs: &dyn CostModel| -> Tokens {
            let around = std::iter::repeat_n(cost::frame(costs), frames);
            around.chain(sent.iter().map(|part| cost::part(part, costs))).map(|cost| cost.tokens).sum()
        };
        let fixed = weigh(&Frames);
        Self { fixed, scaled: weigh(costs).saturating_sub(fixed) }
    }

    /// What an entry of a view added when it was first sent, which is not always all of it.
    #[must_use]
    pub fn as_sent(entry: &ViewEntry, view: &View, costs: &dyn CostModel) -> Self {
        Self::of(&presentation::sent(entry, view), costs)
    }
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        self.fixed += other.fixed;
        self.scaled += other.scaled;
    }
}

/// Takes texts for nothing, so that what is left of a cost is its constants.
struct Frames;

impl CostModel for Frames {
    fn text(&self, _: &str) -> Cost {
        Cost::ZERO
    }
    fn json(&self, _: &str) -> Cost {
        Cost::ZERO
    }
    fn blob(&self, _: Handle) -> Cost {
        Cost::ZERO
    }
    fn json_blob(&self, _: Handle) -> Cost {
        Cost::ZERO
    }
    fn framing(&self) -> Framing {
        Framing::default()
    }
}

/// What a provider measured of a reply. Names of models are compared as they stand: whoever makes a mark gives the same
/// model the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured<'a> {
    /// Where its report is recorded.
    pub seq: Seq,
    /// The model.
    pub model: &'a str,
    /// The provider's id of the reply.
    pub api_id: Option<&'a str>,
    /// All it took in: what a cache held or took up is part of it.
    pub input: Tokens,
    /// All it put out.
    pub output: Tokens,
    /// Told while it happened: a request of ours right before it is the one that was measured. A transcript's requests
    /// were made by the program that wrote it.
    pub live: bool,
    /// Its caller says that it measures a request of ours, sent as it was built.
    pub sent: bool,
}

/// What a session holds that measurements speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageMark<'a> {
    /// The model said something. Records with the same id, or of none and side by side, are pieces of one reply.
    Reply {
        /// The provider's id of the reply.
        api_id: Option<&'a str>,
        /// What it adds.
        weight: Weight,
        /// It failed or was broken off: what was measured of it is not relied on.
        failed: bool,
    },
    /// Something else was said, and is sent.
    Other(Weight),
    /// A provider reported the usage of the reply before, or of the one with that id; the last report counts.
    Measured(Measured<'a>),
    /// What follows answers a request of ours.
    Built {
        /// The model it was built for; empty if it was built for another consumer than the one that asks.
        model: &'a str,
        /// What we had estimated of the whole of it before any correction, if that is known.
        estimate: Option<Tokens>,
    },
    /// A turn ended aborted or in error: if nothing came in between, the reply before was cut short.
    CutShort,
    /// What the next reply takes in cannot be compared with our estimate: there are media, or a provider drops earlier
    /// reasoning.
    Blur,
    /// What was measured so far is no part of the next request: a compaction, a step, an erasure.
    Reset,
}

/// A reply, what was measured of it, and what followed it.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredReply<'a> {
    api_id: Option<&'a str>,
    own: Weight,
    /// A piece without id can still belong to it.
    open: bool,
    measured: Option<Measured<'a>>,
    failed: bool,
    /// The request it answers, if that was ours: the model, and our estimate.
    built: Option<(&'a str, Option<Tokens>)>,
    after: Weight,
    /// Whether anything was said after it.
    answered: bool,
    blurred: bool,
    reset: bool,
}

impl<'a> MeasuredReply<'a> {
    fn good(&self, model: &str) -> Option<Measured<'a>> {
        let measured = self.measured.filter(|measured| measured.model == model && measured.input.0 > 0)?;
        // What answers a request of ours for another model or lane speaks of another context.
        let elsewhere = measured.live && self.built.is_some_and(|(name, _)| name != model);
        (!self.failed && !elsewhere).then_some(measured)
    }

    /// Whether what was measured was a request of this ledger, and nobody else's.
    fn is_ours(&self, measured: &Measured<'_>) -> bool {
        measured.sent || (measured.live && self.built.is_some_and(|(model, _)| model == measured.model))
    }
}

/// How many replies back a late piece or report is looked for.
const LATE: usize = 8;

/// A session's replies, in the making.
struct Replies<'a> {
    replies: Vec<MeasuredReply<'a>>,
    /// A request that nothing has followed yet.
    built: Option<(&'a str, Option<Tokens>)>,
}

fn replies<'a>(marks: impl IntoIterator<Item = UsageMark<'a>>) -> Vec<MeasuredReply<'a>> {
    // What stands before the first reply hangs on one that says nothing.
    let mut row = Replies { replies: vec![MeasuredReply::default()], built: None };
    for mark in marks {
        match mark {
            UsageMark::Reply { api_id, weight, failed } => row.piece(api_id, weight, failed),
            UsageMark::Measured(measured) => row.report(measured),
            UsageMark::Built { model, estimate } => row.built = Some((model, estimate)),
            UsageMark::Other(weight) => row.other(weight),
            UsageMark::CutShort => row.last(|reply| reply.failed |= !reply.answered),
            UsageMark::Blur => row.last(|reply| reply.blurred = true),
            UsageMark::Reset => {
                row.built = None;
                row.last(|reply| reply.reset = true);
            }
        }
    }
    row.replies
}

impl<'a> Replies<'a> {
    fn last(&mut self, change: impl FnOnce(&mut MeasuredReply<'a>)) {
        if let Some(last) = self.replies.last_mut() {
            change(last);
        }
    }

    fn piece(&mut self, api_id: Option<&'a str>, weight: Weight, failed: bool) {
        let known = match api_id {
            Some(_) => self.named(api_id),
            None => self.replies.last_mut().filter(|last| last.open && !failed),
        };
        if let Some(reply) = known {
            reply.own += weight;
            reply.failed |= failed;
            return;
        }
        let (built, open) = (self.built.take(), api_id.is_none() && !failed);
        self.replies.push(MeasuredReply {
            api_id,
            own: weight,
            failed,
            built,
            open,
            ..MeasuredReply::default()
        });
    }

    fn report(&mut self, measured: Measured<'a>) {
        let known = self.named(measured.api_id).is_some();
        let reply = if known { self.named(measured.api_id) } else { self.nameless(measured.api_id) };
        let Some(reply) = reply else {
            // Its words come later, or never.
            let built = self.built.take();
            let (api_id, measured) = (measured.api_id, Some(measured));
            self.replies.push(MeasuredReply { api_id, measured, built, ..MeasuredReply::default() });
            return;
        };
        reply.api_id = reply.api_id.or(measured.api_id);
        reply.measured = Some(measured);
        reply.open = false;
    }

    fn other(&mut self, weight: Weight) {
        // A request that something followed is not the one the next reply answers.
        self.built = None;
        self.last(|reply| {
            reply.after += weight;
            reply.answered = true;
            reply.open = false;
        });
    }

    /// The reply with an id.
    fn named(&mut self, api_id: Option<&str>) -> Option<&mut MeasuredReply<'a>> {
        let newest = self.replies.iter_mut().rev().take(LATE);
        newest.filter(|reply| api_id.is_some() && reply.api_id == api_id).last()
    }

    /// The last reply, if it waits for a report and nothing says that this one speaks of another.
    fn nameless(&mut self, api_id: Option<&str>) -> Option<&mut MeasuredReply<'a>> {
        let last = self.replies.get_mut(1..).and_then(<[_]>::last_mut);
        last.filter(|last| last.measured.is_none() && (last.api_id.is_none() || api_id.is_none()))
    }
}

/// The newest good measurement of a request of ours, and our estimate of what has come since; none since the last reset.
/// What others sent had another beginning, and was compacted by others: it says nothing of the size of ours.
///
/// Good is a reply of this model that neither failed nor was cut short. What the marks weigh should be calibrated.
#[must_use]
pub fn anchor<'a>(marks: impl IntoIterator<Item = UsageMark<'a>>, model: &str) -> Option<Anchor> {
    let mut since = Weight::ZERO;
    for reply in replies(marks).iter().rev() {
        if reply.reset {
            return None;
        }
        since += reply.after;
        if let Some(good) = reply.good(model).filter(|good| reply.is_ours(good)) {
            return Some(Anchor {
                seq: good.seq,
                model: model.into(),
                measured: good.input + good.output,
                since: since.total(),
            });
        }
        since += reply.own;
    }
    None
}

/// What one reply says of our estimates.
#[derive(Clone, Copy, Debug)]
enum Sample {
    /// The input had grown by so much, and by our estimate by so much.
    Grown { measured: Tokens, weight: Weight },
    /// A request of ours was so large, and by our estimate so large.
    Whole { measured: Tokens, estimate: Tokens },
}

/// What our estimates of a model's texts are to be multiplied by; none while too little is known. What the marks weigh
/// must not be calibrated.
///
/// Over the newest [`NEWEST`] replies the measured growth, less our frames, is set against the estimated growth, less our
/// frames, each reply swaying the sum by a bounded factor. Where [`LEAST_REPLIES`] of them answered requests of ours, the
/// median of measured input to estimated request counts instead.
#[must_use]
pub fn calibrate<'a>(marks: impl IntoIterator<Item = UsageMark<'a>>, model: &str) -> Option<Calibration> {
    let samples = samples(&replies(marks), model);
    let newest = samples.get(samples.len().saturating_sub(NEWEST)..).unwrap_or_default();
    whole(newest).or_else(|| grown(newest))
}

/// Replies from which an overhead is learned, the first: the less stands before them, the less an estimate can be off.
const FIRST: usize = 8;
/// An overhead of fewer tokens is taken for none: estimates are no better than that.
const LEAST_OVERHEAD: Tokens = Tokens(200);

/// What the program that sent a session's requests added to them, from the first replies to requests that were not of this
/// ledger: the median of measured input less what stood before. The marks begin where the session does, and what they weigh
/// should be calibrated. What follows media, a compaction, a step or an erasure tells nothing.
#[must_use]
pub fn overhead<'a>(marks: impl IntoIterator<Item = UsageMark<'a>>, model: &str) -> Option<Overhead> {
    let mut before = Weight::ZERO;
    let mut added: Vec<Tokens> = Vec::new();
    for reply in replies(marks) {
        if let Some(good) = reply.good(model).filter(|good| !reply.is_ours(good)) {
            added.push(good.input.saturating_sub(before.total()));
        }
        if reply.blurred || reply.reset || added.len() == FIRST {
            break;
        }
        before += reply.own;
        before += reply.after;
    }
    added.sort_unstable();
    let tokens = added.get(added.len() / 2).copied().filter(|tokens| *tokens >= LEAST_OVERHEAD)?;
    Some(Overhead { tokens, replies: added.len() as u64 })
}

fn samples(replies: &[MeasuredReply<'_>], model: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut before: Option<Tokens> = None;
    let mut weight = Weight::ZERO;
    for reply in replies {
        let good = reply.good(model);
        // Another model's context may be another one altogether.
        if good.is_none() && reply.measured.is_some_and(|measured| measured.model != model) {
            before = None;
        }
        if let Some(good) = good {
            let estimate = reply.built.filter(|_| good.live).and_then(|(_, estimate)| estimate);
            if let Some(estimate) = estimate {
                samples.push(Sample::Whole { measured: good.input, estimate });
            } else if let Some(before) = before
                && good.input > before
            {
                let measured = good.input.saturating_sub(before);
                samples.push(Sample::Grown { measured, weight });
            }
            before = Some(good.input);
            weight = Weight::ZERO;
        }
        weight += reply.own;
        weight += reply.after;
        if reply.blurred || reply.reset {
            before = None;
        }
    }
    samples
}

fn whole(samples: &[Sample]) -> Option<Calibration> {
    let mut ratios: Vec<u64> = Vec::new();
    let mut largest = Tokens::ZERO;
    for sample in samples {
        if let Sample::Whole { measured, estimate } = sample {
            largest = largest.max(*measured);
            ratios.push(measured.0.saturating_mul(1_000) / estimate.0.max(1));
        }
    }
    ratios.sort_unstable();
    let enough = ratios.len() >= LEAST_REPLIES && largest >= LEAST_GROWTH;
    let median = ratios.get(ratios.len() / 2).filter(|_| enough)?;
    Some(clamped(*median, ratios.len()))
}

fn grown(samples: &[Sample]) -> Option<Calibration> {
    let (mut replies, mut growth, mut measured_sum, mut estimated_sum) = (0, Tokens::ZERO, 0_u64, 0_u64);
    for sample in samples {
        let Sample::Grown { measured, weight } = sample else { continue };
        let estimated = weight.scaled.0;
        if estimated == 0 {
            continue;
        }
        replies += 1;
        growth += *measured;
        let texts = measured.saturating_sub(weight.fixed).0;
        measured_sum =
            measured_sum.saturating_add(texts.clamp(estimated / SWAY, estimated.saturating_mul(SWAY)));
        estimated_sum = estimated_sum.saturating_add(estimated);
    }
    let enough = replies >= LEAST_REPLIES && growth >= LEAST_GROWTH;
    enough.then(|| clamped(measured_sum.saturating_mul(1_000) / estimated_sum.max(1), replies))
}

fn clamped(per_mille: u64, replies: usize) -> Calibration {
    let (min, max) = PER_MILLE;
    let per_mille = u16::try_from(per_mille).unwrap_or(max).clamp(min, max);
    Calibration { per_mille, replies: replies as u64 }
}

#[cfg(test)]
mod tests;
