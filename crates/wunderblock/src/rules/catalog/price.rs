//! Prices of tokens.
//!
//! Providers publish prices in dollars per million tokens with at most six decimals. Here the prices are whole
//! micro-dollars, so that every sum is exact. Discounts for batches and surcharges for regions, speed and tools are
//! not included.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::units::{Millis, Tokens};
use wunderblock_store::EventUsage;

/// Amount in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MicroDollars(pub u64);

impl MicroDollars {
    /// An amount of zero.
    pub const ZERO: Self = Self(0);

    /// Returns the difference, but never less than zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for MicroDollars {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for MicroDollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for MicroDollars {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

/// Formats an amount as `$0.0123`: four decimals, plus the fifth and sixth if they are not zero, so that nothing is
/// rounded.
impl fmt::Display for MicroDollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let text = if rest % 100 == 0 {
            format!("${whole}.{:04}", rest / 100)
        } else {
            let text = format!("${whole}.{rest:06}");
            text.strip_suffix('0').map(str::to_owned).unwrap_or(text)
        };
        f.pad(&text)
    }
}

/// Prices per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Input that is neither read from a cache nor written to one.
    pub input: MicroDollars,
    /// Input read from the cache. Equal to `input` if no other price is published.
    pub cached: MicroDollars,
    /// Input written to the cache for its usual lifetime. Equal to `input` if writing has no surcharge.
    pub write: MicroDollars,
    /// Input written to the cache for its long lifetime, if such a price is published.
    pub write_long: Option<MicroDollars>,
    /// Output, including reasoning.
    pub output: MicroDollars,
}

/// Prices of a request with long input. The prices apply to all tokens of the request, not only to those above the
/// limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Long {
    /// Maximum input, including cached tokens, that is still charged at the normal prices.
    pub above: Tokens,
    /// Prices above that limit.
    pub rates: Rates,
}

/// Prices of a model from a given day on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Start of the day, in UTC.
    pub since: Millis,
    /// Prices of normal requests.
    pub rates: Rates,
    /// Prices of long requests, if they differ from those of normal requests.
    pub long: Option<Long>,
}

/// Tokens of one request as providers bill them. No token is counted in two fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilledTokens {
    /// Input that was neither read from a cache nor written to one.
    pub input: Tokens,
    /// Input read from the cache.
    pub cache_read: Tokens,
    /// Input written to the cache for its usual lifetime.
    pub cache_write: Tokens,
    /// Output, including reasoning.
    pub output: Tokens,
}

impl BilledTokens {
    /// Returns the total input.
    #[must_use]
    pub fn prompt(&self) -> Tokens {
        self.input + self.cache_read + self.cache_write
    }
}

impl From<&UsageMeasured> for BilledTokens {
    fn from(usage: &UsageMeasured) -> Self {
        let UsageMeasured { input, cache_read, cache_write, output, .. } = *usage;
        Self { input, cache_read, cache_write, output }
    }
}

impl From<&EventUsage> for BilledTokens {
    fn from(usage: &EventUsage) -> Self {
        let EventUsage { input, cache_read, cache_write, output, .. } = *usage;
        Self { input, cache_read, cache_write, output }
    }
}

impl Price {
    /// Returns the prices of a request with this input, including cached tokens.
    #[must_use]
    pub fn rates(&self, prompt: Tokens) -> &Rates {
        match &self.long {
            Some(long) if prompt > long.above => &long.rates,
            _ => &self.rates,
        }
    }

    /// Returns the cost of one request: the sum of tokens times prices, rounded up once to a whole micro-dollar.
    ///
    /// The tokens must be those of one request, because a long request may have other prices.
    #[must_use]
    pub fn cost(&self, spent: BilledTokens) -> MicroDollars {
        let rates = self.rates(spent.prompt());
        let parts = [
            (spent.input, rates.input),
            (spent.cache_read, rates.cached),
            (spent.cache_write, rates.write),
            (spent.output, rates.output),
        ];
        // With 128 bits, no product or sum of 64-bit values overflows.
        let sum = parts
            .into_iter()
            .map(|(tokens, price)| u128::from(tokens.0) * u128::from(price.0))
            .fold(0, u128::saturating_add);
        MicroDollars(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spent(input: u64, cache_read: u64, cache_write: u64, output: u64) -> BilledTokens {
        BilledTokens {
            input: Tokens(input),
            cache_read: Tokens(cache_read),
            cache_write: Tokens(cache_write),
            output: Tokens(output),
        }
    }

    fn rates(input: u64, cached: u64, write: u64, output: u64) -> Rates {
        let [input, cached, write, output] = [input, cached, write, output].map(MicroDollars);
        Rates { input, cached, write, write_long: None, output }
    }

    #[test]
    fn sums_of_money_are_shown_exactly() {
        let table = [
            (0, "$0.0000"),
            (1, "$0.000001"),
            (10, "$0.00001"),
            (100, "$0.0001"),
            (12_300, "$0.0123"),
            (12_340, "$0.01234"),
            (12_345, "$0.012345"),
            (1_500_000, "$1.5000"),
            (1_000_000_010, "$1000.00001"),
            (u64::MAX, "$18446744073709.551615"),
        ];
        for (amount, shown) in table {
            assert_eq!(MicroDollars(amount).to_string(), shown);
        }
        assert_eq!(format!("{:>9}|", MicroDollars(100)), "  $0.0001|");
    }

    #[test]
    fn a_request_costs_tokens_times_prices_rounded_up_once() {
        let price = Price {
            since: Millis(0),
            rates: rates(3_000_000, 300_000, 3_750_000, 15_000_000),
            long: Some(Long {
                above: Tokens(200_000),
                rates: rates(6_000_000, 600_000, 7_500_000, 22_500_000),
            }),
        };
        let table = [
            (spent(0, 0, 0, 0), 0),
            (spent(1, 0, 0, 0), 3),
            // 0.3 alone, and 0.3 plus 3.75: the sum is rounded once, not each part.
            (spent(0, 1, 0, 0), 1),
            (spent(0, 1, 1, 0), 5),
            (spent(1_000, 100_000, 2_000, 500), 3_000 + 30_000 + 7_500 + 7_500),
            // Input equal to the limit is not above it. Cached tokens count towards the limit.
            (spent(0, 200_000, 0, 1), 60_015),
            (spent(1, 200_000, 0, 1), 6 + 120_000 + 23),
            (spent(u64::MAX, u64::MAX, u64::MAX, u64::MAX), u64::MAX),
        ];
        for (spent, cost) in table {
            assert_eq!(price.cost(spent), MicroDollars(cost), "{spent:?}");
        }
    }

    proptest! {
        #[test]
        fn a_cost_is_the_exact_sum_or_less_than_a_micro_dollar_above(
            tokens in proptest::array::uniform4(0_u64..10_000_000),
            prices in proptest::array::uniform4(0_u64..1_000_000_000),
        ) {
            let [input, cached, write, output] = prices;
            let price = Price { since: Millis(0), rates: rates(input, cached, write, output), long: None };
            let [a, b, c, d] = tokens;
            let cost = u128::from(price.cost(spent(a, b, c, d)).0) * 1_000_000;
            let exact: u128 =
                tokens.iter().zip(prices).map(|(tokens, price)| u128::from(*tokens) * u128::from(price)).sum();
            prop_assert!(cost >= exact && cost - exact < 1_000_000, "{} {}", cost, exact);
        }
    }
}
