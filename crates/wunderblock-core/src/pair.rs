//! Which entries belong together: calls with their results, split records of one reply.
//!
//! Pairing goes by id over the whole set. A result is bound to the nearest call before it that still waits for one;
//! failing that, to the first such call after it, since some programs write a result before its call. What can be bound to
//! nothing is set aside with the reason, never answered by something made up.

use crate::budget::Reason;
use crate::id::CallId;
use crate::message::{Message, Part, Role, Standing};
use crate::units::Seq;
use crate::view::{Entry, View};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A place in the view: the entry, and the part in it.
pub type At = (Seq, usize);

/// What a unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Something the user, or a harness in the user's place, said.
    User,
    /// Operator's text.
    System,
    /// A reply of the model, and the results of the calls it made, in the order of the calls.
    Exchange {
        /// The calls, each with the place of its result.
        calls: Vec<(CallId, Option<At>)>,
    },
}

/// Entries that stay or go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What it is.
    pub shape: Shape,
    /// Its entries, ascending.
    pub members: Vec<Seq>,
    /// The entries that hold the speaker's own words: all but those that hold results only.
    pub speakers: Vec<Seq>,
    /// Where it stands in a request: its first member that is not before the frontier, else its first.
    pub key: Seq,
    /// Its last member.
    pub last: Seq,
}

impl Unit {
    /// Whether a call in it has no result yet.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(&self.shape, Shape::Exchange { calls } if calls.iter().any(|(_, result)| result.is_none()))
    }
}

/// The units of a view, and what belongs to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// In the order of a request.
    pub units: Vec<Unit>,
    /// Entries that can be in no request, with the reason.
    pub aside: Vec<(Seq, Reason)>,
    /// Results that cannot be shown, with the reason; the rest of their entry can.
    pub loose: Vec<(At, Reason)>,
}

/// Groups a view's entries.
#[must_use]
pub fn arrange(view: &View) -> Arrangement {
    let mut pairing = Pairing::default();
    for entry in view.entries() {
        pairing.take(entry);
    }
    pairing.finish(view.trim().drop_before)
}

struct Draft {
    shape: Shape,
    speakers: Vec<Seq>,
    members: BTreeSet<Seq>,
    api_id: Option<Box<str>>,
    /// Whether there is anything to send; thinking alone is not.
    speaks: bool,
}

#[derive(Default)]
struct Pairing {
    drafts: Vec<Draft>,
    /// Calls that wait, newest last: unit and index of the call.
    waiting: HashMap<CallId, Vec<(usize, usize)>>,
    /// Ids that have been answered.
    answered: HashMap<CallId, usize>,
    /// Results that came before any call of their id, oldest first.
    early: BTreeMap<CallId, Vec<At>>,
    last_exchange: Option<usize>,
    arrangement: Arrangement,
}

impl Pairing {
    fn take(&mut self, entry: &Entry) {
        let Some(message) = &entry.message else {
            self.arrangement.aside.push((entry.seq, Reason::Erased));
            return;
        };
        let reason = match &message.standing {
            Standing::Failed(_) => Some(Reason::FailedTurn),
            Standing::Aside(_) => Some(Reason::Aside),
            _ if message.role != Role::Assistant && !message.parts.iter().any(is_something) => {
                Some(Reason::Empty)
            }
            _ => None,
        };
        if let Some(reason) = reason {
            self.arrangement.aside.push((entry.seq, reason));
            return;
        }
        match message.role {
            Role::Assistant => self.reply(entry.seq, message),
            Role::System | Role::User | Role::Tool => self.words(entry.seq, message),
        }
    }

    fn reply(&mut self, seq: Seq, message: &Message) {
        let same = self.last_exchange.filter(|index| {
            message.api_id.is_some()
                && self.drafts.get(*index).is_some_and(|draft| draft.api_id == message.api_id)
        });
        let unit = same.unwrap_or_else(|| {
            self.drafts.push(Draft {
                shape: Shape::Exchange { calls: Vec::new() },
                speakers: Vec::new(),
                members: BTreeSet::new(),
                api_id: message.api_id.clone(),
                speaks: false,
            });
            self.drafts.len() - 1
        });
        self.last_exchange = Some(unit);
        let Some(draft) = self.drafts.get_mut(unit) else { return };
        draft.speakers.push(seq);
        draft.members.insert(seq);
        draft.speaks |= message.parts.iter().any(is_something);
        let Shape::Exchange { calls } = &mut draft.shape else { return };
        for call in message.calls() {
            let early =
                self.early.get_mut(call).and_then(|results| (!results.is_empty()).then(|| results.remove(0)));
            let index = calls.len();
            calls.push((call.clone(), early));
            match early {
                Some((at, _)) => {
                    draft.members.insert(at);
                    self.answered.insert(call.clone(), unit);
                }
                None => self.waiting.entry(call.clone()).or_default().push((unit, index)),
            }
        }
    }

    /// A message that is no reply: its results go to their calls, its words are a unit of their own.
    fn words(&mut self, seq: Seq, message: &Message) {
        for (index, part) in message.parts.iter().enumerate() {
            if let Part::ToolResult { call, .. } = part {
                self.result(call, (seq, index));
            }
        }
        let speaks =
            message.parts.iter().any(|part| !matches!(part, Part::ToolResult { .. }) && is_something(part));
        if speaks {
            let shape = if message.role == Role::System { Shape::System } else { Shape::User };
            let members = BTreeSet::from([seq]);
            self.drafts.push(Draft { shape, speakers: vec![seq], members, api_id: None, speaks: true });
        }
    }

    fn result(&mut self, call: &CallId, at: At) {
        if let Some((unit, index)) = self.waiting.get_mut(call).and_then(Vec::pop) {
            if let Some(draft) = self.drafts.get_mut(unit) {
                if let Shape::Exchange { calls } = &mut draft.shape
                    && let Some(slot) = calls.get_mut(index)
                {
                    slot.1 = Some(at);
                }
                draft.members.insert(at.0);
            }
            self.answered.insert(call.clone(), unit);
        } else if self.answered.contains_key(call) {
            self.arrangement.loose.push((at, Reason::DuplicateResult));
        } else {
            self.early.entry(call.clone()).or_default().push(at);
        }
    }

    fn finish(mut self, frontier: Seq) -> Arrangement {
        for results in self.early.into_values() {
            self.arrangement.loose.extend(results.into_iter().map(|at| (at, Reason::OrphanResult)));
        }
        self.arrangement.loose.sort_unstable();
        let silent = self.drafts.iter().filter(|draft| !draft.speaks).flat_map(|draft| &draft.speakers);
        self.arrangement.aside.extend(silent.map(|seq| (*seq, Reason::Empty)));
        self.arrangement.aside.sort_unstable();
        self.drafts.retain(|draft| draft.speaks);
        self.arrangement.units = self.drafts.into_iter().filter_map(|draft| unit(draft, frontier)).collect();
        self.arrangement.units.sort_by_key(|unit| unit.key);
        self.arrangement
    }
}

fn unit(draft: Draft, frontier: Seq) -> Option<Unit> {
    let first = *draft.members.first()?;
    let last = *draft.members.last()?;
    let key = draft.speakers.iter().chain(&draft.members).copied().filter(|seq| *seq >= frontier).min();
    Some(Unit {
        shape: draft.shape,
        speakers: draft.speakers,
        key: key.unwrap_or(first),
        last,
        members: draft.members.into_iter().collect(),
    })
}

/// Whether a request can hold it by itself.
fn is_something(part: &Part) -> bool {
    match part {
        Part::Text { text, .. } => text.inline().is_none_or(|text| !text.trim().is_empty()),
        Part::Thinking { .. } => false,
        Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Media { .. } | Part::Opaque { .. } => true,
    }
}
