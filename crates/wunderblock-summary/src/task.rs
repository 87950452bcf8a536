//! Input, output and failures of a summariser.

use crate::call::CallFailure;
use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::policy::Template;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::{SummaryNode, ViewEntry};
use wunderblock_redact::Redactor;

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
    /// Items that the text consists of, as [`Extract`](crate::Extract) has them, if they are known.
    pub items: Option<&'a str>,
    /// Whether another program wrote the summary and nothing has checked it.
    pub unchecked: bool,
}

impl<'a> Earlier<'a> {
    /// Returns a summary of a view; `None` if its text was erased.
    #[must_use]
    pub fn of(node: &'a SummaryNode, bodies: &'a dyn Bodies) -> Option<Self> {
        Some(Self {
            at: node.at,
            from: node.from,
            to: node.to,
            level: node.level,
            text: bodies.of(&node.text)?,
            items: node.items.as_ref().and_then(|items| bodies.of(items)),
            unchecked: node.unchecked.is_some(),
        })
    }
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
    /// See [`CallFailure`].
    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure>;
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
    pub failure: Option<CallFailure>,
}
