//! Named texts: a file, URL, command, symbol or id that the newest turn names comes back, from anywhere in its session.
//!
//! ```text
//! turn ─ names ─► names ─ the driver: index, unindexed events ─► places ─┐
//!                                                                         ▼
//!            events, results and bodies at the places (with the show trip) ─ find ─► texts ─ core ─► whole, cut, no room
//! ```
//! The texts enter after everything else is planned, so nothing has to go for them (`docs/design/0033-named-texts.md`).
//! After them enters what the turn does not name, but bears on it ([`unasked`], `docs/design/0035-unasked-recall.md`).

pub(crate) mod find;
pub(crate) mod names;
pub(crate) mod unasked;

use crate::ledger::texts::Texts;
use names::Name;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::author::Author;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Message, Part};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_store::BodyCount;

/// Number of the user's latest turns among which the newest typed one is found: the others are by programs.
pub(crate) const TURNS: u64 = 4;
/// Maximum length of the turns that are searched for names.
pub(crate) const TURN_BYTES: Bytes = Bytes(256 << 10);
/// Maximum total length of the texts that are read for all names.
pub(crate) const TEXTS: Bytes = Bytes(4 << 20);
/// Maximum number of events that are read for all names.
const EVENTS: usize = 640;

/// Names of the newest typed turn, with the places where their texts may be.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedPlaces {
    /// Position of the turn.
    pub(crate) turn: Seq,
    /// What a person typed in the turn.
    pub(crate) typed: String,
    /// Each name, with the handles that it may mean.
    pub(crate) names: Vec<(Name, Vec<Handle>)>,
    /// Positions of events that may hold a text, or the call for it.
    pub(crate) places: Vec<Seq>,
    /// Whether there are events that were not searched, because they are not indexed yet.
    pub(crate) is_partly: bool,
}

/// What a driver read at the places.
#[derive(Default)]
pub(crate) struct NamedEvents {
    /// Events at the places and around them.
    pub(crate) events: BTreeMap<Seq, Event>,
    /// Bodies that are named by their handles, with the positions that hold them.
    pub(crate) held: Vec<(Handle, Seq)>,
    pub(crate) counts: Vec<(Handle, BodyCount)>,
}

/// A text that the newest turn asks for, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskedFor {
    /// The name.
    pub name: String,
    /// What became of the text.
    #[serde(flatten)]
    pub outcome: AskedOutcome,
    /// Position of the text, if the session has it.
    pub at: Option<Seq>,
}

/// What became of a text that the newest turn asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskedOutcome {
    /// The request shows it already.
    Shown,
    /// It comes back whole.
    Recalled,
    /// It comes back cut, with its handle.
    Cut,
    /// The session does not have it.
    Unknown,
    /// It was not found, and some events are not indexed yet.
    NotIndexed,
    /// It was erased.
    Erased,
    /// It was hidden.
    Hidden,
    /// Not even a part of it fits.
    NoRoom {
        /// Number of tokens of the text.
        needs: Tokens,
        /// Number of tokens that were left for it.
        had: Tokens,
    },
}

impl AskedFor {
    /// Returns the reason why the request does not show the text; `None` if it does.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let at = self.at.unwrap_or_default();
        Some(match self.outcome {
            AskedOutcome::Shown | AskedOutcome::Recalled | AskedOutcome::Cut => return None,
            AskedOutcome::Unknown => "not in the ledger of this session".to_owned(),
            AskedOutcome::NotIndexed => "not found, but some messages are not indexed yet".to_owned(),
            AskedOutcome::Erased => format!("erased at #{at}"),
            AskedOutcome::Hidden => format!("hidden at #{at}"),
            AskedOutcome::NoRoom { needs, had } => {
                format!("no room for #{at}: it needs {needs} tokens, and {had} were left")
            }
        })
    }
}

impl NamedPlaces {
    /// Returns the names in the newest of some turns that was typed, without places; `None` if it names
    /// nothing. `texts` returns the texts of the turn.
    pub(crate) fn of_newest<'e>(
        turns: impl IntoIterator<Item = &'e Event>,
        texts: impl FnOnce(&Message) -> Texts,
    ) -> Option<Self> {
        let typed = |event: &'e Event| {
            let said = message(event).filter(|said| matches!(said.author(), Author::Person | Author::Peer));
            said.map(|said| (event.seq, said))
        };
        let (turn, said) = turns.into_iter().find_map(typed)?;
        Some(Self::of_turn(turn, said, &texts(said)))
    }

    fn of_turn(turn: Seq, said: &Message, texts: &Texts) -> Self {
        let mut typed = String::new();
        for (index, part) in said.parts.iter().enumerate() {
            let Part::Text { text, .. } = part else { continue };
            for (_, piece) in said.own_pieces(index, texts.of(text).unwrap_or_default()) {
                typed.push_str(piece);
                typed.push('\n');
            }
        }
        let names = names::names(&typed).into_iter().map(|name| (name, Vec::new())).collect();
        Self { turn, names, typed, ..Self::default() }
    }

    /// Returns the words by which each name is narrowed.
    pub(crate) fn narrowing(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.narrowing())
    }

    /// Takes note of what the handle of a name means. `own` is the handle of the session itself, whose positions are read
    /// like any other place.
    pub(crate) fn means(&mut self, place: usize, handle: Handle, own: Handle) {
        let Some((name, meant)) = self.names.get_mut(place) else { return };
        if handle != own {
            return meant.push(handle);
        }
        let seq = name.text.split(['#', '-']).nth(1).and_then(|seq| seq.parse().ok());
        self.places.extend(seq.map(Seq));
    }

    /// Returns the positions to read: the places, the results that follow them, and what precedes them.
    pub(crate) fn around(&self) -> Vec<Seq> {
        let mut seen = BTreeSet::new();
        let near = |seq: &Seq| [*seq, Seq(seq.0 + 1), Seq(seq.0 + 2), Seq(seq.0 + 3), seq.prev()];
        let near = self.places.iter().filter(|seq| **seq != self.turn).flat_map(near);
        let is_new = |seq: &Seq| *seq > Seq::START && seen.insert(*seq);
        near.filter(is_new).take(EVENTS).collect()
    }
}

/// Returns the message of an event.
pub(crate) fn message(event: &Event) -> Option<&Message> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => Some(&said.message),
        _ => None,
    }
}
