//! BM25 in fixed-point integers, which gives the same score on every machine, regardless of its floating-point
//! library.
//!
//! The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, with `1 +` inside
//! the logarithm, which keeps the logarithm positive. The document has `len` terms and contains the term `count`
//! times. There are `docs` visible documents with `terms` terms in total; `df` of them contain the term:
//!
//! ```text
//! idf    = log2(1 + (docs − df + ½) / (df + ½))  =  log2(2·docs + 2) − log2(2·df + 1)
//! norm   = k1·(1 − b) + k1·b · len / (terms / docs)            k1 = 1.2, b = 0.75
//! weight = count·(k1 + 1) / (count + norm)
//! score  = Σ idf·weight · (1 + matched / asked) / 2
//! ```
//! The last factor is not part of BM25: a document with all words of the query precedes one with half of them, unless
//! that half is much rarer. All values have 16 fractional bits, and divisions round down. Overflow is impossible:
//! `idf` is below 2^22 and `weight` below 2^18, so each term adds less than 2^24, and there are at most 2^8 terms.

/// The number one in fixed point.
const ONE: u64 = 1 << 16;
/// The constant k1 + 1.
const GAIN: u64 = 22 * ONE / 10;
/// The constant k1·(1 − b).
const BASE: u64 = 3 * ONE / 10;

/// How well a document answers a query. Unlike a score, it can be compared between queries and between ledgers of
/// different sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HitStrength {
    /// Share of the query's terms that the document contains, weighted by inverse document frequency, in thousandths.
    pub covered: u32,
    /// Score in units of the inverse document frequency of a term that no document contains, in thousandths.
    pub rarity: u32,
}

/// Sums over the documents in scope. A score depends only on the document and these sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of documents in scope.
    pub docs: u64,
    /// Total length of the documents in terms.
    pub terms: u64,
}

impl Statistics {
    /// Returns the inverse document frequency of a term that occurs in `df` documents.
    #[must_use]
    pub fn idf(&self, df: u64) -> u64 {
        let all = log2(self.docs.saturating_mul(2).saturating_add(2));
        all.saturating_sub(log2(df.saturating_mul(2).saturating_add(1)))
    }

    /// Returns the amount that each term of a document's length adds to the norm, with 32 fractional bits.
    #[must_use]
    pub fn slope(&self) -> u64 {
        let numerator = (9 * u128::from(self.docs)) << 32;
        u64::try_from(numerator / (10 * u128::from(self.terms.max(1)))).unwrap_or(u64::MAX)
    }
}

/// Returns the amount that a term adds to the score of a document.
#[must_use]
pub fn weigh(idf: u64, slope: u64, count: u32, len: u32) -> u64 {
    let by_length = (u128::from(len) * u128::from(slope)) >> 16;
    let norm = BASE + u64::try_from(by_length).unwrap_or(u64::MAX).min(1 << 40);
    // The limit keeps the product below 2^58. More occurrences would hardly change the weight.
    let count = u64::from(count).min(1 << 24) * ONE;
    (idf * (count * GAIN / (count + norm))) >> 16
}

/// Returns the score of a document, given the sum over its terms.
#[must_use]
pub fn cover(sum: u64, matched: usize, asked: usize) -> i64 {
    let asked = (asked as u64).max(1);
    let covered = sum.saturating_mul(asked.saturating_add(matched as u64)) / asked.saturating_mul(2);
    i64::try_from(covered).unwrap_or(i64::MAX)
}

/// Returns the strength of a document: its score, and the sums of the inverse document frequencies of the terms that it
/// contains and of all terms that were asked for.
#[must_use]
pub fn strength(statistics: &Statistics, score: i64, contained: u64, asked: u64) -> HitStrength {
    let thousandths = |part: u64, whole: u64| {
        u32::try_from(u128::from(part) * 1_000 / u128::from(whole.max(1))).unwrap_or(u32::MAX)
    };
    let rarity = thousandths(u64::try_from(score).unwrap_or(0), statistics.idf(0));
    HitStrength { covered: thousandths(contained, asked), rarity }
}

/// Returns the binary logarithm with 16 fractional bits, rounded down; zero for zero.
fn log2(value: u64) -> u64 {
    let Some(whole) = value.checked_ilog2() else { return 0 };
    // The mantissa is in [1, 2) with 63 fractional bits. Squaring the mantissa doubles its logarithm, and the next
    // bit of the logarithm appears as a carry.
    let mut mantissa = u128::from(value << (63 - whole));
    let mut log = u64::from(whole);
    for _ in 0..16 {
        mantissa = (mantissa * mantissa) >> 63;
        let carry = mantissa >> 64;
        mantissa >>= carry;
        log = log << 1 | (carry as u64 & 1);
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_agree_with_the_real_ones() {
        for value in
            (1..5000).chain((10..64).flat_map(|shift| [(1 << shift) - 1, 1 << shift, (1 << shift) + 1]))
        {
            let real = (value as f64).log2() * 65536.0;
            assert!((log2(value) as f64 - real).abs() <= 1.0, "{value}: {} {real}", log2(value));
        }
        assert_eq!((log2(0), log2(1), log2(u64::MAX)), (0, 0, (64 << 16) - 1));
    }

    #[test]
    fn weights_agree_with_the_formula() {
        for (docs, terms, df, count, len) in
            [(1, 1, 1, 1, 1), (100_000, 50_000_000, 30_000, 3, 700), (1_000_000, 9_000_000, 1, 40, 2)]
        {
            let stats = Statistics { docs, terms };
            let ours = weigh(stats.idf(df), stats.slope(), count, len) as f64 / 65536.0;
            let idf = ((docs as f64 - df as f64 + 0.5) / (df as f64 + 0.5) + 1.0).log2();
            let norm = 1.2 * (0.25 + 0.75 * f64::from(len) * docs as f64 / terms as f64);
            let real = idf * f64::from(count) * 2.2 / (f64::from(count) + norm);
            assert!((ours - real).abs() < real / 1000.0 + 0.001, "{ours} {real}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_overflows(docs: u64, terms: u64, df: u64, count: u32, len: u32, matched in 0usize..256) {
            let stats = Statistics { docs, terms };
            let weight = weigh(stats.idf(df), stats.slope(), count, len);
            assert!(weight < 1 << 24);
            assert!(cover(weight * 256, matched, 256) >= 0);
        }

        #[test]
        fn more_occurrences_rarer_terms_and_shorter_documents_score_no_less(
            docs in 1u64..1_000_000, len in 1u32..10_000, df in 1u64..1000, count in 1u32..1000,
        ) {
            let stats = Statistics { docs, terms: docs * 500 };
            let base = weigh(stats.idf(df), stats.slope(), count, len);
            assert!(weigh(stats.idf(df), stats.slope(), count + 1, len) >= base);
            assert!(weigh(stats.idf(df + 1), stats.slope(), count, len) <= base);
            assert!(weigh(stats.idf(df), stats.slope(), count, len + 1) <= base);
        }
    }
}
