//! Measures of a ranking whose right answers are known, with intervals.

use super::random::Random;
use serde::Serialize;
use std::collections::BTreeMap;

/// Numbers of hits at which recall is measured.
pub const EVAL_HITS: [usize; 4] = [5, 10, 20, 50];
/// Numbers of tokens at which recall is measured.
pub const EVAL_TOKENS: [u64; 5] = [512, 1_024, 2_048, 4_096, 8_192];
/// Number of draws of an interval.
const DRAWS: usize = 1_000;

/// Answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalAnswer {
    /// Kind of the question.
    pub category: String,
    /// Number of evidence turns.
    pub evidence: usize,
    /// Ranks of the evidence turns that were found, from zero, ascending.
    pub ranks: Vec<usize>,
    /// For each of these, the number of tokens shown up to and including it.
    pub tokens: Vec<u64>,
}

/// Measures of the answers to some questions. Shares are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvalMeasures {
    /// Number of questions with evidence.
    pub questions: usize,
    /// Mean share of a question's evidence among the first 5 hits.
    pub recall_at_5: f64,
    /// The same among the first 10 hits.
    pub recall_at_10: f64,
    /// Bounds of the 95 % interval of `recall_at_10`, over draws of the questions.
    pub recall_at_10_interval: [f64; 2],
    /// The same among the first 20 hits.
    pub recall_at_20: f64,
    /// The same among the first 50 hits.
    pub recall_at_50: f64,
    /// Mean share of a question's evidence within a number of tokens, by that number.
    pub recall_at_tokens: BTreeMap<u64, f64>,
    /// Mean of the reciprocal rank of the first evidence.
    pub mrr: f64,
    /// Normalised discounted cumulative gain among the first 10 hits.
    pub ndcg_at_10: f64,
}

impl EvalAnswer {
    /// Returns the share of the evidence among the first hits.
    #[must_use]
    pub fn recall_at(&self, hits: usize) -> f64 {
        share(self.ranks.iter().filter(|rank| **rank < hits).count(), self.evidence)
    }

    fn recall_within(&self, tokens: u64) -> f64 {
        share(self.tokens.iter().filter(|shown| **shown <= tokens).count(), self.evidence)
    }

    fn reciprocal(&self) -> f64 {
        self.ranks.first().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0))
    }

    fn ndcg_at_10(&self) -> f64 {
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let ideal: f64 = (0..self.evidence.min(10)).map(gain).sum();
        let found: f64 = self.ranks.iter().filter(|rank| **rank < 10).map(|rank| gain(*rank)).sum();
        if ideal > 0.0 { found / ideal } else { 0.0 }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl EvalMeasures {
    /// Returns the measures of the answers to the questions that have evidence.
    #[must_use]
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a EvalAnswer>) -> Self {
        let answers: Vec<&EvalAnswer> = answers.into_iter().filter(|answer| answer.evidence > 0).collect();
        let mean = |value: &dyn Fn(&EvalAnswer) -> f64| {
            answers.iter().map(|answer| value(answer)).sum::<f64>() / answers.len().max(1) as f64
        };
        let at = |hits: usize| mean(&|answer| answer.recall_at(hits));
        let [five, ten, twenty, fifty] = EVAL_HITS.map(at);
        let at_ten: Vec<f64> = answers.iter().map(|answer| answer.recall_at(10)).collect();
        Self {
            questions: answers.len(),
            recall_at_5: five,
            recall_at_10: ten,
            recall_at_10_interval: interval(&at_ten),
            recall_at_20: twenty,
            recall_at_50: fifty,
            recall_at_tokens: EVAL_TOKENS
                .map(|tokens| (tokens, mean(&|answer| answer.recall_within(tokens))))
                .into(),
            mrr: mean(&EvalAnswer::reciprocal),
            ndcg_at_10: mean(&EvalAnswer::ndcg_at_10),
        }
    }
}

/// Returns the bounds of the 95 % interval of a mean, by the bootstrap: the means of draws with replacement. The draws
/// are the same for the same number of values.
#[must_use]
pub fn interval(values: &[f64]) -> [f64; 2] {
    let Some(count) = u64::try_from(values.len()).ok().filter(|count| *count > 0) else { return [0.0; 2] };
    let mut random = Random(0);
    let mut draw = || usize::try_from(random.next() % count).unwrap_or(0);
    let mean = |sum: f64| sum / values.len() as f64;
    let mut means: Vec<f64> =
        (0..DRAWS).map(|_| mean((0..values.len()).filter_map(|_| values.get(draw())).sum())).collect();
    means.sort_by(f64::total_cmp);
    [DRAWS / 40, DRAWS - 1 - DRAWS / 40].map(|at| means.get(at).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_the_formulas() {
        let answer = |ranks: &[usize], tokens: &[u64], evidence| EvalAnswer {
            category: String::new(),
            evidence,
            ranks: ranks.to_vec(),
            tokens: tokens.to_vec(),
        };
        let answers = [answer(&[0, 12], &[100, 3_000], 2), answer(&[], &[], 1), answer(&[], &[], 0)];
        let measures = EvalMeasures::of(&answers);
        assert_eq!(measures.questions, 2, "a question without evidence is not measured");
        assert_eq!((measures.recall_at_5, measures.recall_at_10, measures.recall_at_20), (0.25, 0.25, 0.5));
        assert_eq!((measures.recall_at_tokens[&2_048], measures.recall_at_tokens[&4_096]), (0.25, 0.5));
        assert_eq!(measures.mrr, 0.5);
        let ideal = 1.0 + 1.0 / 3f64.log2();
        assert!((measures.ndcg_at_10 - 0.5 / ideal).abs() < 1e-12);
        let [low, high] = measures.recall_at_10_interval;
        assert!(low <= 0.25 && 0.25 <= high);
    }

    #[test]
    fn an_interval_holds_the_mean_and_narrows_with_more_values() {
        let few: Vec<f64> = (0..20).map(|at| f64::from(at % 2)).collect();
        let many: Vec<f64> = (0..2_000).map(|at| f64::from(at % 2)).collect();
        let ([a, b], [c, d]) = (interval(&few), interval(&many));
        assert!(a < 0.5 && 0.5 < b && c < 0.5 && 0.5 < d && d - c < b - a);
        assert_eq!(interval(&[]), [0.0, 0.0]);
    }
}
