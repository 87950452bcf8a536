//! What a summariser is given, what it answers, and how it fails.

use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::policy::Template;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::ViewEntry;

/// The time a model is given for a token: 20 tokens a second, which a model on a machine of one's own still reaches. A fixed
/// time is too short for a long summary, and keeps everybody waiting for a short one.
pub const TOKEN_TIME: Millis = Millis(50);
/// Nobody waits longer for a text: an hour.
const WRITING_MAX: Millis = Millis(3_600_000);

/// What writing up to `most` tokens may take.
pub(crate) fn writing_time(per_token: Millis, most: Tokens) -> Millis {
    Millis(per_token.0.saturating_mul(i64::try_from(most.0).unwrap_or(i64::MAX)).min(WRITING_MAX.0))
}

/// What is to be summarised: a contiguous range of a session.
#[derive(Clone)]
pub struct Material<'a> {
    /// The first position of the range.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// What was said there, in order; none where only summaries are to be condensed.
    pub entries: Vec<&'a ViewEntry>,
    /// The texts of what is in blobs.
    pub bodies: &'a dyn Bodies,
    /// Summaries of parts of the range, in order.
    pub earlier: Vec<Earlier<'a>>,
}

/// A summary that goes into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier<'a> {
    /// The position of its event.
    pub at: Seq,
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// Its level.
    pub level: u32,
    /// What it says.
    pub text: &'a str,
    /// Whether some other program wrote it and nothing checked it.
    pub unchecked: bool,
}

/// What a summary should be.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// Its parts.
    pub template: &'a Template,
    /// Target, in tokens.
    pub target: Tokens,
    /// Never more.
    pub most: Tokens,
    /// What it should look at most. Steers what is chosen; no part of what is summarised.
    pub focus: Option<&'a str>,
    /// How much of it.
    pub detail: Detail,
}

/// Something that writes summaries and can fail: a model, a command, whatever a caller brings.
///
/// It is called on a thread of its own and may block; its time limit is its own business.
pub trait Summarise: Send + Sync {
    /// What it is called in the record: a model's name, a program's.
    fn name(&self) -> String;
    /// How many tokens it can be given, answer included; none where it does not say.
    fn window(&self) -> Option<Tokens>;
    /// Writes a text. `progress` is told how many bytes have come so far; it answers whether to go on.
    ///
    /// # Errors
    /// See [`SummaryFailure`].
    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, SummaryFailure>;
}

/// What a summariser is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryTask {
    /// What it is told to do.
    pub system: String,
    /// What it is to summarise, framed so that nothing in it is taken for an order.
    pub prompt: String,
    /// Maximum it may write, in tokens.
    pub most: Tokens,
}

/// What it wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryText {
    /// The text.
    pub text: String,
    /// What that cost.
    pub spent: Option<SummarySpend>,
    /// Why there is no more of it, where it failed after it had cost something.
    pub failure: Option<SummaryFailure>,
}

/// Why a summariser gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFailure {
    /// It took too long.
    #[error("it took too long")]
    TimedOut,
    /// It answered nothing.
    #[error("it answered nothing")]
    Empty,
    /// It was given more than it takes.
    #[error("it was given more than it takes")]
    TooLarge,
    /// It does not let us in. Trying again does not help.
    #[error("it does not let us in: {0}")]
    Unauthorised(String),
    /// Too many calls; where it says so, after how many seconds to try again.
    #[error("too many calls{}", .0.map(|seconds| format!("; again after {seconds} seconds")).unwrap_or_default())]
    Limited(Option<u64>),
    /// It failed on its side, with this status.
    #[error("it failed with status {0}")]
    Server(u16),
    /// It would not: the request was wrong, or it declined.
    #[error("it refused: {0}")]
    Refused(String),
    /// It could not be reached or started.
    #[error("it could not be reached: {0}")]
    Unreachable(String),
    /// Its answer broke off or made no sense.
    #[error("its answer is broken: {0}")]
    Broken(String),
    /// It reached the limit of what it may write.
    #[error("it reached its limit of output before the end")]
    CutOff,
    /// It wrote more than twice its maximum, and was stopped.
    #[error("it wrote more than twice its maximum, and was stopped")]
    TooLong,
    /// Whoever asked stopped it.
    #[error("it was stopped")]
    Stopped,
}
