//! What providers measured, and what follows from it for our own counts.
//!
//! A session is told as a row of [`Mark`]s, oldest first: what was said and what it weighs by our own estimate, and what
//! a provider measured of a reply. From it follow two things:
//!
//! - [`anchor`]: the newest measured size of the context, and our estimate of what has come since. It is as good as the
//!   provider's own count but for its last few entries.
//! - [`calibrate`]: by how much our estimates of a model's texts are off. Between two measured replies of one model the
//!   input grew by the first reply and what followed it; what it grew by is compared with what we had estimated. Where
//!   the reply answered a request of ours, the whole of it is compared instead.
//!
//! Nothing is carried from one model to another, not even within a family: vocabularies change between versions.

pub use crate::calibration::{Anchor, Calibration};
use crate::cost;
use crate::id::Handle;
use crate::message::{Message, Part};
use crate::ports::{Framing, Gauge};
use crate::units::{Cost, Seq, Tokens};
use std::ops::{Add, AddAssign};

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
    pub fn of(message: &Message, gauge: &dyn Gauge) -> Self {
        let sent: Vec<&Part> = message.parts.iter().filter(|part| gauge.refuses(part).is_none()).collect();
        if sent.is_empty() || !message.standing.is_sendable() {
            return Self::ZERO;
        }
        let frames = 1 + message.results().count();
        let weigh = |gauge: &dyn Gauge| -> Tokens {
            let around = std::iter::repeat_n(cost::frame(gauge), frames);
            around.chain(sent.iter().map(|part| cost::part(part, gauge))).map(|cost| cost.tokens).sum()
        };
        let fixed = weigh(&Frames);
        Self { fixed, scaled: weigh(gauge).saturating_sub(fixed) }
    }
}

impl Add for Weight {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { fixed: self.fixed + other.fixed, scaled: self.scaled + other.scaled }
    }
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Takes texts for nothing, so that what is left of a cost is its constants.
struct Frames;

impl Gauge for Frames {
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
}

/// What a session holds that measurements speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<'a> {
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
struct Reply<'a> {
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

impl<'a> Reply<'a> {
    fn good(&self, model: &str) -> Option<Measured<'a>> {
        let measured = self.measured.filter(|measured| measured.model == model && measured.input.0 > 0)?;
        // What answers a request of ours for another model or lane speaks of another context.
        let elsewhere = measured.live && self.built.is_some_and(|(name, _)| name != model);
        (!self.failed && !elsewhere).then_some(measured)
    }
}

/// How many replies back a late piece or report is looked for.
const LATE: usize = 8;

/// A session's replies, in the making.
struct Row<'a> {
    replies: Vec<Reply<'a>>,
    /// A request that nothing has followed yet.
    built: Option<(&'a str, Option<Tokens>)>,
}

fn replies<'a>(marks: impl IntoIterator<Item = Mark<'a>>) -> Vec<Reply<'a>> {
    // What stands before the first reply hangs on one that says nothing.
    let mut row = Row { replies: vec![Reply::default()], built: None };
    for mark in marks {
        match mark {
            Mark::Reply { api_id, weight, failed } => row.piece(api_id, weight, failed),
            Mark::Measured(measured) => row.report(measured),
            Mark::Built { model, estimate } => row.built = Some((model, estimate)),
            Mark::Other(weight) => row.other(weight),
            Mark::CutShort => row.last(|reply| reply.failed |= !reply.answered),
            Mark::Blur => row.last(|reply| reply.blurred = true),
            Mark::Reset => {
                row.built = None;
                row.last(|reply| reply.reset = true);
            }
        }
    }
    row.replies
}

impl<'a> Row<'a> {
    fn last(&mut self, change: impl FnOnce(&mut Reply<'a>)) {
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
        self.replies.push(Reply { api_id, own: weight, failed, built, open, ..Reply::default() });
    }

    fn report(&mut self, measured: Measured<'a>) {
        let known = self.named(measured.api_id).is_some();
        let reply = if known { self.named(measured.api_id) } else { self.nameless(measured.api_id) };
        let Some(reply) = reply else {
            // Its words come later, or never.
            let built = self.built.take();
            let (api_id, measured) = (measured.api_id, Some(measured));
            self.replies.push(Reply { api_id, measured, built, ..Reply::default() });
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
    fn named(&mut self, api_id: Option<&str>) -> Option<&mut Reply<'a>> {
        let newest = self.replies.iter_mut().rev().take(LATE);
        newest.filter(|reply| api_id.is_some() && reply.api_id == api_id).last()
    }

    /// The last reply, if it waits for a report and nothing says that this one speaks of another.
    fn nameless(&mut self, api_id: Option<&str>) -> Option<&mut Reply<'a>> {
        let last = self.replies.get_mut(1..).and_then(<[_]>::last_mut);
        last.filter(|last| last.measured.is_none() && (last.api_id.is_none() || api_id.is_none()))
    }
}

/// The newest good measurement of a model's context, and our estimate of what has come since; none since the last reset.
///
/// Good is a reply of this model that neither failed nor was cut short. What the marks weigh should be calibrated.
#[must_use]
pub fn anchor<'a>(marks: impl IntoIterator<Item = Mark<'a>>, model: &str) -> Option<Anchor> {
    let mut since = Weight::ZERO;
    for reply in replies(marks).iter().rev() {
        if reply.reset {
            return None;
        }
        since += reply.after;
        if let Some(good) = reply.good(model) {
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
pub fn calibrate<'a>(marks: impl IntoIterator<Item = Mark<'a>>, model: &str) -> Option<Calibration> {
    let samples = samples(&replies(marks), model);
    let newest = samples.get(samples.len().saturating_sub(NEWEST)..).unwrap_or_default();
    whole(newest).or_else(|| grown(newest))
}

fn samples(replies: &[Reply<'_>], model: &str) -> Vec<Sample> {
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
        weight += reply.own + reply.after;
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
    let (least, most) = PER_MILLE;
    let per_mille = u16::try_from(per_mille).unwrap_or(most).clamp(least, most);
    Calibration { per_mille, replies: replies as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODEL: &str = "m";

    fn weight(scaled: u64) -> Weight {
        Weight { fixed: Tokens(0), scaled: Tokens(scaled) }
    }

    fn reply(api_id: Option<&str>, scaled: u64) -> Mark<'_> {
        Mark::Reply { api_id, weight: weight(scaled), failed: false }
    }

    fn failed(api_id: Option<&str>) -> Mark<'_> {
        Mark::Reply { api_id, weight: Weight::ZERO, failed: true }
    }

    fn other(scaled: u64) -> Mark<'static> {
        Mark::Other(weight(scaled))
    }

    fn told<'a>(seq: u64, model: &'a str, api_id: Option<&'a str>, (input, output): (u64, u64)) -> Mark<'a> {
        let (input, output) = (Tokens(input), Tokens(output));
        Mark::Measured(Measured { seq: Seq(seq), model, api_id, input, output, live: true })
    }

    fn built(model: &'static str, estimate: u64) -> Mark<'static> {
        Mark::Built { model, estimate: Some(Tokens(estimate)) }
    }

    #[test]
    fn an_anchor_is_the_newest_good_measurement_and_what_came_after_its_reply() {
        let first = [other(5), reply(Some("a"), 40), told(1, MODEL, Some("a"), (1_000, 30)), other(7)];
        let after = |more: &[Mark<'static>]| [&first[..], more].concat();
        // Expected are position, measured and since; position 0: none.
        type Case = (&'static str, Vec<Mark<'static>>, (u64, u64, u64));
        let table: Vec<Case> = vec![
            ("nothing", vec![], (0, 0, 0)),
            ("never measured", vec![other(3), reply(None, 4)], (0, 0, 0)),
            ("one reply", after(&[]), (1, 1_030, 7)),
            (
                "the newest wins",
                after(&[reply(None, 20), told(2, MODEL, None, (1_100, 9)), other(3)]),
                (2, 1_109, 3),
            ),
            (
                "a measurement of nothing",
                after(&[reply(None, 20), told(2, MODEL, None, (0, 0))]),
                (1, 1_030, 27),
            ),
            (
                "a failed reply",
                after(&[failed(Some("b")), told(2, MODEL, Some("b"), (1_050, 9))]),
                (1, 1_030, 7),
            ),
            (
                "a failed reply without id",
                after(&[failed(None), told(2, MODEL, None, (1_050, 9))]),
                (1, 1_030, 7),
            ),
            (
                "said well after a failure",
                after(&[failed(None), reply(None, 20), told(2, MODEL, None, (1_100, 9))]),
                (2, 1_109, 0),
            ),
            (
                "said well after a failure, after a reply nobody measured",
                after(&[reply(None, 5), failed(None), reply(None, 20), told(2, MODEL, None, (1_100, 9))]),
                (2, 1_109, 0),
            ),
            (
                "broken off in its last piece",
                after(&[reply(Some("b"), 20), told(2, MODEL, Some("b"), (1_100, 9)), failed(Some("b"))]),
                (1, 1_030, 27),
            ),
            (
                "a turn cut short right after",
                after(&[reply(None, 20), told(2, MODEL, None, (1_100, 9)), Mark::CutShort, other(4)]),
                (1, 1_030, 31),
            ),
            (
                "a turn cut short later on",
                after(&[reply(None, 20), told(2, MODEL, None, (1_100, 9)), other(4), Mark::CutShort]),
                (2, 1_109, 4),
            ),
            (
                "another model",
                after(&[reply(None, 20), told(2, "m2", None, (9_000, 9)), other(4)]),
                (1, 1_030, 31),
            ),
            ("a reset since", after(&[Mark::Reset, other(4)]), (0, 0, 0)),
            (
                "measured after a reset",
                after(&[Mark::Reset, reply(None, 20), told(2, MODEL, None, (300, 9)), other(4)]),
                (2, 309, 4),
            ),
            (
                "pieces of one reply, the last report counts",
                after(&[
                    reply(Some("b"), 20),
                    told(2, MODEL, Some("b"), (1_100, 1)),
                    other(4),
                    reply(Some("b"), 30),
                    told(3, MODEL, Some("b"), (1_100, 55)),
                ]),
                (3, 1_155, 4),
            ),
            (
                "results before the report",
                after(&[reply(None, 20), other(4), told(2, MODEL, None, (1_100, 9))]),
                (2, 1_109, 4),
            ),
            (
                "a request of another lane",
                after(&[built("", 50), reply(None, 20), told(2, MODEL, None, (60, 9))]),
                (1, 1_030, 27),
            ),
        ];
        for (what, marks, expect) in table {
            let found = anchor(marks, MODEL).map_or((0, 0, 0), |found| {
                assert_eq!(&*found.model, MODEL);
                (found.seq.0, found.measured.0, found.since.0)
            });
            assert_eq!(found, expect, "{what}");
        }
    }

    /// `count` replies of a model, each adding 1,000 by our estimate and `grows` by the provider's.
    fn growing(model: &'static str, count: u64, grows: u64) -> Vec<Mark<'static>> {
        let one = |number: u64| {
            [reply(None, 400), told(number, model, None, (5_000 + number * grows, 10)), other(600)]
        };
        (1..=count).flat_map(one).collect()
    }

    fn learned(marks: &[Mark<'_>]) -> Option<(u16, u64)> {
        calibrate(marks.iter().copied(), MODEL).map(|found| (found.per_mille, found.replies))
    }

    #[test]
    fn growth_teaches_a_factor_within_bounds() {
        for (grows, per_mille) in
            [(1_000, 1_000), (1_250, 1_250), (700, 700), (501, 501), (300, 500), (9_000, 2_000)]
        {
            // The growth of the first reply is not known.
            assert_eq!(learned(&growing(MODEL, 21, grows)), Some((per_mille, 20)), "{grows}");
        }
        assert_eq!(learned(&growing(MODEL, 500, 1_100)), Some((1_100, NEWEST as u64)));
    }

    #[test]
    fn too_little_teaches_nothing() {
        let replies = LEAST_REPLIES as u64;
        assert_eq!(learned(&growing(MODEL, replies, 1_000)), None);
        assert_eq!(learned(&growing(MODEL, replies + 1, 1_000)), Some((1_000, replies)));
        let least = LEAST_GROWTH.0 / replies;
        assert_eq!(learned(&growing(MODEL, replies + 1, least - 1)), None);
        assert_eq!(learned(&growing(MODEL, replies + 1, least)), Some((500, replies)));
    }

    #[test]
    fn no_model_learns_from_another() {
        assert_eq!(learned(&growing("m2", 30, 1_300)), None);
        let both = [growing(MODEL, 20, 1_100), growing("m2", 20, 1_900), growing(MODEL, 20, 1_100)].concat();
        assert_eq!(learned(&both), Some((1_100, 38)));
    }

    #[test]
    fn what_cannot_be_compared_is_passed_over() {
        let breaks = [
            ("a reset", vec![Mark::Reset]),
            ("media", vec![Mark::Blur, other(3_300)]),
            ("another model's reply", vec![reply(None, 9), told(99, "m2", None, (90_000, 1))]),
        ];
        for (what, marks) in breaks {
            let mut all = growing(MODEL, 10, 1_200);
            all.extend(marks);
            // The context is a hundred thousand larger, or smaller, from here on.
            for (number, input) in (1..=10).map(|number| (number, 105_000 + number * 1_200)) {
                all.extend([reply(None, 400), told(100 + number, MODEL, None, (input, 10)), other(600)]);
            }
            assert_eq!(learned(&all), Some((1_200, 18)), "{what}");
        }
        let mut shrunk = growing(MODEL, 10, 1_200);
        shrunk.extend(growing(MODEL, 10, 1_200));
        assert_eq!(learned(&shrunk), Some((1_200, 18)), "the input has shrunk, unannounced");
    }

    #[test]
    fn split_replies_count_once() {
        let one = |number: u64| {
            let id = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][number as usize];
            let usage = told(number, MODEL, Some(id), (5_000 + number * 1_000, 10));
            [reply(Some(id), 300), usage, other(300), reply(Some(id), 100), usage, other(300)]
        };
        let marks: Vec<_> = (0..10).flat_map(one).collect();
        assert_eq!(learned(&marks), Some((1_000, 9)));
    }

    #[test]
    fn one_strange_reply_does_not_outweigh_the_others() {
        let mut marks = growing(MODEL, 33, 1_000);
        for mark in &mut marks[60..] {
            if let Mark::Measured(measured) = mark {
                measured.input += Tokens(150_000);
            }
        }
        assert_eq!(learned(&marks), Some((1_093, 32)));
    }

    #[test]
    fn a_request_of_ours_is_compared_whole() {
        let one = |number: u64, live: bool| {
            let Mark::Measured(usage) = told(number, MODEL, None, (13_000 + number * 2_000, 10)) else {
                panic!()
            };
            let usage = Mark::Measured(Measured { live, ..usage });
            [built(MODEL, 10_000 + number * 1_500), reply(None, 400), usage, other(600)]
        };
        let live: Vec<_> = (0..LEAST_REPLIES as u64).flat_map(|number| one(number, true)).collect();
        assert_eq!(learned(&live), Some((1_312, 8)));
        // A transcript's requests were another program's: growth counts.
        let imported: Vec<_> = (0..9).flat_map(|number| one(number, false)).collect();
        assert_eq!(learned(&imported), Some((2_000, 8)));
        // A request that something followed is not what was answered.
        let stale = |number| {
            let [built, reply, usage, other] = one(number, true);
            [built, other, reply, usage]
        };
        assert_eq!(learned(&(0..9).flat_map(stale).collect::<Vec<_>>()), Some((2_000, 8)));
    }

    #[test]
    fn frames_are_constants() {
        let heavy = |mark: Mark<'static>| match mark {
            Mark::Other(_) => Mark::Other(Weight { fixed: Tokens(500), scaled: Tokens(600) }),
            mark => mark,
        };
        let marks: Vec<_> = growing(MODEL, 21, 1_500 + 250).into_iter().map(heavy).collect();
        assert_eq!(learned(&marks), Some((1_250, 20)));
    }

    fn any_mark() -> impl Strategy<Value = Mark<'static>> {
        let id = proptest::sample::select(vec![None, Some("a"), Some("b")]);
        let model = proptest::sample::select(vec![MODEL, "m2", ""]);
        prop_oneof![
            (id.clone(), 0..1_000_u64, any::<bool>()).prop_map(|(api_id, scaled, failed)| Mark::Reply {
                api_id,
                weight: weight(scaled),
                failed
            }),
            (0..9_000_u64).prop_map(other),
            (model.clone(), id, any::<u64>(), 0..90_000_u64).prop_map(|(model, id, odd, input)| told(
                odd,
                model,
                id,
                (if odd % 9 == 0 { odd } else { input }, odd % 99)
            )),
            (model, 0..90_000_u64).prop_map(|(model, estimate)| built(model, estimate)),
            Just(Mark::CutShort),
            Just(Mark::Blur),
            Just(Mark::Reset),
        ]
    }

    proptest! {
        #[test]
        fn whatever_is_told_the_factor_is_within_bounds_and_the_anchor_is_the_models(
            marks in proptest::collection::vec(any_mark(), 0..200),
        ) {
            if let Some(found) = calibrate(marks.iter().copied(), MODEL) {
                prop_assert!((PER_MILLE.0..=PER_MILLE.1).contains(&found.per_mille));
                prop_assert!((LEAST_REPLIES..=NEWEST).contains(&(found.replies as usize)));
            }
            if let Some(found) = anchor(marks.iter().copied(), MODEL) {
                let source = marks.iter().any(|mark| matches!(mark, Mark::Measured(measured)
                    if measured.seq == found.seq && measured.model == MODEL
                        && measured.input + measured.output == found.measured));
                prop_assert!(source);
                let resets: Vec<_> = marks.iter().copied().chain([Mark::Reset, other(1)]).collect();
                prop_assert_eq!(anchor(resets, MODEL), None);
            }
        }

        #[test]
        fn a_corrected_estimate_is_monotone(estimate in 0..u64::from(u32::MAX), more in 0..1_000_u64, per_mille in 500..=2_000_u16) {
            let calibration = Calibration { per_mille, replies: 8 };
            let (small, large) = (calibration.of(Tokens(estimate)), calibration.of(Tokens(estimate + more)));
            prop_assert!(small <= large);
            prop_assert!(small.0 * 1_000 >= estimate * u64::from(per_mille));
            prop_assert!(small.0 * 1_000 < estimate * u64::from(per_mille) + 1_000);
        }
    }
}
