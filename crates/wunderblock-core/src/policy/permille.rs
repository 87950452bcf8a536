//! Fractions in thousandths.

use crate::units::Tokens;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A fraction, in thousandths. TOML and JSON write the fraction as a decimal, `0.92`, or as a whole number, `1`. The
/// value is rounded to the nearest thousandth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permille(pub u16);

impl Permille {
    /// The whole.
    pub const ONE: Self = Self(1_000);
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Returns this fraction of a number of tokens, rounded down.
    #[must_use]
    pub const fn of(self, whole: Tokens) -> Tokens {
        let (high, low) = (whole.0 / 1_000, whole.0 % 1_000);
        Tokens(high.saturating_mul(self.0 as u64) + low * self.0 as u64 / 1_000)
    }

    /// Returns the fraction that `part` is of `whole`, rounded down; [`Permille::ONE`] if `whole` is 0.
    #[must_use]
    pub fn ratio(part: u64, whole: u64) -> Self {
        let scaled = u128::from(part) * 1_000 / u128::from(whole.max(1));
        if whole == 0 { Self::ONE } else { Self(u16::try_from(scaled).unwrap_or(u16::MAX)) }
    }
}

impl fmt::Display for Permille {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1_000, self.0 % 1_000);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.pad(text)
    }
}

impl Serialize for Permille {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Permille {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        // The thousandths of numbers up to 65 fit into 16 bits.
        if !(0.0..=65.0).contains(&number) {
            return Err(serde::de::Error::custom(format!(
                "invalid fraction `{number}`: must be 0 to 65; 0.92 is 92 %"
            )));
        }
        // The number is in range, so the cast is exact.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(Self((number * 1_000.0).round() as u16))
    }
}
