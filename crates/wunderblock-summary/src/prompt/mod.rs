//! Prompt for a summariser, consisting of the range as fenced text and the instructions.
//!
//! The range is written as one text instead of messages, so that a model condenses the conversation rather than
//! continuing it. The fence carries a digest of its content, so the content cannot close the fence. Secrets are
//! removed before anything is cut, because no rule would detect a secret that was cut. Thinking is left out.
//!
//! Content that does not fit is shortened: tool results before other records, and the middle of the range before its
//! ends. If shortening is not enough, records are left out from the middle outwards and replaced by a mark. User
//! messages are kept the longest.

mod put;
mod record;
mod shrink;
mod words;

pub use put::Put;

use crate::task::{Brief, Material, SummaryTask};
use wunderblock_core::policy::SummaryFormat;
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::Tokens;

/// Tokens that a dialect may add around the two messages of a prompt.
const FRAME: Tokens = Tokens(32);

/// Returns the prompt for summarising a range, or `None` if no part of the range fits the limit.
#[must_use]
pub fn task(
    material: &Material<'_>,
    brief: &Brief<'_>,
    put: &Put<'_>,
    costs: &dyn CostModel,
) -> Option<SummaryTask> {
    let mut records = record::records(material, put.redactor);
    if brief.template.form == SummaryFormat::Log {
        record::tell_times(&mut records, material);
    }
    let words = words::PromptParts { material, brief, put };
    // All tags have the same length, so the tag of an empty text serves to measure the frame.
    let bare = words.task("", &words::tag(""));
    let frame = costs.text(&bare.system).tokens + costs.text(&bare.prompt).tokens + FRAME;
    let mut room = put.limit.saturating_sub(frame);
    // The number of tokens in a whole prompt differs slightly from the sum of its parts, so retry with less room.
    for _ in 0..4 {
        let content = shrink::fit(&records, room, costs)?;
        let task = words.task(&content, &words::tag(&content));
        let cost = costs.text(&task.system).tokens + costs.text(&task.prompt).tokens + FRAME;
        if cost <= put.limit {
            return Some(task);
        }
        let over = cost.saturating_sub(put.limit);
        room = room.saturating_sub(over + over);
    }
    None
}

/// Returns the number of tokens in a prompt, including the frame.
#[must_use]
pub fn size(task: &SummaryTask, costs: &dyn CostModel) -> Tokens {
    costs.text(&task.system).tokens + costs.text(&task.prompt).tokens + FRAME
}
