//! Evaluation of recall: questions whose evidence is known are asked, and the hits are compared with the evidence.
//!
//! ```text
//! files ─ locomo ─┐                                      ┌─ recall at hits and tokens, MRR, nDCG, intervals
//!                 ├─► EvalSet ─ fill ─► ledger ─ ask ─► answers ─ measures ─► EvalReport
//! sessions ─ own ─┘   (own sessions lie in the ledger already)  by category
//! ```
//! The questions of a conversation are asked of its own sessions alone, in the way in which a person asks them: by
//! [`crate::Recall::search`].

mod ask;
mod locomo;
mod measures;
mod own;
mod random;
mod set;

pub use ask::{EvalAsked, EvalReport};
pub use measures::{EVAL_HITS, EVAL_TOKENS, EvalAnswer, EvalMeasures, interval};
pub use own::OwnQuestions;
pub use set::{EvalConversation, EvalQuestion, EvalSession, EvalSet, EvalTurn};
