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

mod act;
mod catalogue;
mod change;
mod check;
mod condense;
mod cue;
mod decision;
mod delegate;
mod demand;
mod files;
mod fit;
mod form;
mod glean;
mod item;
mod log;
mod names;
mod notable;
mod outcome;
mod pick;
mod plain;
mod process;
mod read;
mod shell;
mod skill;
#[cfg(test)]
mod tests;
mod todo;
mod told;
mod trouble;
mod words;
mod work;

pub use act::{changes_files, files_touched};
pub(super) use cue::Cue;
pub use delegate::delegates_at_work;
pub(super) use demand::{absent, demands};
pub(super) use form::heading;
pub(super) use glean::Found;
pub(super) use log::DATE;
pub use log::stamp;
pub use notable::notable;
pub use notable::{Notable, Noted};
pub(super) use plain::{restored, without_colour};
pub use read::ReadMaterial;
pub use todo::{follow, plan_call, todo_call};
pub use words::each_word;
pub(super) use words::is_wide;
pub use work::work;

use crate::task::Brief;
use demand::Demand;
use fit::Fit;
use form::SummaryForm;
use item::SummaryItem;
use wunderblock_core::compact::Detail;
use wunderblock_core::policy::Fill;
use wunderblock_core::ports::CostModel;

/// Returns a summary of a range. The summary has at most `brief.most` tokens by the cost model, and about
/// `brief.target` tokens if the range has enough content.
///
/// The same input gives the same text. Runs in time linear in the input: only the beginning, the end and the lines
/// that report an error are read from a very long text. The summary contains no secret that [`wunderblock_redact`] finds.
/// If not even the headings of the template fit, the summary has fewer parts, and if nothing fits, the summary is
/// empty.
#[must_use]
pub fn extract(read: &ReadMaterial<'_>, brief: &Brief<'_>, costs: &dyn CostModel) -> String {
    let ReadMaterial { material, found } = read;
    if brief.detail == Detail::Catalogue {
        return catalogue::write(read, brief, costs);
    }
    let form = SummaryForm::new(brief).timed(material);
    let mut items = pick::items(found, &form, brief.focus);
    condense::merge(&mut items, material, found, &form);
    // Required content may have been cut. Adding the missing content can push out other required content, so the loop
    // checks again.
    let demanded = demands(found, material, brief);
    let mut text = Fit::new(brief, costs, &form).write(&items);
    for _ in 0..ROUNDS {
        let missing = absent(&text, &demanded);
        if missing.is_empty() {
            break;
        }
        for demand in missing {
            insist(&mut items, demand, &form);
        }
        text = Fit::new(brief, costs, &form).write(&items);
    }
    text
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
            let quote = plain::line(&demand.text, form.marks);
            let item = SummaryItem::quote(at, "", quote, demand.at, i64::MAX / 2);
            items.push(SummaryItem { must: true, ..item });
        }
    }
}
