//! Texts of the operator that a session repeats: system prompts and developer messages that an agent writes again,
//! word for word or in another version. A lane shows each of them once.
//!
//! [`restate`] decides, and the lane's preamble records the decision. A record applies only as long as the text that
//! stands in for another can be shown. Between steps, only texts that no request has shown are set aside.

use crate::form::stub::{Stubbed, grouped};
use crate::lane::view::{View, ViewEntry};
use crate::ports::Bodies;
use crate::record::decision::PartPosition;
use crate::record::message::{Body, MessageOrigin, Part, Role};
use crate::record::preamble::Restated;
use crate::units::{Bytes, Seq};
use std::collections::{BTreeMap, HashSet};

/// Minimum length of a copy that is replaced by a reference, and of texts that are compared line by line, in bytes.
/// A shorter text costs little, and as a reference it would hardly be shorter.
const MIN: Bytes = Bytes(2_000);

/// A text of the operator that a request shows.
struct OperatorText<'v> {
    at: PartPosition,
    part: &'v Part,
    /// Name that the record gives the text; `None` if the message has other parts.
    name: Option<&'v MessageOrigin>,
    /// Position at which the operator said the text most recently.
    said: Seq,
}

/// Decides which texts of the operator are set aside. `rebuilds` says that the lane's beginning changes anyway.
///
/// `bodies` must have the texts of [`compared`].
#[must_use]
pub fn restate(view: &View, bodies: &dyn Bodies, rebuilds: bool) -> Vec<Restated> {
    let through = view.lane().built.filter(|_| !rebuilds).map_or(Seq::START, |(_, through)| through);
    let mut shown: Vec<OperatorText<'_>> = Vec::new();
    let mut restated: BTreeMap<PartPosition, Restated> = BTreeMap::new();
    for entry in operators(view) {
        for text in texts(entry) {
            let OperatorText { at, part, .. } = text;
            if at.0 <= through {
                match of(view, at) {
                    Some(known) => _ = restated.insert(at, *known),
                    None => shown.push(text),
                }
                continue;
            }
            if let Some(index) = shown.iter().rposition(|other| other.part == part) {
                let since = |other: &OperatorText<'_>, said| other.said > said && other.said != at.0;
                let as_reference =
                    shown.get(index).is_some_and(|same| shown.iter().any(|other| since(other, same.said)));
                if let Some(same) = shown.get_mut(index).filter(|_| !as_reference || bytes(part) >= MIN) {
                    same.said = at.0;
                    restated.insert(at, Restated { at, by: same.at, as_reference });
                    continue;
                }
            }
            let is_older = |other: &&mut OperatorText<'_>| {
                other.at.0 > through && other.at.0 != at.0 && is_version(other, &text, bodies)
            };
            if let Some(older) = shown.iter_mut().find(is_older) {
                for record in restated.values_mut().filter(|record| record.by == older.at) {
                    *record = Restated { by: at, as_reference: false, ..*record };
                }
                restated.insert(older.at, Restated { at: older.at, by: at, as_reference: false });
                *older = text;
            } else {
                shown.push(text);
            }
        }
    }
    restated.into_values().collect()
}

/// Returns the bodies that [`restate`] compares line by line; none if the operator's texts have nothing to compare.
#[must_use]
pub fn compared(view: &View) -> Vec<&Body> {
    let whole = operators(view).flat_map(texts).filter(|text| text.name.is_some() && bytes(text.part) >= MIN);
    let mut bodies: Vec<&Body> = Vec::new();
    for body in whole.flat_map(|text| text.part.bodies()) {
        if !bodies.contains(&body) {
            bodies.push(body);
        }
    }
    if bodies.len() < 2 { Vec::new() } else { bodies }
}

/// Returns the record that sets a text aside, as long as the text that stands in can be shown.
#[must_use]
pub fn of(view: &View, at: PartPosition) -> Option<&Restated> {
    let restated = &view.lane().preamble()?.restated;
    let index = restated.binary_search_by_key(&at, |one| one.at).ok()?;
    restated.get(index).filter(|one| view.part(one.by).is_some() && !view.hidden().contains(&one.by.0))
}

/// Returns the position that shows the text of an entry that is set aside as a whole; `None` if the entry shows
/// something itself.
#[must_use]
pub fn shown_at(view: &View, seq: Seq) -> Option<Seq> {
    let mut by = None;
    for text in texts(view.entry(seq)?) {
        by = Some(of(view, text.at).filter(|one| !one.as_reference)?.by.0);
    }
    by
}

/// Returns the positions of the entries that are set aside as a whole, ascending.
pub(crate) fn aside(view: &View) -> Vec<Seq> {
    let restated = view.lane().preamble().map_or(&[][..], |preamble| &preamble.restated);
    let mut aside: Vec<Seq> = restated.iter().map(|one| one.at.0).collect();
    aside.dedup();
    aside.retain(|seq| shown_at(view, *seq).is_some());
    aside
}

/// Returns the place at which a later version is shown: that of the first version in the view.
pub(crate) fn place(view: &View, seq: Seq) -> Option<Seq> {
    let restated = view.lane().preamble().map_or(&[][..], |preamble| &preamble.restated);
    let mut earlier = restated.iter().filter(|one| one.by.0 == seq && one.at.0 < seq);
    earlier.find(|one| view.part(one.at).is_some()).map(|one| one.at.0)
}

/// Returns the form of a text that is set aside.
pub(crate) fn form(one: &Restated, piece: &Part) -> Stubbed {
    if !one.as_reference {
        return Stubbed::Gone;
    }
    let handle = piece.bodies().into_iter().find_map(Body::handle);
    let handle = handle.map(|handle| format!(" · {handle}")).unwrap_or_default();
    let (bytes, place) = (grouped(bytes(piece).0), one.by.0);
    Stubbed::Part(Part::text(format!(
        "⟨given again here: the text of {bytes} bytes at #{place}, above{handle}⟩"
    )))
}

fn operators(view: &View) -> impl Iterator<Item = &ViewEntry> {
    view.entries().filter(|entry| {
        let message = &entry.message;
        message.role == Role::System && message.standing.is_sendable() && !view.hidden().contains(&entry.seq)
    })
}

fn texts(entry: &ViewEntry) -> impl Iterator<Item = OperatorText<'_>> {
    let message = &entry.message;
    let name = (message.parts.len() == 1).then_some(&message.standing);
    let parts = message.parts.iter().enumerate().filter(|(_, part)| part.speaks());
    parts.map(move |(index, part)| OperatorText { at: (entry.seq, index), part, name, said: entry.seq })
}

fn bytes(part: &Part) -> Bytes {
    part.bodies().into_iter().map(Body::bytes).sum()
}

/// Returns whether two texts are versions of one: their records give them the same name, or half of the longer one's
/// bytes are lines of the other.
fn is_version(older: &OperatorText<'_>, newer: &OperatorText<'_>, bodies: &dyn Bodies) -> bool {
    let (Some(name), Some(other)) = (older.name, newer.name) else { return false };
    if matches!(name, MessageOrigin::Injected(_)) || matches!(other, MessageOrigin::Injected(_)) {
        return name == other;
    }
    let text = |of: &OperatorText<'_>| match of.part {
        Part::Text { text, .. } if text.bytes() >= MIN => bodies.of(text).map(str::to_owned),
        _ => None,
    };
    let (Some(older), Some(newer)) = (text(older), text(newer)) else { return false };
    let lines: HashSet<&str> = older.lines().collect();
    let shared: usize = newer.lines().filter(|line| lines.contains(line)).map(|line| line.len() + 1).sum();
    shared >= older.len().max(newer.len()) / 2
}
