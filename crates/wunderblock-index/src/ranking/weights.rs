//! Arms with their weights, as data.

/// Values of all arms, from 0 to [`crate::ranking::arms::FULL`], in the order of [`Arm::ALL`].
pub type ArmValues = [u16; ARMS];

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

/// Defines the arms: each with its name in reports, and its weights in both profiles.
macro_rules! arms {
    ($($(#[$doc:meta])* $arm:ident $name:literal $chat:literal $agent:literal,)*) => {
        /// An arm of the ranking.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Arm { $($(#[$doc])* $arm,)* }

        /// Number of arms.
        pub const ARMS: usize = [$($name),*].len();

        impl Arm {
            /// All arms in order.
            pub const ALL: [Self; ARMS] = [$(Self::$arm),*];

            /// Returns the name of the arm, as reports show it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$arm => $name,)* }
            }
        }

        impl Profiles {
            /// The weights in use.
            ///
            /// They began as the order of size that `recall-study` gives for public sets, and were adjusted on the
            /// odd-numbered files of `fixtures/recall` by `xtask recall fit`, whose softmax has a broad maximum there:
            /// half or twice a weight changes the recall at 10 by at most two points, with few exceptions. Chats gained
            /// from a larger share of the arms of words. The weight of the role in the agents' profile is 8, not the
            /// fitted 20: on the fictional set both reach the same, and on questions from real sessions the person's
            /// words need no such preference (`eval sessions`: .714 against .590). `docs/design/0030-recall.md` says what
            /// each arm is worth, and which are gone.
            pub const FITTED: Self = Self { chat: Weights([$($chat),*]), agent: Weights([$($agent),*]) };
        }
    };
}

arms! {
    /// Share of the question's words in the passage, by inverse document frequency.
    Covered "covered" 12 10,
    /// The same of the passage and two to each side.
    CoveredNear "covered-near" 12 10,
    /// BM25 of the window.
    Window "window" 36 22,
    /// BM25 of the session.
    Session "session" 10 10,
    /// A speaker whom the question names.
    Speaker "speaker" 12 0,
    /// The role that the question is about.
    Role "role" 0 8,
    /// Words of the first person.
    FirstPerson "first-person" 1 2,
    /// The message before it is a question of another speaker.
    Answer "answer" 3 0,
    /// No question.
    Statement "statement" 4 0,
    /// Length of the passage, up to 32 terms.
    Length "length" 6 3,
    /// Words for something to be done from now on.
    Instruction "instruction" 0 1,
    /// A time, if one is asked for.
    When "when" 6 4,
    /// A number, if one is asked for.
    HowMany "how-many" 4 3,
    /// A day that is the date of the question.
    DateEqual "date-equal" 14 10,
    /// A day soon after the date of the question.
    DateNear "date-near" 8 6,
    /// Similarity of the passage.
    Similar "similar" 14 12,
    /// Similarity of the window.
    SimilarWindow "similar-window" 12 8,
}

impl Weights {
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
