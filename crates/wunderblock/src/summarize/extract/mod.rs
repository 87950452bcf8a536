//! The floor: a summary made by mechanical means alone. It needs no model, cannot fail, and says nothing that does not
//! stand in what it summarises.
//!
//! ```text
//! Material ─ glean ─► Found ─ pick ─► items of each kind ─ fit ─► those there is room for ─ form ─► text
//!        └─ earlier summaries ─ condense ──┘
//! ```
//! Everything a person or a model said stands in quotation marks or behind `>`; commands and paths stand in backticks.
//! Each line ends with the position it came from, `#123`. How often something happened is written `×12`.

mod act;
mod catalogue;
mod change;
mod check;
mod condense;
mod cue;
mod decision;
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
mod read;
mod shell;
mod skill;
#[cfg(test)]
mod tests;
mod todo;
mod trouble;
mod words;
mod work;

pub(crate) use act::files_touched;
pub(super) use cue::Cue;
pub(super) use demand::{absent, demands};
pub(super) use form::heading;
pub(super) use glean::Found;
pub(super) use log::DATE;
pub(crate) use log::stamp;
pub(crate) use notable::notable;
pub use notable::{Notable, Noted};
pub(super) use plain::{restored, without_colour};
pub use read::ReadMaterial;
pub(crate) use todo::{follow, todo_call};
pub(crate) use words::each_word;
pub(super) use words::is_wide;
pub(crate) use work::work;

use crate::summarize::task::Brief;
use demand::Demand;
use fit::Fit;
use form::SummaryForm;
use item::SummaryItem;
use wunderblock_core::compact::Detail;
use wunderblock_core::policy::Fill;
use wunderblock_core::ports::CostModel;

/// A summary of a range of at most `brief.most` tokens by the cost model; about `brief.target`, if the material has enough to say.
///
/// The same input gives the same text. Takes time linear in the input; of a very long text it reads the beginning, the end
/// and the lines that report an error. Secrets that [`crate::redact`] finds are not in it. Where not even the headings of
/// the template fit, it has fewer parts; where nothing fits, it is empty.
#[must_use]
pub fn extract(read: &ReadMaterial<'_>, brief: &Brief<'_>, costs: &dyn CostModel) -> String {
    let ReadMaterial { material, found } = read;
    if brief.detail == Detail::Catalogue {
        return catalogue::write(read, brief, costs);
    }
    let form = SummaryForm::new(brief).timed(material);
    let mut items = pick::items(found, &form, brief.focus);
    condense::merge(&mut items, material, found, &form);
    // What has to be there may be in what was cut away; and with it there, something else may have to go.
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

/// So often what is missing is put before what is not.
const ROUNDS: usize = 4;

/// Puts the item that says it first; without one, or where it would be cut, a name alone, or the words.
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
