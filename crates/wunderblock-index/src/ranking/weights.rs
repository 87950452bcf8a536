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
    /// The weights that were fitted.
    pub const FITTED: Self = Self {
        chat: Weights([8, 8, 0, 30, 10, 10, 12, 0, 2, 4, 4, 4, 0, 0, 8, 4, 4, 14, 10, 12, 10, 10]),
        agent: Weights([10, 8, 8, 20, 10, 10, 0, 16, 2, 0, 0, 4, 0, 2, 6, 4, 2, 10, 6, 12, 8, 6]),
    };
}
