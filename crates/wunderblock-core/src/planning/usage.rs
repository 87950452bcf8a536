//! Usage that providers measured, and what it shows about our own counts.
//!
//! A session is given as a sequence of [`UsageMark`]s, oldest first: messages with their weight by our own estimate,
//! and a provider's measurements of replies. Three results are computed from the marks:
//!
//! - [`anchor`]: the newest measured size of the context, with our estimate of what was added since. The sum is as
//!   good as the provider's own count, except for the last few entries.
//! - [`calibrate`]: the error of our estimates of a model's texts. Between two measured replies of one model, the
//!   input grew by the first reply and what followed it. The measured growth is compared with our estimate of the
//!   growth. If the reply answered a request of ours, the whole request is compared instead.
//! - [`overhead`]: what the program that sent the first requests added to the recorded content.
//!
//! Nothing is carried over from one model to another, not even within a family: vocabularies change between versions.

use crate::id::Handle;
use crate::lane::view::{View, ViewEntry};
use crate::planning::{cost, presentation};
use crate::ports::{CostModel, Framing};
use crate::record::budget::Reason;
pub use crate::record::calibration::{Anchor, Calibration, Overhead};
use crate::record::message::{Message, Part, Role};
use crate::units::{Cost, Seq, Tokens};
use std::ops::AddAssign;

/// Minimum and maximum factor for our estimates, in thousandths.
pub const PER_MILLE: (u16, u16) = (500, 2_000);
/// Maximum number of recent replies to learn from.
pub const NEWEST: usize = 64;
/// Minimum number of replies needed to learn anything.
pub const LEAST_REPLIES: usize = 8;
/// Minimum number of tokens by which the input must have grown over the replies used.
pub const LEAST_GROWTH: Tokens = Tokens(4_000);
/// Maximum factor by which one reply can differ from our estimate: a reply counts as at least a quarter and at most
/// four times the estimate. A harness may add unrecorded text of any size (for example, a reminder or a file), or
/// silently drop text. A single reply must not outweigh sixty others.
const SWAY: u64 = 4;

/// Weight of an entry in a request, by our estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Number of tokens in the frames that every dialect has, and in media, which are constants for any model.
    pub fixed: Tokens,
    /// Number of tokens in texts, and in whatever the model's provider adds around them. A calibration multiplies
    /// this number of tokens.
    pub scaled: Tokens,
}

impl Weight {
    /// Zero weight.
    pub const ZERO: Self = Self { fixed: Tokens::ZERO, scaled: Tokens::ZERO };

    /// Returns all tokens.
    #[must_use]
    pub fn total(self) -> Tokens {
        self.fixed + self.scaled
    }

    /// Returns the weight of a message: its frame, the parts that the model's dialect has a place for, and a frame
    /// for each result, which may become a separate message. A message that is not sent weighs nothing.
    #[must_use]
    pub fn of(message: &Message, costs: &dyn CostModel) -> Self {
        let sent: Vec<&Part> =
            message.parts.iter().filter(|part| costs.refuses(message.role, part).is_none()).collect();
        if sent.is_empty() || !message.standing.is_sendable() {
            return Self::ZERO;
        }
        let frames = 1 + message.results().count();
        let weigh = |costs: &dyn CostModel| -> Tokens {
            let around = std::iter::repeat_n(cost::frame(costs), frames);
            around.chain(sent.iter().map(|part| cost::part(part, costs))).map(|cost| cost.tokens).sum()
        };
        let fixed = weigh(&Frames(costs));
        Self { fixed, scaled: weigh(costs).saturating_sub(fixed) }
    }

    /// Returns the weight of a view's entry as it was first sent, which may be shorter than the entry.
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

/// Cost model in which texts are free, so that a cost consists of its constants only.
struct Frames<'a>(&'a dyn CostModel);

impl CostModel for Frames<'_> {
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
    fn refuses(&self, role: Role, part: &Part) -> Option<Reason> {
        self.0.refuses(role, part)
    }
}

/// A provider's measurement of a reply. Names of models are compared literally: the caller must give the same model
/// the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured<'a> {
    /// Position of the provider's report.
    pub seq: Seq,
    /// Name of the model.
    pub model: &'a str,
    /// The provider's id of the reply.
    pub api_id: Option<&'a str>,
    /// All input tokens, including those read from a cache or written to it.
    pub input: Tokens,
    /// All output tokens.
    pub output: Tokens,
    /// Whether the usage was reported live, not afterwards. If the usage was reported live, a request of ours right
    /// before it is the one that was measured. The requests of a transcript were made by the program that wrote the
    /// transcript.
    pub live: bool,
    /// Whether the caller states that the measurement is of one of our requests, sent exactly as it was built.
    pub sent: bool,
}

/// An element of a session that matters to measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageMark<'a> {
    /// A record of a reply. Records with the same id are pieces of one reply, and so are adjacent records without an
    /// id.
    Reply {
        /// The provider's id of the reply.
        api_id: Option<&'a str>,
        /// Weight of the record.
        weight: Weight,
        /// Whether the reply failed or was broken off. The measurement of a failed or interrupted reply is not
        /// reliable.
        failed: bool,
    },
    /// Weight of a sent message that is not a reply.
    Other(Weight),
    /// A provider's usage report, for the preceding reply or for the reply with the same id. The last report counts.
    Measured(Measured<'a>),
    /// A request of ours, which the next reply answers.
    Built {
        /// Model the request was built for; empty if it was built for a different lane than the one that asks.
        model: &'a str,
        /// Our estimate of the whole request before any correction, if known.
        estimate: Option<Tokens>,
    },
    /// A turn was aborted or ended with an error. If nothing came between a reply and the failed end of its turn, the
    /// reply was cut short.
    CutShort,
    /// The input of the next reply cannot be compared with our estimate, because it contains media or because the
    /// provider drops earlier reasoning.
    Blur,
    /// Earlier measurements do not apply to the next request because of a compaction, a step or an erasure.
    Reset,
}

/// A reply, with its measurement and what followed it.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredReply<'a> {
    api_id: Option<&'a str>,
    own: Weight,
    /// Whether a piece without an id can still belong to the reply.
    open: bool,
    measured: Option<Measured<'a>>,
    failed: bool,
    /// Model and estimate of the request that the reply answers, if the request was ours.
    built: Option<(&'a str, Option<Tokens>)>,
    after: Weight,
    /// Whether another message followed the reply.
    answered: bool,
    blurred: bool,
    reset: bool,
}

impl<'a> MeasuredReply<'a> {
    fn good(&self, model: &str) -> Option<Measured<'a>> {
        let measured = self.measured.filter(|measured| measured.model == model && measured.input.0 > 0)?;
        // A reply to a request of ours for another model or lane measures another context.
        let elsewhere = measured.live && self.built.is_some_and(|(name, _)| name != model);
        (!self.failed && !elsewhere).then_some(measured)
    }

    /// Returns whether the measured request was one of this ledger's own requests.
    fn is_ours(&self, measured: &Measured<'_>) -> bool {
        measured.sent || (measured.live && self.built.is_some_and(|(model, _)| model == measured.model))
    }
}

/// Maximum number of replies to look back for the one to which a late piece or report belongs.
const LATE: usize = 8;

/// The replies of a session while they are being collected.
struct Replies<'a> {
    replies: Vec<MeasuredReply<'a>>,
    /// Request that nothing has followed yet.
    built: Option<(&'a str, Option<Tokens>)>,
}

fn replies<'a>(marks: impl IntoIterator<Item = UsageMark<'a>>) -> Vec<MeasuredReply<'a>> {
    // An empty reply holds what comes before the first reply.
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
            // The text of the reply follows later or not at all.
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
        // If another message follows a request, the next reply does not answer that request.
        self.built = None;
        self.last(|reply| {
            reply.after += weight;
            reply.answered = true;
            reply.open = false;
        });
    }

    /// Returns the reply with a given id, if it is one of the newest replies.
    fn named(&mut self, api_id: Option<&str>) -> Option<&mut MeasuredReply<'a>> {
        let newest = self.replies.iter_mut().rev().take(LATE);
        newest.filter(|reply| api_id.is_some() && reply.api_id == api_id).last()
    }

    /// Returns the last reply, if it has no report yet and the ids do not show that the report is for another reply.
    fn nameless(&mut self, api_id: Option<&str>) -> Option<&mut MeasuredReply<'a>> {
        // The first element is the empty reply before all others.
        let last = self.replies.get_mut(1..).and_then(<[_]>::last_mut);
        last.filter(|last| last.measured.is_none() && (last.api_id.is_none() || api_id.is_none()))
    }
}

/// Returns the newest good measurement of a request of ours, with our estimate of what was added since; `None` if
/// there is no such measurement since the last reset. Requests of other programs had a different beginning and
/// different compactions, so they say nothing about the size of ours.
///
/// A measurement is good if its reply is of this model, did not fail and was not cut short. The weights of the marks
/// should be calibrated.
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

/// Comparison of one reply with our estimates.
#[derive(Clone, Copy, Debug)]
enum Sample {
    /// Growth of the input, as measured and as estimated by us.
    Grown { measured: Tokens, weight: Weight },
    /// Size of a request of ours, as measured and as estimated by us.
    Whole { measured: Tokens, estimate: Tokens },
}

/// Returns the factor for our estimates of a model's texts; `None` while too little is known. The weights of the
/// marks must not be calibrated.
///
/// Over the newest [`NEWEST`] replies, the measured growth without our frames is compared with the estimated growth
/// without our frames. Each reply influences the sum by a bounded factor. If at least [`LEAST_REPLIES`] of the
/// replies answered requests of ours, the median ratio of measured input to estimated request is used instead.
#[must_use]
pub fn calibrate<'a>(marks: impl IntoIterator<Item = UsageMark<'a>>, model: &str) -> Option<Calibration> {
    let samples = samples(&replies(marks), model);
    let newest = samples.get(samples.len().saturating_sub(NEWEST)..).unwrap_or_default();
    whole(newest).or_else(|| grown(newest))
}

/// Maximum number of first replies from which an overhead is learned: the less precedes a reply, the smaller the
/// error.
const FIRST: usize = 8;
/// Minimum overhead, in tokens. A smaller overhead is ignored, because estimates are not exact enough.
const LEAST_OVERHEAD: Tokens = Tokens(200);

/// Returns the number of tokens that the program behind a session added to its requests. The value is the median,
/// over the first replies to requests of other programs, of the measured input minus what preceded the reply. The
/// marks must begin where the session does, and their weights should be calibrated. Replies after media, a
/// compaction, a step or an erasure are not used.
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
        // Another model may have a different context.
        if good.is_none() && reply.measured.is_some_and(|measured| measured.model != model) {
            before = None;
        }
        if let Some(good) = good {
            // A request of ours is compared as a whole. An input that shrank unannounced gives no sample.
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
