//! What follows from a trim: which exchanges it shows, in which form, and what a view must hold on to.

use crate::budget::{Reason, Treatment};
use crate::decision::{PartForm, PartPosition, Trim};
use crate::message::Part;
use crate::pair::{Arrangement, Exchange, ExchangeKind};
use crate::units::Seq;
use crate::view::{SummaryNode, View};
use std::collections::HashSet;

/// How many left-out exchanges with open calls a view remembers, the newest first. A result that comes later than that
/// is listed as an orphan; without a limit, calls that are never answered would pile up for as long as a session lasts.
pub const HELD_WAITING: usize = 64;

/// Whether an exchange is in a request under a trim, and in which form.
#[must_use]
pub fn treatment(exchange: &Exchange, trim: &Trim, view: &View) -> Treatment {
    if waits(exchange, trim) {
        Treatment::LeftOut
    } else if exchange.speakers.iter().any(|seq| trim.clip_of(*seq).is_some()) {
        Treatment::Clipped
    } else if exchange.last >= trim.stub_before || stays(exchange, trim, view) {
        Treatment::Verbatim
    } else if exchange.last >= trim.drop_before {
        Treatment::Stub
    } else {
        Treatment::LeftOut
    }
}

/// Why a part is not sent although its entry is shown, and its dialect has a form for it.
pub(crate) fn withheld((seq, index): PartPosition, part: &Part, trim: &Trim) -> Option<Reason> {
    if part.is_thinking() && trim.is_unbound(seq) {
        Some(Reason::Unbound)
    } else {
        trim.unsent.binary_search(&(seq, index)).is_ok().then_some(Reason::Unsendable)
    }
}

/// Whether an exchange is not shown before its results are there.
pub(crate) fn waits(exchange: &Exchange, trim: &Trim) -> bool {
    !trim.waiting.is_empty() && exchange.speakers.iter().any(|seq| trim.waiting.contains(seq))
}

/// Whether an exchange stays wherever the frontiers are. A record can hold the words of a kept turn beside results of an
/// exchange: the turn stays, the exchange need not. A pin means everything in the record.
pub(crate) fn stays(exchange: &Exchange, trim: &Trim, view: &View) -> bool {
    exchange.shape == ExchangeKind::System
        || exchange.speakers.iter().any(|seq| trim.keep.binary_search(seq).is_ok())
        || (!view.pinned().is_empty() && exchange.members.iter().any(|seq| view.pinned().contains(seq)))
}

/// Whether a standing rule is quoted from an exchange.
fn is_quoted(exchange: &Exchange, trim: &Trim) -> bool {
    let quotes = &trim.rules.quotes;
    exchange.speakers.iter().any(|seq| quotes.binary_search_by_key(seq, |quote| quote.at.0).is_ok())
}

/// Completes a trim whose frontiers have been set: what a view must hold on to, so that its later requests are those of
/// a view that forgot nothing.
pub(crate) fn settle(trim: &mut Trim, arrangement: &Arrangement, view: &View) {
    let mut waiting = HELD_WAITING;
    let (mut hold, mut left) = (Vec::new(), Vec::new());
    let hidden = arrangement.hidden.iter();
    for exchange in arrangement.exchanges.iter().chain(hidden).rev() {
        let waits = exchange.is_waiting() && waiting > 0;
        if exchange.last >= trim.drop_before || stays(exchange, trim, view) || is_quoted(exchange, trim) {
            hold.extend(exchange.members.iter().copied().filter(|seq| *seq < trim.drop_before));
        } else if waits {
            waiting -= 1;
            hold.extend(&exchange.members);
        } else {
            left.extend(exchange.calls().iter().filter_map(|call| call.result));
        }
    }
    hold.sort_unstable();
    hold.dedup();
    // Beside what goes there is a mark again: it is one with that of what is not shown.
    let holds = |seq: Seq| hold.binary_search(&seq).is_ok();
    trim.silent.retain(|(from, to)| holds(from.prev()) || holds(to.next()));
    trim.hold = hold;
    // What is hidden keeps its results: it may be shown again.
    let loose = arrangement.loose.iter().filter(|(_, reason)| *reason != Reason::Hidden);
    left.extend(loose.map(|(at, _)| *at));
    left.retain(|(seq, _)| trim.needs(*seq));
    left.sort_unstable();
    left.dedup();
    trim.spent = left;
    // An exchange that ends behind the frontier is shown word for word from its beginning on, one that stays wherever it is.
    let is_whole = |exchange: &&Exchange| exchange.last >= trim.stub_before || stays(exchange, trim, view);
    let whole = arrangement.exchanges.iter().filter(is_whole);
    let whole: HashSet<Seq> = whole.flat_map(|exchange| exchange.members.iter().copied()).collect();
    let shown =
        |seq: Seq| seq >= trim.stub_before || whole.contains(&seq) || trim.hold.binary_search(&seq).is_ok();
    let mut forms = std::mem::take(&mut trim.forms);
    // What stands behind the frontier stands by itself. Before it, nobody would look for its event.
    let before = view.standings().filter(|((seq, _), _)| *seq < trim.drop_before);
    let unnamed = before.filter(|(at, _)| forms.binary_search_by_key(at, |(place, _)| *place).is_err());
    let unnamed: Vec<(PartPosition, PartForm)> =
        unnamed.map(|(at, event)| (at, PartForm::Reduced(event))).collect();
    forms.extend(unnamed);
    forms.sort_unstable_by_key(|(at, _)| *at);
    forms.retain(|((seq, _), _)| trim.needs(*seq) && shown(*seq));
    trim.forms = forms;
}

/// The runs of positions before a frontier, without those in `shown`. The first event of a stream opens it; nothing is
/// missing there.
pub(crate) fn runs(mut shown: Vec<Seq>, frontier: Seq) -> Vec<(Seq, Seq)> {
    shown.retain(|seq| *seq < frontier);
    shown.push(frontier);
    shown.sort_unstable();
    let mut runs = Vec::new();
    let mut next = Seq(2);
    for seq in shown {
        if next < seq {
            runs.push((next, seq.prev()));
        }
        next = next.max(seq.next());
    }
    runs
}

/// What stands before the frontier where entries are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GapOrSummary<'v> {
    /// The mark of a run of positions.
    Gap(Seq, Seq),
    /// A summary, before everything from a position on.
    Node(Seq, &'v SummaryNode),
}

impl GapOrSummary<'_> {
    /// Where it stands: before everything from this position on.
    pub(crate) fn key(&self) -> Seq {
        match self {
            Self::Gap(_, to) => *to,
            Self::Node(at, _) => *at,
        }
    }
}

/// What stands before the frontier in place of what is not shown, in order. What a summary stands for has no mark.
pub(crate) fn stands<'a, 'v>(
    exchanges: impl Iterator<Item = &'a Exchange>,
    trim: &Trim,
    view: &'v View,
) -> Vec<GapOrSummary<'v>> {
    let nodes: Vec<&SummaryNode> = trim.nodes.iter().filter_map(|placed| view.node(placed.at)).collect();
    let mut stands: Vec<GapOrSummary<'v>> = Vec::new();
    for (from, to) in marks(exchanges, trim, view) {
        stands.extend(outside((from, to), &nodes, trim).map(|(from, to)| GapOrSummary::Gap(from, to)));
    }
    let place = |node: &SummaryNode| if trim.nodes_last { trim.drop_before.prev() } else { node.from };
    stands.extend(nodes.into_iter().map(|node| GapOrSummary::Node(place(node), node)));
    stands.sort_by_key(GapOrSummary::key);
    stands
}

/// The summaries that stand for some of a run, of all in order.
fn over<'n, 'v>(
    from: Seq,
    to: Seq,
    nodes: &'n [&'v SummaryNode],
) -> impl Iterator<Item = &'v SummaryNode> + use<'n, 'v> {
    let first = nodes.partition_point(|node| node.to < from);
    nodes.iter().skip(first).take_while(move |node| node.from <= to).copied()
}

/// The pieces of a run that no summary stands for, and at which something was said.
fn outside((from, to): (Seq, Seq), nodes: &[&SummaryNode], trim: &Trim) -> impl Iterator<Item = (Seq, Seq)> {
    let mut pieces = Vec::new();
    let mut next = from;
    for node in over(from, to, nodes) {
        if next < node.from {
            pieces.push((next, node.from.prev()));
        }
        next = next.max(node.to.next());
    }
    if next <= to {
        pieces.push((next, to));
    }
    let is_silent = |(from, to): &(Seq, Seq)| trim.silent.iter().any(|run| run.0 <= *from && *to <= run.1);
    pieces.retain(|piece| !is_silent(piece));
    pieces.into_iter()
}

/// The runs before the frontier that are not in `shown`, each with the reason: a summary stands for it, or there is no room.
pub(crate) fn left_out(shown: Vec<Seq>, trim: &Trim, view: &View) -> Vec<(Seq, Seq, Reason)> {
    let nodes: Vec<&SummaryNode> = trim.nodes.iter().filter_map(|placed| view.node(placed.at)).collect();
    let mut runs_with_reason = Vec::new();
    for (from, to) in runs(shown, trim.drop_before) {
        let covered =
            over(from, to, &nodes).map(|node| (node.from.max(from), node.to.min(to), Reason::Summarised));
        let bare = outside((from, to), &nodes, trim).flat_map(|(from, to)| around_hidden(from, to, view));
        runs_with_reason.extend(covered.chain(bare));
    }
    runs_with_reason.sort_unstable_by_key(|(from, ..)| *from);
    runs_with_reason
}

/// A run that no summary stands for, parted at what is hidden.
fn around_hidden(from: Seq, to: Seq, view: &View) -> Vec<(Seq, Seq, Reason)> {
    let mut pieces = Vec::new();
    let mut next = from;
    for seq in view.hidden().range(from..=to) {
        if next < *seq {
            pieces.push((next, seq.prev(), Reason::Budget));
        }
        pieces.push((*seq, *seq, Reason::Hidden));
        next = seq.next();
    }
    if next <= to {
        pieces.push((next, to, Reason::Budget));
    }
    pieces
}

/// The runs a request marks as left out. An exchange that goes on behind the frontier stands there and parts no run, so
/// that a result which comes late changes no mark.
fn marks<'a>(exchanges: impl Iterator<Item = &'a Exchange>, trim: &Trim, view: &View) -> Vec<(Seq, Seq)> {
    let before = exchanges.filter(|exchange| exchange.last < trim.drop_before);
    let shown = before.filter(|exchange| treatment(exchange, trim, view) != Treatment::LeftOut);
    runs(shown.flat_map(|exchange| exchange.members.iter().copied()).collect(), trim.drop_before)
}
