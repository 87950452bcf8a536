//! What a rendering reads: the handles of bodies, and the positions of tallies.

use crate::id::Handle;
use crate::lane::pair::arrange;
use crate::lane::trim::{self, treatment};
use crate::lane::view::View;
use crate::planning::presentation::Presentation;
use crate::record::budget::Treatment;
use crate::record::decision::Trim;
use crate::record::message::{Body, Part};
use crate::units::Seq;
use std::collections::BTreeSet;

/// Returns the handles of the bodies that a rendering reads.
#[must_use]
pub fn handles(view: &View, trim: &Trim) -> BTreeSet<Handle> {
    let blocks = view.lane().preamble().into_iter().flat_map(|preamble| preamble.shown());
    let mut handles: BTreeSet<Handle> = blocks.filter_map(Body::handle).collect();
    handles.extend(trim.nodes.iter().filter_map(|placed| view.node(placed.at)?.text.handle()));
    handles.extend(trim.rules.blobs());
    let arrangement = arrange(view);
    let presentation = Presentation::new(&arrangement, trim, view);
    for exchange in &arrangement.exchanges {
        let treatment = treatment(exchange, trim, view);
        if treatment == Treatment::LeftOut {
            continue;
        }
        for entry in exchange.members.iter().filter_map(|seq| view.entry(*seq)) {
            for (index, part) in entry.message.parts.iter().enumerate() {
                let form = presentation.of((entry.seq, index), part, treatment, None);
                let bodies = form.shown(part).into_iter().flat_map(Part::bodies);
                handles.extend(bodies.filter_map(Body::handle));
            }
        }
    }
    handles
}

/// Returns the positions whose tallies [`crate::rendering::report::report`] asks for.
#[must_use]
pub fn edges(view: &View, trim: &Trim) -> Vec<Seq> {
    let arrangement = arrange(view);
    let shown =
        arrangement.exchanges.iter().filter(|exchange| treatment(exchange, trim, view) != Treatment::LeftOut);
    let shown: BTreeSet<Seq> = shown.flat_map(|exchange| exchange.members.iter().copied()).collect();
    let runs = trim::left_out(shown.into_iter().collect(), trim, view);
    let mut edges: Vec<Seq> = runs.into_iter().flat_map(|(from, to, _)| [from.prev(), to]).collect();
    edges.dedup();
    edges
}
