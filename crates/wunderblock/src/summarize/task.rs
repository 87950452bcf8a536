//! Input, output and failures of a summariser.

use crate::redact::Redactor;
use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::policy::Template;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::ViewEntry;

/// Time allowed for each token written, which corresponds to 20 tokens a second, a rate that a model on the user's
/// own machine can still reach. A fixed time limit is too short for a long summary, and makes callers wait too long
/// for a short one.
pub const TOKEN_TIME: Millis = Millis(50);
/// Maximum time allowed for writing one text: an hour.
const WRITING_MAX: Millis = Millis(3_600_000);

/// Returns the time allowed for writing up to `most` tokens.
pub(crate) fn writing_time(per_token: Millis, most: Tokens) -> Millis {
    Millis(per_token.0.saturating_mul(i64::try_from(most.0).unwrap_or(i64::MAX)).min(WRITING_MAX.0))
}

/// A contiguous range of a session that is to be summarised.
#[derive(Clone)]
pub struct Material<'a> {
    /// First position of the range.
    pub from: Seq,
    /// Last position of the range.
    pub to: Seq,
    /// Entries of the range, in order; empty if only summaries are to be condensed.
    pub entries: Vec<&'a ViewEntry>,
    /// Texts of the bodies that are stored as blobs.
    pub bodies: &'a dyn Bodies,
    /// Summaries of parts of the range, in order.
    pub earlier: Vec<Earlier<'a>>,
    /// Rules for the secrets that no summary contains.
    pub redactor: &'a Redactor,
}

/// An existing summary that becomes part of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier<'a> {
    /// Position of its event.
    pub at: Seq,
    /// First position that the summary replaces.
    pub from: Seq,
    /// Last position that the summary replaces.
    pub to: Seq,
    /// Level of its node.
    pub level: u32,
    /// Text of the summary.
    pub text: &'a str,
    /// Whether another program wrote the summary and nothing has checked it.
    pub unchecked: bool,
}

/// Requirements for a summary.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// Parts of the summary.
    pub template: &'a Template,
    /// Target length, in tokens.
    pub target: Tokens,
    /// Maximum length, in tokens.
    pub most: Tokens,
    /// Topic to focus on, in the caller's words. The topic steers the selection but is not part of the summarised
    /// content.
    pub focus: Option<&'a str>,
    /// How detailed the summary is.
    pub detail: Detail,
}

/// Something that writes summaries and can fail: a model, a command, or a caller's own implementation.
///
/// Calls run on a separate thread and may block. Each implementation enforces its own time limit.
pub trait Summarise: Send + Sync {
    /// Name under which the summaries are recorded, which is the name of a model or a program.
    fn name(&self) -> String;
    /// Maximum number of tokens in a call, including both prompt and answer; `None` if unknown.
    fn window(&self) -> Option<Tokens>;
    /// Writes a text. Calls `progress` with the number of bytes received, and stops if `progress` returns false.
    ///
    /// # Errors
    /// See [`SummaryFailure`].
    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, SummaryFailure>;
}

/// Instructions and content that a summariser receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryTask {
    /// Instructions to the summariser.
    pub system: String,
    /// Content to summarise, framed so that no sentence in it is taken for an instruction.
    pub prompt: String,
    /// Maximum length of the summary, in tokens.
    pub most: Tokens,
}

/// Answer of a summariser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryText {
    /// Text of the summary.
    pub text: String,
    /// Cost of the call; `None` if unknown.
    pub spent: Option<SummarySpend>,
    /// Failure of a call that nevertheless cost something. A failure without costs is returned as an error instead.
    pub failure: Option<SummaryFailure>,
}

/// Reason why a summariser returned no usable text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFailure {
    /// The call took too long.
    #[error("it took too long")]
    TimedOut,
    /// The answer was empty.
    #[error("it answered nothing")]
    Empty,
    /// The prompt exceeded the limits of the summariser.
    #[error("it was given more than it takes")]
    TooLarge,
    /// The provider denied access, for example because of an invalid key. Retrying does not help.
    #[error("it does not let us in: {0}")]
    Unauthorised(String),
    /// Too many calls. Holds the number of seconds to wait before a retry, if the provider stated it.
    #[error("too many calls{}", .0.map(|seconds| format!("; again after {seconds} seconds")).unwrap_or_default())]
    Limited(Option<u64>),
    /// The provider failed, with this status.
    #[error("it failed with status {0}")]
    Server(u16),
    /// The summariser refused: the request was invalid, or the model declined.
    #[error("it refused: {0}")]
    Refused(String),
    /// The summariser could not be reached or started.
    #[error("it could not be reached: {0}")]
    Unreachable(String),
    /// The answer broke off or could not be understood.
    #[error("its answer is broken: {0}")]
    Broken(String),
    /// The answer reached its output limit.
    #[error("it reached its limit of output before the end")]
    CutOff,
    /// The answer exceeded twice its maximum and was stopped.
    #[error("it wrote more than twice its maximum, and was stopped")]
    TooLong,
    /// The caller stopped the call.
    #[error("it was stopped")]
    Stopped,
}
