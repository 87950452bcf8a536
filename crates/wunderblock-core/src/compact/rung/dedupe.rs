//! Ladder rung that shows each text once: earlier copies become references to the newest, which is shown verbatim.

use crate::compact::guard::RungInput;
use crate::lane::pair::Exchange;
use crate::lane::trim::treatment;
use crate::record::budget::Treatment;
use crate::record::decision::{PartForm, PartPosition};
use crate::record::message::{Body, Part};
use crate::units::Bytes;
use std::collections::{BTreeMap, HashMap};

/// Returns references for the repeated texts of at least `min` bytes. The newest copy stays verbatim, because the
/// work continues from it.
pub(in crate::compact) fn dedupe(input: RungInput<'_>, min: Bytes) -> BTreeMap<PartPosition, PartForm> {
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
        let mut places: Vec<PartPosition> = crate::planning::presentation::parts(exchange, view).collect();
        places.sort_unstable();
        for at in places
            .into_iter()
            .rev()
            .filter(|at| crate::planning::presentation::shown(*at, trim, view).is_none())
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
