//! Arms: what is known of a passage with respect to a question, each from 0 to 1,023.
//!
//! Each arm is divided by the maximum that the question itself allows. Ranks are not used: no score depends on the worst
//! passage, and a score means the same for every question.

use crate::passages::traits::Traits;
use crate::passages::voice::{Day, VoiceRole};
use crate::ranking::counts::{Counts, WIDE_GAIN};
use crate::ranking::cues::Cues;
use crate::ranking::order::{Entry, PassageOrder};
use crate::ranking::weights::{ARMS, Arm, ArmValues};
use crate::ranking::window::{WIDE, gather};

/// Maximum of an arm.
pub const FULL: u16 = 1023;
/// Length in terms from which a passage has the full value of [`Arm::Length`].
const LONG_PASSAGE: u32 = 32;

/// Reads the arms of passages for one question.
pub(crate) struct ArmReader<'a> {
    order: &'a PassageOrder,
    counts: &'a Counts,
    cues: &'a Cues,
    /// Which of the order's names the question has.
    named: Vec<bool>,
    /// Similarities of passages, from 0 to [`FULL`].
    similarity: Option<&'a [u16]>,
    by_asked: Share,
    by_wide: Share,
    by_session: Share,
}

/// Divides by the maximum of a question.
#[derive(Clone, Copy)]
struct Share(u64);

impl Share {
    fn of(max: u64) -> Self {
        Self((u64::from(FULL) << 32).checked_div(max).unwrap_or(0))
    }

    fn part(self, value: u32) -> u16 {
        (((u64::from(value) * self.0) >> 32) as u16).min(FULL)
    }
}

impl<'a> ArmReader<'a> {
    pub(crate) fn new(
        order: &'a PassageOrder,
        counts: &'a Counts,
        cues: &'a Cues,
        similarity: Option<&'a [u16]>,
    ) -> Self {
        Self {
            order,
            counts,
            cues,
            named: cues.named(order.names()),
            similarity,
            by_asked: Share::of(counts.asked),
            by_wide: Share::of((counts.asked * u64::from(WIDE_GAIN)) >> 9),
            // k1 of sessions is 1.2.
            by_session: Share::of(counts.asked_of_sessions * 22 / 10),
        }
    }

    /// Returns the arms of the passage at a position.
    pub(crate) fn read(&self, at: u32, entry: &Entry) -> ArmValues {
        let mut arms = [0; ARMS];
        let mut set = |arm: Arm, value: u16| {
            if let Some(place) = arms.get_mut(arm as usize) {
                *place = value;
            }
        };
        let [own, near, wide] = self.counts.passages.get(at as usize).copied().unwrap_or_default();
        set(Arm::Covered, self.by_asked.part(own));
        set(Arm::CoveredNear, self.by_asked.part(near));
        set(Arm::Window, self.by_wide.part(wide));
        let session = self.counts.sessions.get(entry.session as usize).copied().unwrap_or(0);
        set(Arm::Session, self.by_session.part(session));
        let flag = |is_set: bool| FULL * u16::from(is_set);
        let traits = entry.traits;
        let named = usize::from(entry.speaker).checked_sub(1).and_then(|at| self.named.get(at));
        set(Arm::Speaker, flag(named == Some(&true)));
        set(Arm::Role, self.role(traits));
        set(Arm::FirstPerson, flag(traits.has(Traits::FIRST_PERSON)));
        set(Arm::Answer, flag(traits.has(Traits::ANSWER)));
        set(Arm::Statement, flag(!traits.has(Traits::QUESTION)));
        set(Arm::Length, (u32::from(entry.len).min(LONG_PASSAGE) * u32::from(FULL) / LONG_PASSAGE) as u16);
        set(Arm::Instruction, flag(traits.has(Traits::INSTRUCTION)));
        set(Arm::When, flag(self.cues.when && traits.has(Traits::TIME)));
        set(Arm::HowMany, flag(self.cues.how_many && traits.has(Traits::NUMBER)));
        let day = Day(u32::from(entry.day));
        let dates = self.cues.dates.iter();
        set(Arm::DateEqual, dates.clone().map(|date| date.equal(day)).max().unwrap_or(0));
        set(Arm::DateNear, dates.map(|date| date.near(day)).max().unwrap_or(0));
        if let Some(similarity) = self.similarity {
            let bounds = self.order.bounds(at, entry);
            let value = |place: usize| {
                let value = similarity.get(place).copied().unwrap_or(0).min(FULL);
                if bounds.contains(&(place as u32)) { u32::from(value) } else { 0 }
            };
            set(Arm::Similar, value(at as usize) as u16);
            let weights = gather(at as usize, &WIDE, |place| u32::from(bounds.contains(&(place as u32))));
            set(Arm::SimilarWindow, (gather(at as usize, &WIDE, value) / weights.max(1)) as u16);
        }
        arms
    }

    /// Returns whether a passage is said in the role that is asked about. Without one, a user is half of that: most of
    /// what is asked about was said by the one who asks.
    fn role(&self, traits: Traits) -> u16 {
        match self.cues.role {
            Some(VoiceRole::User) => FULL * u16::from(traits.has(Traits::USER)),
            Some(VoiceRole::Assistant) => FULL * u16::from(traits.has(Traits::ASSISTANT)),
            _ => FULL / 2 * u16::from(traits.has(Traits::USER)),
        }
    }
}
