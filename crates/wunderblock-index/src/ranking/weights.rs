//! Weights of the arms, as data.

use crate::ranking::arms::{ARMS, Arm, ArmValues};

/// Weight of each arm, in the order of [`Arm::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights(pub [i16; ARMS]);

/// Weights by the kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profiles {
    /// People in short turns, told apart by their names.
    pub chat: Weights,
    /// A person and a model in long turns.
    pub agent: Weights,
}

impl Weights {
    /// Returns weights of some arms; the others have none.
    const fn of_table(table: &[(Arm, i16)]) -> Self {
        let mut weights = [0; ARMS];
        let mut at = 0;
        while at < table.len() {
            #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
            {
                weights[table[at].0 as usize] = table[at].1;
            }
            at += 1;
        }
        Self(weights)
    }

    /// Returns the weight of an arm.
    #[must_use]
    pub fn of(&self, arm: Arm) -> i16 {
        self.0.get(arm as usize).copied().unwrap_or(0)
    }

    /// Sets the weight of an arm.
    pub fn set(&mut self, arm: Arm, weight: i16) {
        if let Some(place) = self.0.get_mut(arm as usize) {
            *place = weight;
        }
    }

    /// Returns the score of a passage.
    #[must_use]
    pub fn score(&self, arms: &ArmValues) -> i64 {
        let sum: i32 =
            self.0.iter().zip(arms).map(|(weight, value)| i32::from(*weight) * i32::from(*value)).sum();
        i64::from(sum)
    }
}

impl Profiles {
    /// The weights in use.
    ///
    /// They began as the order of size that `recall-study` gives for public sets, and were adjusted on the odd-numbered
    /// files of `fixtures/recall` by `xtask recall fit`, whose softmax has a broad maximum there: half or twice a weight
    /// changes the recall at 10 by at most two points, with few exceptions. Chats gained from a larger share of the arms
    /// of words; an arm of covered words of the document, and one of its length, gained nothing and are gone. The weight
    /// of the role in the agents' profile is 8, not the fitted 20: on the fictional set both reach the same (.716 and .720
    /// at 10), and on questions from real sessions the person's words need no such preference (`eval sessions`: .714
    /// against .590). The even files report (`docs/design/0030-recall.md`).
    pub const FITTED: Self = Self {
        chat: Weights::of_table(&[
            (Arm::Covered, 12),
            (Arm::CoveredNear, 12),
            (Arm::Document, 14),
            (Arm::Window, 36),
            (Arm::Narrow, 16),
            (Arm::Session, 10),
            (Arm::Speaker, 12),
            (Arm::FirstPerson, 1),
            (Arm::Answer, 3),
            (Arm::Statement, 4),
            (Arm::Length, 6),
            (Arm::When, 6),
            (Arm::HowMany, 4),
            (Arm::Name, 3),
            (Arm::DateEqual, 14),
            (Arm::DateNear, 8),
            (Arm::Similar, 14),
            (Arm::SimilarWindow, 12),
            (Arm::SimilarSession, 10),
        ]),
        agent: Weights::of_table(&[
            (Arm::Covered, 10),
            (Arm::CoveredNear, 10),
            (Arm::Document, 14),
            (Arm::Window, 22),
            (Arm::Narrow, 10),
            (Arm::Session, 10),
            (Arm::Role, 8),
            (Arm::FirstPerson, 2),
            (Arm::Length, 3),
            (Arm::Instruction, 1),
            (Arm::When, 4),
            (Arm::HowMany, 3),
            (Arm::Name, 2),
            (Arm::DateEqual, 10),
            (Arm::DateNear, 6),
            (Arm::Similar, 12),
            (Arm::SimilarWindow, 8),
            (Arm::SimilarSession, 6),
        ]),
    };
}
