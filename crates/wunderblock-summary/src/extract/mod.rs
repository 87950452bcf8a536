//! Mechanical summaries, the fallback of every summariser. Mechanical summaries need no model, cannot fail, and state
//! nothing that their range does not contain.
//!
//! ```text
//! Material ─ glean ─► Found ─ pick ─► items of each kind ─ fit ─► those there is room for ─ form ─► text
//!        └─ earlier summaries ─ condense ──┘
//! ```
//! Words written by a person or a model are in quotation marks or after `>`, and commands and paths are in backticks.
//! Each line ends with the position of its source, in the form `#123`. A number of occurrences is written in the form
//! `×12`.

mod calls;
mod delegate;
mod glean;
mod language;
mod notable;
mod read;
#[cfg(test)]
mod tests;
mod work;
mod writing;

pub use calls::act::{changes_files, files_touched};
pub use calls::todo::{follow, plan_call, todo_call};
pub use delegate::delegates_at_work;
pub(super) use glean::Found;
pub(super) use language::cue::Cue;
pub(super) use language::plain::{restored, without_colour};
pub use language::words::each_word;
pub(super) use language::words::is_wide;
pub use notable::notable;
pub use notable::{Notable, Noted};
pub use read::ReadMaterial;
pub use work::work;
pub(super) use writing::demand::{absent, demands};
pub(super) use writing::form::heading;
pub(super) use writing::log::DATE;
pub use writing::log::stamp;

use crate::task::Brief;
use writing::demand::Demand;
use writing::fit::Fit;
use writing::form::SummaryForm;
use writing::item::SummaryItem;
use wunderblock_core::compact::Detail;
use wunderblock_core::policy::Fill;
use wunderblock_core::ports::CostModel;

/// A summary that was written without a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extract {
    /// Text of the summary.
    pub text: String,
    /// Items that the text consists of, as JSON, for a summary of summaries; `None` for a catalogue.
    pub items: Option<String>,
}

/// Returns a summary of a range. The summary has at most `brief.most` tokens by the cost model, and about
/// `brief.target` tokens if the range has enough content.
///
/// The same input gives the same text. Runs in time linear in the input: only the beginning, the end and the lines
/// that report an error are read from a very long text. The summary contains no secret that [`wunderblock_redact`] finds.
/// If not even the headings of the template fit, the summary has fewer parts, and if nothing fits, the summary is
/// empty.
#[must_use]
pub fn extract(read: &ReadMaterial<'_>, brief: &Brief<'_>, costs: &dyn CostModel) -> Extract {
    let ReadMaterial { material, found } = read;
    if brief.detail == Detail::Catalogue {
        return Extract { text: writing::catalogue::write(read, brief, costs), items: None };
    }
    let form = SummaryForm::new(brief).timed(material);
    let mut items = writing::pick::items(found, &form, brief.focus);
    writing::condense::merge(&mut items, material, found, &form);
    // Required content may have been cut. Adding the missing content can push out other required content, so the loop
    // checks again.
    let demanded = demands(found, material, brief);
    let mut written = Fit::new(brief, costs, &form).write(&items);
    for _ in 0..ROUNDS {
        let missing = absent(&written.text, &demanded);
        if missing.is_empty() {
            break;
        }
        for demand in missing {
            insist(&mut items, demand, &form);
        }
        written = Fit::new(brief, costs, &form).write(&items);
    }
    Extract { text: written.text, items: serde_json::to_string(&written.items).ok() }
}

/// Maximum number of rounds in which missing required content is added.
const ROUNDS: usize = 4;

/// Marks the item that meets a demand as required. If there is no such item, adds the name or the words as an item.
fn insist(items: &mut Vec<SummaryItem>, demand: &Demand, form: &SummaryForm) {
    let at = form.place_of(demand.fill).unwrap_or(Fill::Current);
    if demand.is_name() {
        let name = format!("`{}`", demand.text);
        let whole =
            items.iter_mut().find(|item| item.fill == demand.fill && !item.must && item.is_name(&name));
        match whole.filter(|_| form.has(demand.fill)) {
            Some(item) => item.must = true,
            None => items.push(SummaryItem::must(at, demand.text.clone(), demand.at)),
        }
        return;
    }
    let says = |item: &&mut SummaryItem| {
        form.has(item.fill) && item.refs.contains(&demand.at) && item.quotes(&demand.text)
    };
    match items.iter_mut().find(says) {
        Some(item) => item.must = true,
        None => {
            let quote = language::plain::line(&demand.text, form.marks);
            let item = SummaryItem::quote(at, "", quote, demand.at, i64::MAX / 2);
            items.push(SummaryItem { must: true, ..item });
        }
    }
}
