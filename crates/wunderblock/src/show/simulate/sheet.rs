//! A request as a list of pieces, and the changes from one request to the next.

use super::reach::{EventsByPosition, Shower, reach};
use crate::show::simulate::reading::digest::{Digest, digest, feed, finish, spoken};
use crate::show::simulate::reading::index::{Index, all_keys};
use crate::show::simulate::reading::names::{Name, each_once};
use crate::show::simulate::reading::said::{NamedInLines, named_in_lines};
use std::collections::{BTreeMap, HashMap};
use wunderblock_core::cost;
use wunderblock_core::decision::PartPosition;
use wunderblock_core::message::{Part, Role};
use wunderblock_core::ports::{Bodies, CostModel};
use wunderblock_core::request::Request;
use wunderblock_core::units::{Cost, Tokens};

/// Piece of a request: the unit that a provider's cache either finds unchanged or does not find.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RequestPiece {
    speaker: SheetRole,
    digest: Digest,
    cost: Cost,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SheetRole {
    Lead,
    Of(Role),
}

/// A piece that no event contains in this form, such as a stub, a summary or a mark.
struct Own {
    cost: Cost,
    names: Vec<Name>,
    /// Names that the piece only lists.
    listed: Vec<Name>,
    /// Names that a line of the piece leads to.
    leads: Vec<Name>,
}

/// The current request, with the number of occurrences of each piece and name.
pub(super) struct Sheet {
    pieces: Vec<RequestPiece>,
    own: HashMap<Digest, Own>,
    present: HashMap<Digest, u32>,
    said: Vec<u32>,
    listed: Vec<u32>,
    led: Vec<u32>,
    user: UserWords,
}

/// Words of the user's turns so far. The sums change with the pieces of a request, so a request does not go through all
/// turns before it.
#[derive(Default)]
struct UserWords {
    turns: usize,
    /// Number of words in all turns.
    said: u64,
    /// Number of words in the pieces that the request contains.
    shown: u64,
    by_piece: HashMap<Digest, u64>,
}

/// Context for reading a request into a sheet.
#[derive(Clone, Copy)]
pub(super) struct SheetInput<'a> {
    pub(super) index: &'a Index,
    pub(super) costs: &'a dyn CostModel,
    pub(super) positions: EventsByPosition<'a>,
    /// Positions of the entries' parts, by message and part, without tool results.
    pub(super) places: &'a BTreeMap<(usize, usize), PartPosition>,
}

impl SheetInput<'_> {
    /// Returns whether a part of a request is an entry of the session. A work log appears among entries but belongs
    /// to the lane.
    fn is_said(&self, part: (usize, usize)) -> bool {
        let seq = self.places.get(&part).and_then(|(seq, _)| usize::try_from(seq.0).ok());
        seq.and_then(|seq| self.positions.get(seq)).is_some_and(Option::is_some)
    }
}

impl Sheet {
    pub(super) fn new(index: &Index) -> Self {
        let counts = vec![0; index.names.len()];
        let (own, present) = (HashMap::new(), HashMap::new());
        let (said, listed, led, user) = (counts.clone(), counts.clone(), counts, UserWords::default());
        Self { pieces: Vec::new(), own, present, said, listed, led, user }
    }

    /// Takes in the user's turns up to the next request: the parts of each, with the number of words in each part.
    pub(super) fn hear(&mut self, turns: &[Vec<(Digest, u64)>]) {
        for (part, words) in turns.iter().skip(self.user.turns).flatten() {
            self.user.said += words;
            *self.user.by_piece.entry(*part).or_default() += words;
            if self.holds(part) {
                self.user.shown += words;
            }
        }
        self.user.turns = turns.len();
    }

    /// Returns the number of words in the user's turns, and how many of them the request contains.
    pub(super) fn user_words(&self) -> (u64, u64) {
        (self.user.said, self.user.shown)
    }

    /// Takes in the next request. Returns the request's cost, and the number of tokens at its beginning that are
    /// unchanged.
    pub(super) fn turn(&mut self, request: &Request, name: Cost, reading: SheetInput<'_>) -> (Cost, Tokens) {
        let next = self.pieces_of(request, name, reading);
        let same = self.pieces.iter().zip(&next).take_while(|(old, new)| old == new).count();
        let old = std::mem::take(&mut self.pieces);
        // Only the pieces after the common beginning are counted again, so the work for a request depends on how much
        // of it has changed.
        old.iter().skip(same).for_each(|piece| self.count(piece.digest, reading.index, false));
        next.iter().skip(same).for_each(|piece| self.count(piece.digest, reading.index, true));
        let common = next.iter().take(same).map(|piece| piece.cost.tokens).sum();
        let total = next.iter().map(|piece| piece.cost).sum();
        self.pieces = next;
        (total, common)
    }

    fn pieces_of(&mut self, request: &Request, name: Cost, reading: SheetInput<'_>) -> Vec<RequestPiece> {
        let mut pieces = vec![RequestPiece { speaker: SheetRole::Lead, digest: [0; 16], cost: name }];
        for tool in &request.tools {
            let mut hasher = blake3::Hasher::new();
            [&tool.name, &tool.description, &tool.schema].iter().for_each(|text| feed(&mut hasher, text));
            let cost = cost::tool(tool, reading.costs);
            pieces.push(RequestPiece { speaker: SheetRole::Lead, digest: finish(&hasher), cost });
        }
        for part in &request.system {
            pieces.push(self.piece(SheetRole::Lead, part, reading, false));
        }
        for (number, message) in request.messages.iter().enumerate() {
            let from = pieces.len();
            let speaker = SheetRole::Of(message.role);
            for (nth, part) in message.parts.iter().enumerate() {
                let is_entry = !matches!(part, Part::Text { .. }) || reading.is_said((number, nth));
                pieces.push(self.piece(speaker, part, reading, is_entry));
            }
            let frames = 1 + message.results().count();
            let frame: Cost = std::iter::repeat_n(cost::frame(reading.costs), frames).sum();
            match pieces.get_mut(from) {
                Some(first) => first.cost += frame,
                None => pieces.push(RequestPiece { speaker, digest: [0; 16], cost: frame }),
            }
        }
        pieces
    }

    fn piece(
        &mut self,
        speaker: SheetRole,
        part: &Part,
        reading: SheetInput<'_>,
        is_entry: bool,
    ) -> RequestPiece {
        let digest = digest(part, &Nothing);
        if let Some(known) = reading.index.parts.get(&digest) {
            return RequestPiece { speaker, digest, cost: known.cost };
        }
        let own = self.own.entry(digest).or_insert_with(|| {
            let index = reading.index;
            let shower = match part {
                Part::ToolResult { .. } => Shower::Result,
                _ if is_entry => Shower::Entry,
                _ => Shower::Ours,
            };
            let (mut names, mut listed, mut leads) = (Vec::new(), Vec::new(), Vec::new());
            for text in spoken(part).into_iter().filter_map(|body| Nothing.of(body)) {
                if is_entry {
                    let mut found = Vec::new();
                    all_keys(text, &index.wanted, &mut found);
                    names.extend(index.names.known(&found));
                } else {
                    let NamedInLines { said, listed: more } =
                        named_in_lines(text, &index.names, &index.wanted);
                    names.extend(said);
                    listed.extend(more);
                }
                leads.extend(reach(text, shower, index, reading.positions));
            }
            let (names, listed, leads) = (each_once(names), each_once(listed), each_once(leads));
            Own { cost: cost::part(part, reading.costs), names, listed, leads }
        });
        RequestPiece { speaker, digest, cost: own.cost }
    }

    fn count(&mut self, digest: Digest, index: &Index, comes: bool) {
        let step = |count: &mut u32| *count = if comes { *count + 1 } else { count.saturating_sub(1) };
        let present = self.present.entry(digest).or_default();
        let before = *present;
        step(present);
        if (before > 0) != (*present > 0) {
            let words = self.user.by_piece.get(&digest).copied().unwrap_or_default();
            self.user.shown = if comes { self.user.shown + words } else { self.user.shown - words };
        }
        let own = self.own.get(&digest);
        let names = match (index.parts.get(&digest), own) {
            (Some(known), _) => &*known.names,
            (None, Some(own)) => &*own.names,
            (None, None) => return,
        };
        let leads = own.map_or(&[][..], |own| &own.leads);
        let listed = own.map_or(&[][..], |own| &own.listed);
        for (names, counts) in [(names, &mut self.said), (listed, &mut self.listed), (leads, &mut self.led)] {
            for name in names {
                if let Some(count) = counts.get_mut(*name as usize) {
                    step(count);
                }
            }
        }
    }

    /// Returns whether an entity occurs in an entry, or in a line that says something about it.
    pub(super) fn says(&self, name: Name) -> bool {
        self.said.get(name as usize).is_some_and(|count| *count > 0)
    }

    /// Returns whether the request contains an entity, even if only in a list.
    pub(super) fn shows(&self, name: Name) -> bool {
        self.says(name) || self.listed.get(name as usize).is_some_and(|count| *count > 0)
    }

    /// Returns whether a line of the request leads to an entity.
    pub(super) fn leads_to(&self, name: Name) -> bool {
        self.led.get(name as usize).is_some_and(|count| *count > 0)
    }

    /// Returns whether the request contains a piece in its original form.
    pub(super) fn holds(&self, piece: &Digest) -> bool {
        self.present.get(piece).is_some_and(|count| *count > 0)
    }
}

/// Bodies of a rendered request: none, because all its texts are inline.
struct Nothing;

impl Bodies for Nothing {
    fn text(&self, _: wunderblock_core::id::Handle) -> Option<&str> {
        None
    }
}
