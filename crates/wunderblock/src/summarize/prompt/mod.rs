//! What a summariser is told: the range as a text in a fence, and what to make of it.
//!
//! The range is written as text and not as messages, so that a model condenses the conversation instead of going on with
//! it. The fence bears a digest of what it holds: what stands between cannot close it. Secrets go before anything is cut,
//! so that none is cut into something no rule knows. Thinking is left out.
//!
//! What does not fit is shortened, results of tools first and the middle first, and then left out from the middle with a
//! mark; what the user said stays longest.

mod put;
mod record;
mod shrink;
mod words;

pub use put::Put;

use crate::summarize::task::{Brief, Material, SummaryTask};
use wunderblock_core::policy::SummaryFormat;
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::Tokens;

/// Around the two messages of a task, whatever the dialect adds.
const FRAME: Tokens = Tokens(32);

/// The task of summarising a range; `None` if not even its frame fits the limit.
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
    // Any tag is as long as any other.
    let bare = words.task("", &words::tag(""));
    let frame = costs.text(&bare.system).tokens + costs.text(&bare.prompt).tokens + FRAME;
    let mut room = put.limit.saturating_sub(frame);
    // Texts cost together about what they cost apart, not exactly.
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

/// What a task takes up.
#[must_use]
pub fn size(task: &SummaryTask, costs: &dyn CostModel) -> Tokens {
    costs.text(&task.system).tokens + costs.text(&task.prompt).tokens + FRAME
}
