//! Pairing of entries: of calls with their results, and of the records into which one reply is split.
//!
//! Pairing is done by id, across all entries. A result is bound to the nearest preceding call that is still waiting
//! for a result. If there is no such call, the result is bound to the first waiting call after it, since some
//! programs write a result before its call. If a call has a result both before and after it, the result after it
//! counts. Ids can recur: a result that repeats the last result with the same id is a duplicate, and any other result
//! may belong to a later call. A result that cannot be bound is set aside with the reason. No call is invented for an
//! unbound result.
//!
//! Entries that a trim leaves out no longer take part in pairing, and must not change it; see
//! [`crate::record::decision::Trim::spent`].

use crate::id::CallId;
use crate::lane::restate;
use crate::lane::view::{View, ViewEntry};
use crate::record::budget::Reason;
use crate::record::decision::PartPosition;
use crate::record::message::{Message, MessageOrigin, Part, Role};
use crate::units::Seq;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

pub use crate::lane::arrangement::{Arrangement, Exchange, ExchangeKind, PairedCall};

/// Groups the entries of a view into exchanges.
#[must_use]
pub fn arrange(view: &View) -> Arc<Arrangement> {
    view.arranged.get_or_make(|| {
        let mut pairing = Pairer::new(view);
        for entry in view.entries() {
            pairing.take(entry);
        }
        pairing.finish()
    })
}

struct OpenExchange<'v> {
    shape: ExchangeKind,
    speakers: Vec<Seq>,
    api_id: Option<&'v str>,
    /// Whether there is content to send; thinking alone is not enough.
    speaks: bool,
}

/// Place of a call: the index of its draft, and the index of the call in the draft.
type Slot = (usize, usize);

struct Pairer<'v> {
    view: &'v View,
    drafts: Vec<OpenExchange<'v>>,
    /// Calls that are waiting for their results, newest last.
    waiting: HashMap<&'v CallId, Vec<Slot>>,
    /// Latest result of each id that has been answered.
    answered: HashMap<&'v CallId, &'v Part>,
    /// Results that came before their calls, oldest first.
    early: HashMap<&'v CallId, VecDeque<PartPosition>>,
    /// Calls that were answered by an early result and have received no other result since.
    foretold: HashMap<&'v CallId, Slot>,
    /// Ids that are used in a request.
    names: HashSet<Cow<'v, str>>,
    last_exchange: Option<usize>,
    arrangement: Arrangement,
}

impl<'v> Pairer<'v> {
    fn new(view: &'v View) -> Self {
        Self {
            view,
            drafts: Vec::new(),
            waiting: HashMap::new(),
            answered: HashMap::new(),
            early: HashMap::new(),
            foretold: HashMap::new(),
            names: HashSet::new(),
            last_exchange: None,
            arrangement: Arrangement::default(),
        }
    }

    fn take(&mut self, entry: &'v ViewEntry) {
        let message = &entry.message;
        let reason = match &message.standing {
            MessageOrigin::Failed(_) => Some(Reason::FailedTurn),
            MessageOrigin::Aside(_) => Some(Reason::Aside),
            // A policy marked the reply with a placeholder, so it is shown even without content.
            _ if message.role == Role::Assistant && self.view.trim().mark_of(entry.seq).is_some() => None,
            _ if message.parts.is_empty() => Some(Reason::Empty),
            _ if message.role != Role::Assistant && !message.parts.iter().any(Part::speaks) => {
                Some(Reason::Empty)
            }
            _ => None,
        };
        match (reason, message.role) {
            (Some(reason), _) => self.arrangement.aside.push((entry.seq, reason)),
            (None, Role::Assistant) => self.reply(entry.seq, message),
            (None, Role::System | Role::User | Role::Tool) => self.add_message(entry.seq, message),
        }
    }

    /// Adds a record of a reply. Records of the same reply form one exchange.
    fn reply(&mut self, seq: Seq, message: &'v Message) {
        let is_marked = self.view.trim().mark_of(seq).is_some();
        let speaks = is_marked || message.own_parts().any(Part::speaks);
        let is_own = is_marked || message.own_parts().next().is_some();
        let speaker = is_own.then(|| self.speaker(seq, message, speaks));
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall { call, .. } => {
                    if let Some(exchange) = speaker {
                        self.call(exchange, call, (seq, index));
                    }
                }
                Part::ToolResult { call, .. } => self.result(call, part, (seq, index)),
                _ => {}
            }
        }
    }

    fn speaker(&mut self, seq: Seq, message: &'v Message, speaks: bool) -> usize {
        let api_id = message.api_id.as_deref();
        // Only the latest reply can continue, and a record without an id always begins a new one.
        let same = self.last_exchange.filter(|index| {
            api_id.is_some() && self.drafts.get(*index).is_some_and(|draft| draft.api_id == api_id)
        });
        let exchange = same.unwrap_or_else(|| {
            let shape = ExchangeKind::Exchange { calls: Vec::new() };
            self.drafts.push(OpenExchange { shape, speakers: Vec::new(), api_id, speaks: false });
            self.drafts.len() - 1
        });
        self.last_exchange = Some(exchange);
        if let Some(draft) = self.drafts.get_mut(exchange) {
            draft.speakers.push(seq);
            draft.speaks |= speaks;
        }
        exchange
    }

    fn call(&mut self, exchange: usize, id: &'v CallId, place: PartPosition) {
        let name = self.name(id, place);
        let result = self.early.get_mut(id).and_then(VecDeque::pop_front);
        let Some(ExchangeKind::Exchange { calls }) =
            self.drafts.get_mut(exchange).map(|draft| &mut draft.shape)
        else {
            return;
        };
        let slot = (exchange, calls.len());
        calls.push(PairedCall { id: id.clone(), name, place, result });
        if let Some(part) = result.and_then(|at| self.view.part(at)) {
            self.answered.insert(id, part);
            self.foretold.insert(id, slot);
        } else {
            self.waiting.entry(id).or_default().push(slot);
        }
    }

    /// Returns the id that a call has in a request. The first call with an id keeps the id; later calls with this id
    /// append their places to it. The order of recording decides, not what is shown, so that an id in a request does
    /// not change while the session continues.
    fn name(&mut self, id: &'v CallId, at: PartPosition) -> CallId {
        let (seq, index) = at;
        let text = id.as_str();
        if !text.is_empty() && self.names.insert(Cow::Borrowed(text)) {
            return id.clone();
        }
        let mut name = format!("{text}-{seq}-{index}");
        while self.names.contains(name.as_str()) {
            name.push('-');
        }
        self.names.insert(Cow::Owned(name.clone()));
        name.into()
    }

    /// Adds a message that is not a reply: its results go to their calls, and its words form a separate exchange.
    fn add_message(&mut self, seq: Seq, message: &'v Message) {
        for (index, part) in message.parts.iter().enumerate() {
            if let Part::ToolResult { call, .. } = part {
                self.result(call, part, (seq, index));
            }
        }
        if message.own_parts().any(Part::speaks) {
            let shape = if message.role == Role::System { ExchangeKind::System } else { ExchangeKind::User };
            self.drafts.push(OpenExchange { shape, speakers: vec![seq], api_id: None, speaks: true });
        }
    }

    fn result(&mut self, id: &'v CallId, part: &'v Part, at: PartPosition) {
        let spent = self.view.trim().spent.binary_search(&at).is_ok();
        let again = || self.answered.get(id).is_some_and(|known| *known == part);
        let slot = if spent { None } else { self.waiting.get_mut(id).and_then(Vec::pop) };
        if spent || (slot.is_none() && again()) {
            self.arrangement.loose.push((at, Reason::DuplicateResult));
        } else if let Some(slot) = slot.or_else(|| self.foretold.remove(id)) {
            if let Some(earlier) = self.answer(slot, at) {
                self.arrangement.loose.push((earlier, Reason::DuplicateResult));
            }
            self.answered.insert(id, part);
        } else {
            self.early.entry(id).or_default().push_back(at);
        }
    }

    /// Sets the result of a call, and returns the result that the call had before.
    fn answer(&mut self, call: Slot, at: PartPosition) -> Option<PartPosition> {
        let (exchange, index) = call;
        match &mut self.drafts.get_mut(exchange)?.shape {
            ExchangeKind::Exchange { calls } => calls.get_mut(index)?.result.replace(at),
            ExchangeKind::User | ExchangeKind::System => None,
        }
    }

    fn finish(mut self) -> Arrangement {
        for (id, results) in self.early {
            let known = self.answered.contains_key(id);
            let reason = if known { Reason::DuplicateResult } else { Reason::OrphanResult };
            self.arrangement.early.extend(results.into_iter().map(|at| (at, reason)));
        }
        // The map is unordered, but the same view must always give the same arrangement.
        self.arrangement.early.sort_unstable();
        self.arrangement.loose.sort_unstable();
        let silent = self.drafts.iter().filter(|draft| !draft.speaks).flat_map(|draft| &draft.speakers);
        self.arrangement.aside.extend(silent.map(|seq| (*seq, Reason::Empty)));
        self.arrangement.aside.sort_unstable();
        self.drafts.retain(|draft| draft.speaks);
        let frontier = self.view.trim().drop_before;
        self.arrangement.exchanges =
            self.drafts.into_iter().filter_map(|draft| exchange(draft, frontier)).collect();
        self.arrangement.exchanges.sort_by_key(|exchange| exchange.key);
        hide(&mut self.arrangement, self.view);
        restate(&mut self.arrangement, self.view);
        self.arrangement
    }
}

/// Sets aside the texts of the operator that are shown elsewhere, and moves a later version of a text to the place of
/// the first.
fn restate(arrangement: &mut Arrangement, view: &View) {
    let aside = restate::aside(view);
    if aside.is_empty() {
        return;
    }
    let is_aside = |exchange: &Exchange| exchange.members.iter().all(|seq| aside.binary_search(seq).is_ok());
    let (gone, shown) = std::mem::take(&mut arrangement.exchanges).into_iter().partition(is_aside);
    arrangement.exchanges = shown;
    arrangement.hidden.extend::<Vec<Exchange>>(gone);
    arrangement.aside.extend(aside.iter().map(|seq| (*seq, Reason::Repeated)));
    arrangement.aside.sort_unstable();
    let system = arrangement.exchanges.iter_mut().filter(|exchange| exchange.shape == ExchangeKind::System);
    for exchange in system {
        let place = exchange.speakers.first().and_then(|seq| restate::place(view, *seq));
        exchange.key = place.unwrap_or(exchange.key);
    }
    arrangement.exchanges.sort_by_key(|exchange| exchange.key);
}

/// Removes the exchanges that have a hidden entry. Pairing and the names of calls stay as they are. An entry that
/// another exchange also needs loses only the results of the hidden exchange.
fn hide(arrangement: &mut Arrangement, view: &View) {
    if view.hidden().is_empty() {
        return;
    }
    let is_hidden = |exchange: &Exchange| exchange.members.iter().any(|seq| view.hidden().contains(seq));
    let (hidden, shown) = std::mem::take(&mut arrangement.exchanges).into_iter().partition(is_hidden);
    (arrangement.hidden, arrangement.exchanges) = (hidden, shown);
    let needed: HashSet<Seq> =
        arrangement.exchanges.iter().flat_map(|exchange| exchange.members.iter().copied()).collect();
    let (mut aside, mut loose) = (HashSet::new(), Vec::new());
    for exchange in &arrangement.hidden {
        aside.extend(exchange.members.iter().filter(|seq| !needed.contains(seq)));
        let results = exchange.calls().iter().filter_map(|call| call.result);
        loose.extend(results.filter(|(seq, _)| needed.contains(seq)).map(|at| (at, Reason::Hidden)));
    }
    // An entry that was set aside because it lacks words or a pair gets the reason `Hidden` if it was hidden.
    for (seq, reason) in &mut arrangement.aside {
        if view.hidden().contains(seq) || aside.remove(seq) {
            *reason = Reason::Hidden;
        }
    }
    arrangement.aside.extend(aside.into_iter().map(|seq| (seq, Reason::Hidden)));
    arrangement.aside.sort_unstable();
    arrangement.loose.extend(loose);
    arrangement.loose.sort_unstable();
}

fn exchange(draft: OpenExchange<'_>, frontier: Seq) -> Option<Exchange> {
    let OpenExchange { shape, speakers, .. } = draft;
    let mut members = speakers.clone();
    if let ExchangeKind::Exchange { calls } = &shape {
        members.extend(calls.iter().filter_map(|call| call.result).map(|(seq, _)| seq));
        members.sort_unstable();
        members.dedup();
    }
    let (first, last) = (*speakers.first()?, *members.last()?);
    let key = speakers.iter().chain(&members).copied().find(|seq| *seq >= frontier).unwrap_or(first);
    Some(Exchange { shape, members, speakers, key, last })
}
