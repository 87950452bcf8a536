//! Consequences of a trim: which exchanges it shows, in which form, and what a view must hold.

use crate::lane::pair::{Arrangement, Exchange, ExchangeKind};
use crate::lane::restate;
use crate::lane::view::{SummaryNode, View};
use crate::record::budget::{Reason, Treatment};
use crate::record::decision::{PartForm, PartPosition, Trim};
use crate::record::message::Part;
use crate::units::Seq;
use std::collections::HashSet;

/// Maximum number of left-out exchanges with open calls that a view remembers, newest first. A result that arrives
/// later is listed as an orphan. Without a limit, calls that are never answered would pile up for as long as a
/// session lasts.
pub const HELD_WAITING: usize = 64;

/// Returns the form of an exchange under a trim.
#[must_use]
pub fn treatment(exchange: &Exchange, trim: &Trim, view: &View) -> Treatment {
    if waits(exchange, trim) {
        Treatment::LeftOut
    } else if is_clipped(exchange, trim) {
        Treatment::Clipped
    } else if exchange.last >= trim.stub_before || stays(exchange, trim, view) {
        Treatment::Verbatim
    } else if exchange.last >= trim.drop_before {
        Treatment::Stub
    } else {
        Treatment::LeftOut
    }
}

/// Returns the reason why a part is not sent although its entry is shown and its dialect has a form for it.
pub(crate) fn withheld(at: PartPosition, part: &Part, trim: &Trim) -> Option<Reason> {
    if part.is_thinking() && trim.is_unbound(at.0) {
        Some(Reason::Unbound)
    } else {
        trim.unsent.binary_search(&at).is_ok().then_some(Reason::Unsendable)
    }
}

/// Returns whether an exchange is withheld until its results arrive.
pub(crate) fn waits(exchange: &Exchange, trim: &Trim) -> bool {
    !trim.waiting.is_empty() && exchange.speakers.iter().any(|seq| trim.waiting.contains(seq))
}

/// Returns whether an exchange stays regardless of where the frontiers are. A record can hold the words of a kept
/// turn alongside results of another exchange: the turn stays, and the exchange may go. A pin applies to everything
/// in its record.
pub(crate) fn stays(exchange: &Exchange, trim: &Trim, view: &View) -> bool {
    exchange.shape == ExchangeKind::System
        || is_clipped(exchange, trim)
        || exchange.speakers.iter().any(|seq| trim.keep.binary_search(seq).is_ok())
        || (!view.pinned().is_empty() && exchange.members.iter().any(|seq| view.pinned().contains(seq)))
}

/// Returns whether an exchange shows the head and tail of its long texts.
fn is_clipped(exchange: &Exchange, trim: &Trim) -> bool {
    exchange.speakers.iter().any(|seq| trim.clip_of(*seq).is_some())
}

/// Returns whether a standing rule is quoted from an exchange.
fn is_quoted(exchange: &Exchange, trim: &Trim) -> bool {
    let quotes = &trim.rules.quotes;
    exchange.speakers.iter().any(|seq| quotes.binary_search_by_key(seq, |quote| quote.at.0).is_ok())
}

/// Completes a trim whose frontiers have been set, with everything that a view must hold. Later requests from the
/// view equal those from a view that has forgotten nothing.
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
    // A silent run without a held neighbour becomes part of the mark around it.
    let holds = |seq: Seq| hold.binary_search(&seq).is_ok();
    trim.silent.retain(|(from, to)| holds(from.prev()) || holds(to.next()));
    trim.hold = hold;
    // A hidden exchange keeps its results, because it may be shown again.
    let loose = arrangement.loose.iter().filter(|(_, reason)| *reason != Reason::Hidden);
    left.extend(loose.map(|(at, _)| *at));
    left.retain(|(seq, _)| trim.needs(*seq));
    left.sort_unstable();
    left.dedup();
    trim.spent = left;
    // An exchange that ends after the frontier is shown word for word from its beginning, and an exchange that must
    // stay is shown word for word anywhere.
    let is_whole = |exchange: &&Exchange| exchange.last >= trim.stub_before || stays(exchange, trim, view);
    let whole = arrangement.exchanges.iter().filter(is_whole);
    let whole: HashSet<Seq> = whole.flat_map(|exchange| exchange.members.iter().copied()).collect();
    let shown =
        |seq: Seq| seq >= trim.stub_before || whole.contains(&seq) || trim.hold.binary_search(&seq).is_ok();
    let mut forms = std::mem::take(&mut trim.forms);
    // A standing reduction applies automatically after the frontier. Before the frontier, no reader would look for
    // the event of a standing reduction, so the trim names the event.
    let before = view.standings().filter(|((seq, _), _)| *seq < trim.drop_before);
    let unnamed = before.filter(|(at, _)| forms.binary_search_by_key(at, |(place, _)| *place).is_err());
    let unnamed: Vec<(PartPosition, PartForm)> =
        unnamed.map(|(at, event)| (at, PartForm::Reduced(event))).collect();
    forms.extend(unnamed);
    forms.sort_unstable_by_key(|(at, _)| *at);
    forms.retain(|((seq, _), _)| trim.needs(*seq) && shown(*seq));
    trim.forms = forms;
}

/// Returns the runs of positions before a frontier, without those in `shown`. The first event of a stream only opens
/// the stream, so nothing is missing at its position.
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

/// Replacement for entries that are missing before the frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GapOrSummary<'v> {
    /// Mark of a run of positions.
    Gap(Seq, Seq),
    /// A summary, and the position before which it is placed.
    Node(Seq, &'v SummaryNode),
}

impl GapOrSummary<'_> {
    /// Returns the position before which the replacement is placed.
    pub(crate) fn key(&self) -> Seq {
        match self {
            Self::Gap(_, to) => *to,
            Self::Node(at, _) => *at,
        }
    }
}

/// Returns the marks and summaries before the frontier that replace missing entries, in order. Ranges that a summary
/// covers have no mark.
pub(crate) fn stands<'a, 'v>(
    exchanges: impl Iterator<Item = &'a Exchange>,
    trim: &Trim,
    view: &'v View,
) -> Vec<GapOrSummary<'v>> {
    let nodes: Vec<&SummaryNode> = trim.nodes.iter().filter_map(|placed| view.node(placed.at)).collect();
    let mut stands: Vec<GapOrSummary<'v>> = Vec::new();
    let aside = restate::aside(view);
    for (from, to) in marks(exchanges, trim, view) {
        // What is shown elsewhere needs no mark.
        let holds_more = |(from, to): &(Seq, Seq)| {
            let aside = aside.iter().filter(|seq| (*from..=*to).contains(seq)).count() as u64;
            aside <= to.0 - from.0
        };
        let gaps = outside(from, to, &nodes, trim).filter(holds_more);
        stands.extend(gaps.map(|(from, to)| GapOrSummary::Gap(from, to)));
    }
    let place = |node: &SummaryNode| if trim.nodes_last { trim.drop_before.prev() } else { node.from };
    stands.extend(nodes.into_iter().map(|node| GapOrSummary::Node(place(node), node)));
    stands.sort_by_key(GapOrSummary::key);
    stands
}

/// Returns the summaries that cover a part of a run. `nodes` must be in the order of their ranges.
fn over<'n, 'v>(
    from: Seq,
    to: Seq,
    nodes: &'n [&'v SummaryNode],
) -> impl Iterator<Item = &'v SummaryNode> + use<'n, 'v> {
    let first = nodes.partition_point(|node| node.to < from);
    nodes.iter().skip(first).take_while(move |node| node.from <= to).copied()
}

/// Returns the pieces of a run that hold messages and that no summary covers.
fn outside(from: Seq, to: Seq, nodes: &[&SummaryNode], trim: &Trim) -> impl Iterator<Item = (Seq, Seq)> {
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

/// Returns the runs before the frontier that are not in `shown`, each with the reason: covered by a summary, hidden,
/// shown elsewhere, or no room.
pub(crate) fn left_out(shown: Vec<Seq>, trim: &Trim, view: &View) -> Vec<(Seq, Seq, Reason)> {
    let nodes: Vec<&SummaryNode> = trim.nodes.iter().filter_map(|placed| view.node(placed.at)).collect();
    let mut runs_with_reason = Vec::new();
    for (from, to) in runs(shown, trim.drop_before) {
        let covered =
            over(from, to, &nodes).map(|node| (node.from.max(from), node.to.min(to), Reason::Summarised));
        let bare = outside(from, to, &nodes, trim).map(|(from, to)| (from, to, Reason::Budget));
        let bare = bare.flat_map(|(first, last, reason)| {
            around(first, last, reason, view.hidden().range(from..=to), Reason::Hidden)
        });
        let aside = restate::aside(view);
        let runs = covered
            .chain(bare)
            .flat_map(|(first, last, reason)| around(first, last, reason, aside.iter(), Reason::Repeated));
        runs_with_reason.extend(runs);
    }
    runs_with_reason.sort_unstable_by_key(|(from, ..)| *from);
    runs_with_reason
}

/// Splits a run at the positions that are missing for a reason of their own. `positions` must be ascending.
fn around<'a>(
    from: Seq,
    to: Seq,
    reason: Reason,
    positions: impl Iterator<Item = &'a Seq>,
    own: Reason,
) -> Vec<(Seq, Seq, Reason)> {
    let mut pieces = Vec::new();
    let mut next = from;
    for seq in positions.filter(|seq| (from..=to).contains(*seq)) {
        if next < *seq {
            pieces.push((next, seq.prev(), reason));
        }
        pieces.push((*seq, *seq, own));
        next = seq.next();
    }
    if next <= to {
        pieces.push((next, to, reason));
    }
    pieces
}

/// Returns the runs that a request marks as left out. An exchange that continues after the frontier is shown there
/// and splits no run, so that a late result changes no mark.
fn marks<'a>(exchanges: impl Iterator<Item = &'a Exchange>, trim: &Trim, view: &View) -> Vec<(Seq, Seq)> {
    let before = exchanges.filter(|exchange| exchange.last < trim.drop_before);
    let shown = before.filter(|exchange| treatment(exchange, trim, view) != Treatment::LeftOut);
    runs(shown.flat_map(|exchange| exchange.members.iter().copied()).collect(), trim.drop_before)
}
