//! Form in which a part is shown: verbatim, as a stub, shortened, as a reference, or not at all.

use crate::form::stub::{self, Stubbed};
use crate::lane::pair::{Arrangement, Exchange};
use crate::lane::restate;
use crate::lane::trim::treatment;
use crate::lane::view::{View, ViewEntry};
use crate::planning::cost;
use crate::ports::{Bodies, CostModel};
use crate::record::budget::Treatment;
use crate::record::decision::{PartForm, PartPosition, Trim};
use crate::record::message::{Body, Message, Part};
use crate::record::reduction::ShownShorter;
use crate::units::{Bytes, Cost, Seq};
use std::borrow::Cow;
use std::collections::HashSet;

/// Placeholder for a reply of the model that has nothing to show.
const PLACEHOLDER: &str = "⟨no output⟩";

/// Forms in which a request shows the parts of a view under a trim.
pub(crate) struct Presentation<'v> {
    view: &'v View,
    trim: &'v Trim,
    /// Parts that are shown verbatim, to which a reference may point. Empty if no part is a reference.
    verbatim: HashSet<PartPosition>,
}

impl<'v> Presentation<'v> {
    pub(crate) fn new(arrangement: &Arrangement, trim: &'v Trim, view: &'v View) -> Self {
        let mut verbatim = HashSet::new();
        if trim.forms.iter().any(|(_, form)| matches!(form, PartForm::Same(_))) {
            let whole = |exchange: &&Exchange| treatment(exchange, trim, view) == Treatment::Verbatim;
            for exchange in arrangement.exchanges.iter().filter(whole) {
                verbatim.extend(parts(exchange, view).filter(|at| shown(*at, trim, view).is_none()));
            }
        }
        Self { view, trim, verbatim }
    }

    /// Returns the form of a part. `gist` is the gist of the call, if the part is a result.
    pub(crate) fn of(
        &self,
        at: PartPosition,
        piece: &Part,
        treatment: Treatment,
        gist: Option<&str>,
    ) -> Stubbed {
        if let Some(one) = restate::of(self.view, at) {
            return restate::form(one, piece);
        }
        match (shown(at, self.trim, self.view), treatment) {
            // A part that is left out or replaced by a placeholder stays that way in an exchange of stubs.
            (form @ Some(PartForm::Gone | PartForm::Placeholder), _) => formed(piece, form, self.view, gist),
            (_, Treatment::Stub) => stub::part(piece, gist),
            (Some(PartForm::Same(place)), _) if self.verbatim.contains(&place) => same(piece, place.0, gist),
            (form, _) => formed(piece, form, self.view, gist),
        }
    }

    /// Returns the record of the shorter text that is shown in place of a part.
    pub(crate) fn shorter(
        &self,
        at: PartPosition,
        piece: &Part,
        treatment: Treatment,
    ) -> Option<ShownShorter> {
        let Some(PartForm::Reduced(event)) = shown(at, self.trim, self.view) else { return None };
        let how = self.view.reductions().how(event).filter(|_| treatment != Treatment::Stub)?.clone();
        let whole = piece.bodies().into_iter().max_by_key(|body| body.bytes());
        let part = u32::try_from(at.1).unwrap_or(u32::MAX);
        Some(ShownShorter { part, how, handle: whole.and_then(Body::handle) })
    }
}

/// Returns the form of a part in an exchange that is shown verbatim: the form in the trim, or else the standing
/// reduction.
pub(crate) fn shown(at: PartPosition, trim: &Trim, view: &View) -> Option<PartForm> {
    trim.form_of(at).or_else(|| view.standing(at).map(PartForm::Reduced))
}

/// Returns a part in a form. In this form, a reference to an equal text becomes a stub.
fn formed(piece: &Part, form: Option<PartForm>, view: &View, gist: Option<&str>) -> Stubbed {
    match form {
        None => Stubbed::Kept,
        Some(PartForm::Gone) => Stubbed::Gone,
        Some(PartForm::Placeholder) => Stubbed::Part(mark()),
        Some(PartForm::Stub | PartForm::Same(_)) => stub::part(piece, gist),
        Some(PartForm::Reduced(event)) => match view.reductions().text(event) {
            Some(text) => replaced(piece, text.clone()),
            None => stub::part(piece, gist),
        },
    }
}

/// Returns the form of a part in a clipped exchange: its form in the trim, with the head and tail of what is longer
/// than the trim's clip allows, as the latest version of rendering shows it.
pub(crate) fn clipped(
    at: PartPosition,
    piece: &Part,
    Priced { trim, view, .. }: Priced<'_>,
    gist: Option<&str>,
    bodies: &dyn Bodies,
) -> Stubbed {
    cut(formed(piece, shown(at, trim, view), view, gist), piece, trim.clip_of(at.0), bodies, u32::MAX)
}

/// Returns a form with the head and tail of what is longer than the number of bytes that `keep` allows per text,
/// as a version of rendering shows it.
pub(crate) fn cut(
    form: Stubbed,
    piece: &Part,
    keep: Option<Bytes>,
    bodies: &dyn Bodies,
    version: u32,
) -> Stubbed {
    let short =
        keep.zip(form.shown(piece)).and_then(|(keep, whole)| stub::clip(whole, keep, bodies, version));
    short.map_or(form, Stubbed::Part)
}

/// Returns the placeholder for an entry that has nothing left to show.
pub(crate) fn mark() -> Part {
    Part::text(PLACEHOLDER)
}

/// Returns the places of an exchange's own parts, and of the results that it shows.
pub(crate) fn parts<'v>(exchange: &'v Exchange, view: &'v View) -> impl Iterator<Item = PartPosition> + 'v {
    let own = exchange.speakers.iter().filter_map(|seq| view.entry(*seq)).flat_map(|entry| {
        let parts = entry.message.parts.iter().enumerate();
        parts
            .filter(|(_, part)| !matches!(part, Part::ToolResult { .. }))
            .map(|(index, _)| (entry.seq, index))
    });
    own.chain(exchange.calls().iter().filter_map(|call| call.result))
}

/// A trim with its view, and the cost of texts.
#[derive(Clone, Copy)]
pub(crate) struct Priced<'a> {
    pub(crate) trim: &'a Trim,
    pub(crate) view: &'a View,
    pub(crate) costs: &'a dyn CostModel,
}

/// Returns the maximum cost of a part in the form that a trim gives it, if its exchange is shown verbatim.
pub(crate) fn cost(at: PartPosition, piece: &Part, priced: Priced<'_>, gist: Option<&str>) -> Cost {
    let Priced { trim, view, costs } = priced;
    if let Some(one) = restate::of(view, at) {
        return cost::stubbed(piece, &restate::form(one, piece), costs);
    }
    let form = shown(at, trim, view);
    let own = cost::stubbed(piece, &formed(piece, form, view, gist), costs);
    let Some(PartForm::Same(place)) = form else { return own };
    // It is known only at the end of all decisions whether the target of a reference is shown, so the larger cost
    // counts.
    let other = cost::stubbed(piece, &same(piece, place.0, gist), costs);
    Cost { tokens: own.tokens.max(other.tokens), bytes: own.bytes.max(other.bytes) }
}

/// Returns a message as it was first sent: shorter if a standing reduction preceded the next reply. A request that
/// another program made earlier held the whole text.
pub(crate) fn sent<'v>(entry: &'v ViewEntry, view: &View) -> Cow<'v, Message> {
    let reply = view.next_reply(entry.seq);
    let stands =
        |index: usize| view.standing((entry.seq, index)).filter(|at| reply.is_none_or(|reply| *at < reply));
    let text = |index: usize| stands(index).and_then(|event| view.reductions().text(event)).cloned();
    let mut message = Cow::Borrowed(&entry.message);
    for (index, piece) in entry.message.parts.iter().enumerate() {
        if let Some(Stubbed::Part(short)) = text(index).map(|text| replaced(piece, text))
            && let Some(part) = message.to_mut().parts.get_mut(index)
        {
            *part = short;
        }
    }
    message
}

/// Returns a reference to the place of an equal text, as a replacement for the text.
fn same(piece: &Part, place: Seq, gist: Option<&str>) -> Stubbed {
    let of = gist.filter(|gist| !gist.is_empty());
    let of = of.map(|gist| format!(" of `{}`", crate::form::fence::plain(gist))).unwrap_or_default();
    let bytes: u64 = piece.bodies().iter().map(|body| body.bytes().0).sum();
    let handle = piece.bodies().into_iter().max_by_key(|body| body.bytes()).and_then(Body::handle);
    let handle = handle.map(|handle| format!(" · {handle}")).unwrap_or_default();
    let line = format!(
        "⟨output{of}: {} bytes, the same as at #{place} in this request{handle}⟩",
        stub::grouped(bytes)
    );
    replaced(piece, line.into())
}

/// Returns a part with one text in place of its texts. Media stay.
fn replaced(piece: &Part, text: Body) -> Stubbed {
    let one = |text: Body| Part::Text { text, extra: None };
    match piece {
        Part::ToolResult { call, content, failed, extra } => {
            let media = content.iter().filter(|inner| matches!(inner, Part::Media { .. })).cloned();
            let content = std::iter::once(one(text)).chain(media).collect();
            Stubbed::Part(Part::ToolResult {
                call: call.clone(),
                content,
                failed: *failed,
                extra: extra.clone(),
            })
        }
        Part::Text { extra, .. } => Stubbed::Part(Part::Text { text, extra: extra.clone() }),
        _ => Stubbed::Kept,
    }
}
