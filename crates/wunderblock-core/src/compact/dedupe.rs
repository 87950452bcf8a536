//! Ladder rung that shows each text once: earlier copies become references to the newest, which is shown verbatim.

use super::guard::RungInput;
use crate::budget::Treatment;
use crate::decision::{PartForm, PartPosition};
use crate::message::{Body, Part};
use crate::pair::Exchange;
use crate::trim::treatment;
use crate::units::Bytes;
use std::collections::{BTreeMap, HashMap};

/// Returns references for the repeated texts of at least `min` bytes. The newest copy stays verbatim, because the
/// work continues from it.
pub(super) fn dedupe(input: RungInput<'_>, min: Bytes) -> BTreeMap<PartPosition, PartForm> {
    let RungInput { ask, guard, arrangement } = input;
    let view = ask.view;
    let trim = view.trim();
    let mut exchanges: Vec<&Exchange> = arrangement
        .exchanges
        .iter()
        .filter(|exchange| treatment(exchange, trim, view) == Treatment::Verbatim)
        .collect();
    // The search begins with the newest exchange, so that the first copy found is the one that stays.
    exchanges.sort_by_key(|exchange| std::cmp::Reverse(exchange.last));
    let mut newest: HashMap<Vec<&Body>, PartPosition> = HashMap::new();
    let mut forms = BTreeMap::new();
    for exchange in exchanges {
        let mut places: Vec<PartPosition> = crate::presentation::parts(exchange, view).collect();
        places.sort_unstable();
        for at in places.into_iter().rev().filter(|at| crate::presentation::shown(*at, trim, view).is_none())
        {
            let Some(part) = view.part(at) else { continue };
            let bodies = part.bodies();
            if !is_plain(part) || bodies.iter().map(|body| body.bytes()).sum::<Bytes>() < min {
                continue;
            }
            match newest.get(&bodies) {
                Some(place) if guard.is_free(exchange) => {
                    forms.insert(at, PartForm::Same(*place));
                }
                Some(_) => {}
                None => {
                    newest.insert(bodies, at);
                }
            }
        }
    }
    forms
}

/// Returns whether a part consists of text only.
fn is_plain(part: &Part) -> bool {
    match part {
        Part::Text { .. } => true,
        Part::ToolResult { content, .. } => content.iter().all(|inner| matches!(inner, Part::Text { .. })),
        _ => false,
    }
}
