//! Fits weights: small whole numbers, by coordinate ascent on a smooth objective.
//!
//! The objective is the share of a softmax over the best candidates of a question that falls on its evidence, as its
//! logarithm: it rewards evidence that moves up, whether or not it passes the tenth place. A weight that gains less
//! than [`LEAST`] for each of its steps stays smaller, which keeps small sets from being learned by heart.

use super::searched::{Ranking, Searched};
use super::sets::Record;
use crate::program::ChoreResult;
use std::fmt::Write as _;
use wunderblock_index::{Arm, ArmValues, Weights};

/// Candidates of a question.
const CANDIDATES: usize = 300;
/// Score that corresponds to a factor e in the softmax.
const SCALE: f64 = 8_000.0;
/// Minimum gain of the objective, in nats a question, for each step of a weight away from zero.
const LEAST: f64 = 0.000_3;
const MAX_WEIGHT: i16 = 40;
const STEPS: [i16; 6] = [-4, -2, -1, 1, 2, 4];

/// Candidates of a question: the arms of each, and whether it is evidence.
struct Candidates(Vec<(ArmValues, bool)>);

/// Returns the fitted weights, with those from which the fit began.
pub(super) fn fit(records: &[Record], by: &Ranking, arms: &[Arm]) -> ChoreResult<String> {
    let mut questions = Vec::new();
    let mut is_chat = false;
    for record in records {
        is_chat |= record.turns.iter().any(|turn| !["user", "assistant"].contains(&turn.speaker.as_str()));
        let searched = Searched::new(record)?;
        for asked in &record.questions {
            let hits = searched.rank(asked, by, CANDIDATES)?;
            let is_evidence =
                |seq: u64| usize::try_from(seq).is_ok_and(|turn| asked.evidence.contains(&turn));
            questions.push(Candidates(hits.iter().map(|hit| (hit.arms, is_evidence(hit.doc.seq))).collect()));
        }
    }
    let from = if is_chat { by.profiles.chat } else { by.profiles.agent };
    let mut weights = from;
    let mut best = objective(&weights, &questions);
    let mut out = format!("{} questions, {best:.4}\n\n", questions.len());
    loop {
        let before = best;
        for arm in arms.iter().copied() {
            for step in STEPS {
                let mut other = weights;
                other.set(arm, (weights.of(arm) + step).clamp(-MAX_WEIGHT, MAX_WEIGHT));
                let value = objective(&other, &questions);
                if value > best {
                    (weights, best) = (other, value);
                }
            }
        }
        if best - before < 1e-6 {
            break;
        }
    }
    let _ = writeln!(out, "{best:.4} with {:?}\n\n| arm | before | fitted |\n|---|--:|--:|", weights.0);
    for arm in Arm::ALL {
        let _ = writeln!(out, "| {} | {} | {} |", arm.name(), from.of(arm), weights.of(arm));
    }
    Ok(out)
}

fn objective(weights: &Weights, questions: &[Candidates]) -> f64 {
    let share = |Candidates(all): &Candidates| {
        let scores: Vec<f64> = all.iter().map(|(arms, _)| weights.score(arms) as f64 / SCALE).collect();
        let top = scores.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - top).exp()).sum();
        // Each piece of evidence competes with everything else.
        let own = scores.iter().zip(all).filter(|(_, (_, is_evidence))| *is_evidence);
        let own: Vec<f64> = own.map(|(score, _)| (score - top).exp()).collect();
        let others = sum - own.iter().sum::<f64>();
        let of = |own: &f64| (own / (own + others)).max(1e-9).ln();
        own.iter().map(of).sum::<f64>() / own.len().max(1) as f64
    };
    let steps: i32 = weights.0.iter().map(|weight| i32::from(weight.abs())).sum();
    questions.iter().map(share).sum::<f64>() / questions.len().max(1) as f64 - LEAST * f64::from(steps)
}
