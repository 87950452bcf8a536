//! Everything about a session that is the same for all policies, computed once.

use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::texts::Texts;
use crate::request::input::target::Target;
use crate::rules::token_costs::TokenCosts;
use crate::show::simulate::reading::digest::{Digest, digest, spoken};
use crate::show::simulate::reading::history::History;
use crate::show::simulate::reading::names::{EntityNames, Name, each_once, keys};
use crate::show::simulate::reading::needs::{self, CallNeeds};
use crate::show::simulate::reading::rereads::{RepeatedRead, repeated_reads};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use wunderblock_core::cost;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{CallId, Handle};
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::pair::{ExchangeKind, arrange};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Cost, Millis, Seq, Tokens};
use wunderblock_core::view::View;
use wunderblock_summary::{content_words, each_word};

/// Number of tokens since the last mention of a name above which a reference to the name counts as far.
const FAR: Tokens = Tokens(8_000);
/// Maximum number of tokens that one read of a handle or a position returns.
pub(in crate::show::simulate) const READ: Tokens = Tokens(2_000);
/// Number of events that one task indexes together.
const SOME: usize = 64;
/// Number of events that all tasks have in memory in the form in which they found them.
const AT_ONCE: usize = 64 * SOME;

/// A part in its original form.
pub(in crate::show::simulate) struct KnownPart {
    pub(in crate::show::simulate) cost: Cost,
    pub(in crate::show::simulate) names: Box<[Name]>,
}

/// Content that can be read by a position or a handle.
#[derive(Default)]
pub(in crate::show::simulate) struct PositionSource {
    /// Names in one read of it.
    pub(in crate::show::simulate) names: Box<[Name]>,
    /// Commands or paths of the calls that the content belongs to.
    pub(in crate::show::simulate) gists: Vec<Box<str>>,
    /// Number of tokens in the whole content.
    pub(in crate::show::simulate) tokens: Tokens,
    /// Content words of a message, sorted; empty if a call is part of the content.
    pub(in crate::show::simulate) words: Box<[u64]>,
}

/// Moment before a reply of the model, at which a request is built.
pub(in crate::show::simulate) struct Moment {
    /// Index of the event before which the request is built.
    pub(in crate::show::simulate) before: usize,
    /// Index of the event before which the next request is built, or the number of events.
    pub(in crate::show::simulate) until: usize,
    /// Time of the request.
    pub(in crate::show::simulate) now: Millis,
    /// Far references: names in the reply that were last said more than [`FAR`] tokens before it.
    pub(in crate::show::simulate) far: Box<[Name]>,
    /// Near references: names last said at most [`FAR`] tokens before the reply, but before the exchange that the
    /// reply continues.
    pub(in crate::show::simulate) near: Box<[Name]>,
    /// Number of the user's turns before the request.
    pub(in crate::show::simulate) turns: usize,
}

/// Index of a session.
#[derive(Default)]
pub(in crate::show::simulate) struct Index {
    pub(in crate::show::simulate) names: EntityNames,
    /// Number of lines that calls replace. These lines have the lowest name numbers.
    lines: usize,
    /// Keys of the same lines.
    pub(in crate::show::simulate) wanted: HashSet<u64>,
    /// Calls, in order.
    pub(in crate::show::simulate) calls: Vec<CallNeeds>,
    /// Index of the event that first mentions each name.
    pub(in crate::show::simulate) first: Vec<usize>,
    /// Parts by their digests.
    pub(in crate::show::simulate) parts: HashMap<Digest, KnownPart>,
    /// Content of each event, by the event's index.
    pub(in crate::show::simulate) sources: Vec<PositionSource>,
    pub(in crate::show::simulate) bodies: BTreeMap<Handle, PositionSource>,
    pub(in crate::show::simulate) texts: Arc<Texts>,
    pub(in crate::show::simulate) moments: Vec<Moment>,
    /// Parts of each user turn, and the number of words in each part.
    pub(in crate::show::simulate) turns: Vec<Vec<(Digest, u64)>>,
    /// Calls that read something again.
    pub(in crate::show::simulate) rereads: Vec<RepeatedRead>,
    /// Names mentioned before the last request.
    pub(in crate::show::simulate) ever: Vec<Name>,
    /// Number of tokens in everything that a request could show.
    pub(in crate::show::simulate) tokens: Tokens,
}

/// A part of an event, as one indexing task found it.
struct SeenPart {
    digest: Digest,
    keys: Vec<u64>,
    /// Keys among `keys` that the beginning of the part mentions, up to the length of one read.
    near: Vec<u64>,
    handles: Vec<(Handle, Vec<u64>)>,
    tokens: Tokens,
    /// Content words of a text.
    words: HashSet<u64>,
    /// Whether one read returns the whole part.
    whole: bool,
    /// Needs of the call, if the part is a call.
    needs: Option<Vec<Vec<u64>>>,
}

impl Index {
    /// Indexes a session.
    pub(in crate::show::simulate) fn of(history: &History, target: &Target) -> Result<Self, Error> {
        let costs = TokenCosts::new(target.row.counter(), target.dialect, history.counts());
        let wanted = wanted(history);
        let mut index = Self {
            wanted: wanted.iter().copied().collect(),
            texts: Arc::clone(&history.texts),
            rereads: repeated_reads(history),
            ..Self::default()
        };
        index.lines = index.names.intern(&wanted).len();
        let mut gists: HashMap<&CallId, &str> = HashMap::new();
        let mut parts: Vec<Vec<Digest>> = Vec::with_capacity(history.events.len());
        for events in history.events.chunks(AT_ONCE) {
            let some: Vec<&[Event]> = events.chunks(SOME).collect();
            let seen = parallel::map(some, |events| {
                let seen = events.iter().map(|event| look(event, history, &index.wanted, &costs));
                Ok(seen.collect::<Vec<_>>())
            })?;
            for (event, seen) in events.iter().zip(seen.into_iter().flatten()) {
                let gists = own_gists(event, &mut gists);
                index.take((parts.len(), event), &seen, gists, &costs);
                parts.push(seen.iter().map(|seen| seen.digest).collect());
            }
        }
        index.walk(history, &parts, &costs);
        Ok(index)
    }

    /// Adds an event, given what one task found in its parts.
    fn take(
        &mut self,
        (number, event): (usize, &Event),
        seen: &[SeenPart],
        gists: Vec<Box<str>>,
        costs: &TokenCosts,
    ) {
        let mut all: Vec<u64> = Vec::new();
        for (piece, seen) in message_of(event).into_iter().flat_map(|said| &said.parts).zip(seen) {
            // A read that returns a long part does not return the part after it.
            if all.is_empty() || seen.whole {
                all.extend(&seen.near);
            }
            if let Some(needs) = &seen.needs {
                self.calls.push(CallNeeds::new(number, needs, &mut self.names));
            }
            let names = self.names.intern(&seen.keys);
            let cost = cost::part(piece, costs);
            self.parts.entry(seen.digest).or_insert(KnownPart { cost, names });
            for (handle, keys) in &seen.handles {
                let (names, tokens) = (self.names.intern(keys), seen.tokens);
                let source = self.bodies.entry(*handle).or_insert_with(|| PositionSource {
                    names,
                    tokens,
                    words: sorted(seen.words.iter().copied()),
                    ..PositionSource::default()
                });
                let further = gists.iter().filter(|gist| !source.gists.contains(gist));
                let further: Vec<Box<str>> = further.cloned().collect();
                source.gists.extend(further);
            }
        }
        let words = seen.iter().filter(|_| gists.is_empty()).flat_map(|seen| seen.words.iter().copied());
        let words = sorted(words);
        let (names, tokens) = (self.names.intern(&all), seen.iter().map(|seen| seen.tokens).sum());
        self.sources.push(PositionSource { names, gists, tokens, words });
    }

    /// Goes through the session in order, and collects its requests and the references of each reply.
    fn walk(&mut self, history: &History, parts: &[Vec<Digest>], costs: &TokenCosts) {
        let mentions = mentions(history);
        self.first = vec![usize::MAX; self.names.len()];
        let mut last: Vec<Option<LastSaid>> = vec![None; self.names.len()];
        let mut now = Millis::ZERO;
        let mut reply: Option<&str> = None;
        let mut begun = false;
        for (at, event) in history.events.iter().enumerate() {
            if let Some(message) = message_of(event) {
                let is_reply = message.role == Role::Assistant && message.standing == MessageOrigin::Said;
                let api_id = message.api_id.as_deref();
                let goes_on = is_reply && api_id.is_some() && reply == api_id;
                // Several records with one API id are pieces of one reply, and a reply before the first message
                // gets no request.
                if is_reply && !goes_on && begun {
                    let (far, near) = self.references(at, parts, history, &last);
                    let until = history.events.len();
                    self.moments.iter_mut().next_back().into_iter().for_each(|last| last.until = at);
                    self.moments.push(Moment { before: at, until, now, far, near, turns: self.turns.len() });
                }
                if is_reply {
                    reply = api_id;
                }
                begun |= message.role != Role::System && message.standing.is_sendable();
                if message.is_user_turn() {
                    let own = message.parts.iter().zip(parts.get(at).into_iter().flatten());
                    let own = own.filter(|(part, _)| matches!(part, Part::Text { .. }) && part.speaks());
                    let words = |part: &Part| {
                        let mut words = 0;
                        let texts = spoken(part).into_iter().filter_map(|body| history.texts.of(body));
                        texts.for_each(|text| each_word(text, |_| words += 1));
                        words
                    };
                    self.turns.push(own.map(|(part, digest)| (*digest, words(part))).collect());
                }
            }
            now = now.max(event.at);
            let shown: Vec<Digest> = mentions
                .get(at)
                .into_iter()
                .flatten()
                .filter_map(|(event, part)| parts.get(*event)?.get(*part).copied())
                .collect();
            let known = shown.iter().filter_map(|digest| self.parts.get(digest));
            let cost: Tokens = known.clone().map(|known| known.cost.tokens).sum();
            let frame = if shown.is_empty() { Tokens::ZERO } else { cost::frame(costs).tokens };
            self.tokens += cost + frame;
            for name in known.flat_map(|known| known.names.iter()) {
                if let Some(first) = self.first.get_mut(*name as usize) {
                    *first = (*first).min(at);
                }
                if let Some(place) = last.get_mut(*name as usize) {
                    *place = Some(LastSaid { tokens: self.tokens, event: at });
                }
            }
        }
        self.ever = self.mentioned(history, parts, &mentions);
    }

    /// Returns the far and the near references of the reply that begins at an event, over all its pieces.
    fn references(
        &self,
        at: usize,
        parts: &[Vec<Digest>],
        history: &History,
        last: &[Option<LastSaid>],
    ) -> (Box<[Name]>, Box<[Name]>) {
        let mut names: Vec<Name> = Vec::new();
        for (index, message) in pieces(&history.events, at) {
            for (part, digest) in message.parts.iter().zip(parts.get(index).into_iter().flatten()) {
                if matches!(part, Part::Text { .. } | Part::ToolCall { .. }) {
                    names.extend(self.parts.get(digest).into_iter().flat_map(|known| known.names.iter()));
                }
            }
        }
        // Everything said since the previous reply began is in every request, so it says nothing about a policy.
        let present = self.moments.last().map_or(0, |moment| moment.before);
        let (mut far, mut near) = (Vec::new(), Vec::new());
        for name in each_once(names).into_iter().filter(|name| !self.is_line(*name)) {
            let Some(said) = last.get(name as usize).copied().flatten() else { continue };
            if self.tokens.saturating_sub(said.tokens) > FAR {
                far.push(name);
            } else if said.event < present {
                near.push(name);
            }
        }
        (far.into(), near.into())
    }

    /// Returns the names mentioned before the last request.
    fn mentioned(
        &self,
        history: &History,
        parts: &[Vec<Digest>],
        mentions: &[Vec<(usize, usize)>],
    ) -> Vec<Name> {
        let end = self.moments.last().map_or(history.events.len(), |moment| moment.before);
        let shown = mentions.iter().take(end).flatten();
        let digests = shown.filter_map(|(event, part)| parts.get(*event)?.get(*part));
        let known = digests.filter_map(|digest| self.parts.get(digest));
        let names = known.flat_map(|known| known.names.iter().copied());
        each_once(names.filter(|name| !self.is_line(*name)).collect())
    }

    /// Returns whether a name is that of a line that some call replaces.
    fn is_line(&self, name: Name) -> bool {
        (name as usize) < self.lines
    }
}

/// Last occurrence of a name: the number of tokens said up to that point, and the event.
#[derive(Clone, Copy)]
struct LastSaid {
    tokens: Tokens,
    event: usize,
}

/// Sorts words, and removes duplicates.
pub(in crate::show::simulate) fn sorted(words: impl Iterator<Item = u64>) -> Box<[u64]> {
    let mut words: Vec<u64> = words.collect();
    words.sort_unstable();
    words.dedup();
    words.into()
}

/// Returns the keys of the lines that calls replace, each once.
fn wanted(history: &History) -> Vec<u64> {
    let parts = history.events.iter().filter_map(message_of).flat_map(|said| &said.parts);
    let inputs = parts.filter_map(|part| match part {
        Part::ToolCall { input, .. } => history.texts.of(input),
        _ => None,
    });
    let mut lines: Vec<u64> = inputs.flat_map(needs::replaced).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Returns the records of the reply that begins at an event.
fn pieces(events: &[Event], at: usize) -> impl Iterator<Item = (usize, &Message)> {
    let first = events.get(at).and_then(message_of).and_then(|said| said.api_id.as_deref());
    let replies =
        events.iter().enumerate().skip(at).filter_map(|(index, event)| Some((index, message_of(event)?)));
    replies
        .filter(|(_, said)| said.role == Role::Assistant && said.standing == MessageOrigin::Said)
        .take_while(move |(index, said)| *index == at || (first.is_some() && said.api_id.as_deref() == first))
}

/// Returns, for each event, the parts that a request can show word for word from that event on. A result appears once
/// its call is known.
fn mentions(history: &History) -> Vec<Vec<(usize, usize)>> {
    let mut view = View::new(history.lane.clone());
    let mut numbers: HashMap<Seq, usize> = HashMap::new();
    for (number, event) in history.events.iter().enumerate() {
        view.apply(event);
        numbers.insert(event.seq, number);
    }
    let mut mentions = vec![Vec::new(); history.events.len()];
    let mut note = |from: Seq, (seq, part): (Seq, usize)| {
        if let (Some(from), Some(event)) = (numbers.get(&from), numbers.get(&seq))
            && let Some(list) = mentions.get_mut(*from)
        {
            list.push((*event, part));
        }
    };
    for unit in &arrange(&view).exchanges {
        for entry in unit.speakers.iter().filter_map(|seq| view.entry(*seq)) {
            let own = entry.message.parts.iter().enumerate();
            own.filter(|(_, part)| matches!(part, Part::Text { .. } | Part::ToolCall { .. }))
                .for_each(|(index, _)| note(entry.seq, (entry.seq, index)));
        }
        let ExchangeKind::Exchange { calls } = &unit.shape else { continue };
        for call in calls {
            if let Some(result) = call.result {
                note(result.0.max(call.place.0), result);
            }
        }
    }
    mentions
}

pub(in crate::show::simulate) fn message_of(event: &Event) -> Option<&Message> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => Some(&said.message),
        _ => None,
    }
}

/// Returns the commands or paths of an event's calls, or of the calls that its results belong to.
fn own_gists<'e>(event: &'e Event, gists: &mut HashMap<&'e CallId, &'e str>) -> Vec<Box<str>> {
    let mut own: Vec<Box<str>> = Vec::new();
    for part in message_of(event).into_iter().flat_map(|said| &said.parts) {
        match part {
            Part::ToolCall { call, gist: Some(gist), .. } => {
                gists.insert(call, gist);
                own.push(gist.clone());
            }
            Part::ToolResult { call, .. } => own.extend(gists.get(call).map(|gist| (*gist).into())),
            _ => {}
        }
    }
    own
}

fn look(event: &Event, history: &History, wanted: &HashSet<u64>, costs: &TokenCosts) -> Vec<SeenPart> {
    let parts = message_of(event).into_iter().flat_map(|said| &said.parts);
    parts.map(|part| look_at(part, history, wanted, costs)).collect()
}

fn look_at(part: &Part, history: &History, wanted: &HashSet<u64>, costs: &TokenCosts) -> SeenPart {
    let tokens = cost::part(part, costs).tokens;
    let needs = match part {
        Part::ToolCall { input, .. } => history.texts.of(input).map(needs::needs),
        _ => None,
    };
    let (digest, whole) = (digest(part, &*history.texts), tokens <= READ);
    let words = match part {
        Part::Text { text, .. } => history.texts.of(text).map(content_words).unwrap_or_default(),
        _ => HashSet::new(),
    };
    let (keys, near, handles) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = SeenPart { digest, keys, near, handles, tokens, words, whole, needs };
    for body in spoken(part) {
        let Some(text) = history.texts.of(body) else { continue };
        let from = seen.keys.len();
        all_keys(text, wanted, &mut seen.keys);
        let near = if whole {
            seen.keys.get(from..).unwrap_or_default().to_vec()
        } else {
            let mut near = Vec::new();
            all_keys(first_tokens(text, tokens), wanted, &mut near);
            near
        };
        seen.near.extend(&near);
        if let Some(handle) = body.handle() {
            seen.handles.push((handle, near));
        }
    }
    seen
}

/// Returns the beginning of a text with `tokens` tokens, as far as one read returns it.
pub(in crate::show::simulate) fn first_tokens(text: &str, tokens: Tokens) -> &str {
    let bytes = (text.len() as u64).saturating_mul(READ.0) / tokens.0.max(1);
    wunderblock_core::stub::head(text, usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Adds the keys of the entities in a text, and of its lines that some call replaces.
pub(in crate::show::simulate) fn all_keys(text: &str, wanted: &HashSet<u64>, into: &mut Vec<u64>) {
    keys(text, into);
    needs::lines(text, wanted, into);
}
