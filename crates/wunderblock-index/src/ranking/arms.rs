//! Arms: what is known of a passage with respect to a question, each from 0 to 1,023.
//!
//! Each arm is divided by the maximum that the question itself allows. Ranks are not used: no score depends on the worst
//! passage, and a score means the same for every question.

use crate::passages::traits::Traits;
use crate::passages::voice::{Day, VoiceRole};
use crate::ranking::counts::{Counts, NARROW_GAIN, WIDE_GAIN};
use crate::ranking::cues::Cues;
use crate::ranking::order::{Entry, PassageOrder};
use crate::ranking::window::{WIDE, gather};
use std::ops::Range;

/// Maximum of an arm.
pub const FULL: u16 = 1023;
/// Length in terms from which a passage has the full value of [`Arm::Length`].
const LONG_PASSAGE: u32 = 32;
/// Number of passages of a session whose mean similarity is that of the session.
const BEST: usize = 3;

/// An arm of the ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Arm {
    /// Share of the question's words in the passage, by inverse document frequency.
    Covered,
    /// The same of the passage and two to each side.
    CoveredNear,
    /// BM25 of the whole document.
    Document,
    /// BM25 of the window.
    Window,
    /// BM25 of the passage, the one before and the one after.
    Narrow,
    /// BM25 of the session.
    Session,
    /// A speaker whom the question names.
    Speaker,
    /// The role that the question is about.
    Role,
    /// Words of the first person.
    FirstPerson,
    /// The message before it is a question of another speaker.
    Answer,
    /// No question.
    Statement,
    /// Length of the passage, up to 32 terms.
    Length,
    /// Words for something to be done from now on.
    Instruction,
    /// A time, if one is asked for.
    When,
    /// A number, if one is asked for.
    HowMany,
    /// A name, if a place, a person or a name is asked for.
    Name,
    /// A day that is the date of the question.
    DateEqual,
    /// A day soon after the date of the question.
    DateNear,
    /// Similarity of the passage, or of the most similar one of its document.
    Similar,
    /// Similarity of the window.
    SimilarWindow,
    /// Similarity of the session.
    SimilarSession,
}

/// Number of arms.
pub const ARMS: usize = 21;

impl Arm {
    /// All arms in order.
    pub const ALL: [Self; ARMS] = [
        Self::Covered,
        Self::CoveredNear,
        Self::Document,
        Self::Window,
        Self::Narrow,
        Self::Session,
        Self::Speaker,
        Self::Role,
        Self::FirstPerson,
        Self::Answer,
        Self::Statement,
        Self::Length,
        Self::Instruction,
        Self::When,
        Self::HowMany,
        Self::Name,
        Self::DateEqual,
        Self::DateNear,
        Self::Similar,
        Self::SimilarWindow,
        Self::SimilarSession,
    ];

    /// Returns the name of the arm, as reports show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::CoveredNear => "covered-near",
            Self::Document => "document",
            Self::Window => "window",
            Self::Narrow => "narrow",
            Self::Session => "session",
            Self::Speaker => "speaker",
            Self::Role => "role",
            Self::FirstPerson => "first-person",
            Self::Answer => "answer",
            Self::Statement => "statement",
            Self::Length => "length",
            Self::Instruction => "instruction",
            Self::When => "when",
            Self::HowMany => "how-many",
            Self::Name => "name",
            Self::DateEqual => "date-equal",
            Self::DateNear => "date-near",
            Self::Similar => "similar",
            Self::SimilarWindow => "similar-window",
            Self::SimilarSession => "similar-session",
        }
    }
}

/// Values of all arms, in the order of [`Arm::ALL`].
pub type ArmValues = [u16; ARMS];

/// Reads the arms of passages for one question.
pub(crate) struct ArmReader<'a> {
    order: &'a PassageOrder,
    counts: &'a Counts,
    cues: &'a Cues,
    /// Which of the order's names the question has.
    named: Vec<bool>,
    similarity: Option<Similarity<'a>>,
    by_asked: Share,
    by_wide: Share,
    by_narrow: Share,
    by_session: Share,
    by_document: Share,
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

/// Similarities of passages, from 0 to [`FULL`].
struct Similarity<'a> {
    passages: &'a [u16],
    sessions: Vec<u16>,
}

impl<'a> ArmReader<'a> {
    pub(crate) fn new(
        order: &'a PassageOrder,
        counts: &'a Counts,
        cues: &'a Cues,
        similarity: Option<&'a [u16]>,
    ) -> Self {
        let with = |gain: u32| Share::of((counts.asked * u64::from(gain)) >> 9);
        let similarity = similarity.map(|passages| {
            let sessions =
                order.sessions().iter().map(|session| best_mean(passages, &session.spoken)).collect();
            Similarity { passages, sessions }
        });
        Self {
            order,
            counts,
            cues,
            named: cues.named(order.names()),
            similarity,
            by_asked: Share::of(counts.asked),
            by_wide: with(WIDE_GAIN),
            by_narrow: with(NARROW_GAIN),
            // k1 of sessions and documents is 1.2.
            by_document: Share::of(counts.asked * 22 / 10),
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
        let [own, near, wide, narrow] = self.counts.passages.get(at as usize).copied().unwrap_or_default();
        set(Arm::Covered, self.by_asked.part(own));
        set(Arm::CoveredNear, self.by_asked.part(near));
        let document = self.counts.docs.get(entry.doc as usize).copied().unwrap_or_default();
        set(Arm::Document, self.by_document.part(document));
        set(Arm::Window, self.by_wide.part(wide));
        set(Arm::Narrow, self.by_narrow.part(narrow));
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
        set(Arm::Name, flag(self.cues.name && traits.has(Traits::NAME)));
        let day = Day(u32::from(entry.day));
        let dates = self.cues.dates.iter();
        set(Arm::DateEqual, dates.clone().map(|date| date.equal(day)).max().unwrap_or(0));
        set(Arm::DateNear, dates.map(|date| date.near(day)).max().unwrap_or(0));
        if let Some(similarity) = &self.similarity {
            let (own, wide) = self.similar(similarity.passages, at, entry);
            set(Arm::Similar, own);
            set(Arm::SimilarWindow, wide);
            set(Arm::SimilarSession, similarity.sessions.get(entry.session as usize).copied().unwrap_or(0));
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

    /// Returns the similarity of the most similar passage of a document, and that of the window.
    fn similar(&self, passages: &[u16], at: u32, entry: &Entry) -> (u16, u16) {
        let bounds = self.order.bounds(at, entry);
        let value = |place: u32| passages.get(place as usize).copied().unwrap_or(0);
        let is_own = |place: &u32| self.order.entry(*place).is_some_and(|other| other.doc == entry.doc);
        let before = (bounds.start..at).rev().take_while(is_own);
        let own = before.chain((at..bounds.end).take_while(is_own)).map(value).max().unwrap_or(0);
        let within = |place: usize| bounds.contains(&(place as u32));
        let sum = gather(
            at as usize,
            &WIDE,
            |place| if within(place) { u32::from(value(place as u32)) } else { 0 },
        );
        let weights = gather(at as usize, &WIDE, |place| u32::from(within(place)));
        (own.min(FULL), ((sum / weights.max(1)) as u16).min(FULL))
    }
}

/// Returns the mean of the highest similarities of a session.
fn best_mean(passages: &[u16], session: &Range<u32>) -> u16 {
    let values = passages.get(session.start as usize..session.end as usize).unwrap_or_default();
    let mut best = [0u16; BEST];
    for value in values {
        let mut value = (*value).min(FULL);
        for place in &mut best {
            if value > *place {
                std::mem::swap(place, &mut value);
            }
        }
    }
    (best.iter().map(|value| u32::from(*value)).sum::<u32>() / BEST as u32) as u16
}
