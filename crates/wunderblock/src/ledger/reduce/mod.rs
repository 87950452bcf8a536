//! Shortens texts of a lane's view before they enter the next request: chooses them, reduces them, and returns facts.
//!
//! ```text
//! View ─ Choice::more ─► Candidate … texts ─ shorten ─► ContentReduced … ─ Choice::gained ─► more
//! ```
//! The choice proceeds from the latest entry backwards, as far as a request can reach after texts have been
//! shortened. The choice itself reads no text; the caller provides the texts. The same view always gives the same
//! facts, which do not depend on a clock, on the number of threads, or on what else is loaded.

mod reads;

use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Reducer;
use crate::rules::token_costs::TokenCosts;
use std::collections::{BTreeMap, HashMap, HashSet};
use wunderblock_core::cost;
use wunderblock_core::decision::PartPosition;
use wunderblock_core::event::{ContentReduced, Reduction};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Part};
use wunderblock_core::pair::{PairedCall, arrange};
use wunderblock_core::policy::{Reduce, ReductionLevel};
use wunderblock_core::ports::{Bodies, CostModel as _};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_core::view::{View, ViewEntry};
use wunderblock_reduce::{EarlierText, Level, Options, gaps, polled, running};

/// Minimum number of characters in a failed result that is shortened. The next step depends on the failure, so
/// shorter results stay unchanged.
const FAILURE_CHARS: usize = 8_000;
/// Maximum number of texts with marks that are looked up in one round.
const MAX_MARKED: usize = 256;
/// Maximum number of rounds in which the choice reaches further back because later texts became shorter. Each round
/// gains only a part of what the previous one gained, and costs a query to the ledger.
const ROUNDS: usize = 8;
/// Maximum number of earlier texts that are searched for repeated blocks of lines.
const EARLIER: usize = 8;
/// Maximum number of earlier entries from which the searched texts are taken.
const EARLIER_ENTRIES: usize = 100;
/// Maximum number of earlier outputs among which the beginning of a polled process is searched for.
const MAX_BEGUN: usize = 32;
/// Maximum size in bytes of an earlier text. Loading a larger text would take too long.
const EARLIER_BYTES: Bytes = Bytes(1 << 20);
/// Minimum total size in bytes at which several threads share the work. For smaller sizes, starting threads costs
/// more than it saves.
const SHARED: usize = 64 << 10;

/// Text that may be shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    at: PartPosition,
    /// Handle of its body.
    pub(crate) handle: Handle,
    bytes: Bytes,
    failed: bool,
    /// Command that produced the text as its output, if any.
    command: Option<Box<str>>,
    /// Process whose output the text continues, if any.
    poll: Option<Poll>,
    /// Earlier texts that the request shows, latest first.
    pub(crate) earlier: Vec<Handle>,
}

/// A call that reads more of a process's output.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Poll {
    /// Name of the process.
    process: Box<str>,
    /// Earlier outputs of commands, latest first, each with its command. One of them may have the name.
    begun: Vec<(Body, Box<str>)>,
}

impl Candidate {
    /// Returns the handles of the texts that are needed to shorten the text.
    pub(crate) fn handles(&self) -> impl Iterator<Item = Handle> + '_ {
        let begun = self.poll.iter().flat_map(|poll| &poll.begun).filter_map(|(body, _)| body.handle());
        self.earlier.iter().copied().chain(begun).chain([self.handle])
    }

    /// Returns the command that produced the text. A poll continues the output of the command that began its process.
    fn command(&self, texts: &dyn Bodies) -> Option<&str> {
        let begun = |poll: &Poll, body: &Body| texts.of(body).and_then(running) == Some(&*poll.process);
        let polled = self.poll.as_ref().and_then(|poll| {
            poll.begun.iter().find(|(body, _)| begun(poll, body)).map(|(_, command)| &**command)
        });
        self.command.as_deref().or(polled)
    }
}

/// Settings and functions that shorten texts.
#[derive(Clone, Copy)]
pub(crate) struct ReduceContext<'a> {
    pub(crate) rules: &'a Reduce,
    pub(crate) costs: &'a TokenCosts,
    pub(crate) reducer: Reducer,
}

/// Choice of candidates in progress.
pub(crate) struct Choice<'a> {
    view: &'a View,
    rules: &'a Reduce,
    costs: &'a TokenCosts,
    /// Calls of the view's results, by the positions of the results.
    calls: HashMap<PartPosition, PairedCall>,
    /// Remaining entries that no request of the lane has shown, latest last.
    entries: Vec<&'a ViewEntry>,
    room: Tokens,
    rounds: usize,
}

impl<'a> Choice<'a> {
    /// Begins a choice. `room` is the number of tokens that a request can hold.
    pub(crate) fn new(view: &'a View, means: &ReduceContext<'a>, room: Tokens) -> Self {
        let ReduceContext { rules, costs, .. } = *means;
        let fresh = view.lane().shown.next().max(view.trim().stub_before);
        let entries: Vec<&ViewEntry> = match rules.is_off() {
            true => Vec::new(),
            false => view.entries().rev().take_while(|entry| entry.seq >= fresh).collect(),
        };
        // Most requests follow a short message, so the pairing of calls is skipped if no result is large.
        let has_large =
            entries.iter().flat_map(|entry| &entry.message.parts).any(|part| is_large(part, rules));
        let arrangement = has_large.then(|| arrange(view));
        let calls = arrangement.iter().flat_map(|all| &all.exchanges).flat_map(|unit| unit.calls());
        let calls = calls.filter_map(|call| Some((call.result?, call.clone()))).collect();
        let entries = if has_large { entries.into_iter().rev().collect() } else { Vec::new() };
        Self { view, rules, costs, calls, entries, room, rounds: ROUNDS }
    }

    /// Returns the next candidates, latest first: as many as fit unchanged. The list is empty when the request cannot
    /// reach any further back.
    pub(crate) fn more(&mut self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let Some(rounds) = self.rounds.checked_sub(1) else { return found };
        self.rounds = rounds;
        while self.room > Tokens::ZERO
            && let Some(entry) = self.entries.pop()
        {
            for (index, part) in entry.message.parts.iter().enumerate() {
                let shown =
                    self.view.standing((entry.seq, index)).and_then(|at| self.view.reductions().text(at));
                let cost = match shown {
                    Some(shorter) => cost::part(&Part::text(shorter.clone()), self.costs),
                    None => cost::part(part, self.costs),
                };
                self.room = self.room.saturating_sub(cost.tokens);
                found.extend(self.candidate(entry, index, part));
            }
        }
        found
    }

    /// Adds to the room the tokens that shortened texts have saved.
    pub(crate) fn gained(&mut self, facts: &[ContentReduced]) {
        let saved = facts.iter().filter_map(|fact| fact.how.as_ref());
        self.room += saved.map(|how| how.tokens_before.saturating_sub(how.tokens_after)).sum();
    }

    fn candidate(&self, entry: &ViewEntry, index: usize, part: &Part) -> Option<Candidate> {
        let at = (entry.seq, index);
        let Part::ToolResult { failed, .. } = part else { return None };
        let body = only_text(part).filter(|body| body.bytes() >= self.rules.least)?;
        let handle = body.handle()?;
        let call = self.calls.get(&at).filter(|_| entry.message.standing.is_sendable())?;
        let is_settled = self.view.trim().form_of(at).is_some() || self.view.standing(at).is_some();
        // A pinned entry must be shown unchanged.
        if is_settled || self.view.pinned().contains(&entry.seq) {
            return None;
        }
        // The number of bytes is an upper bound of the number of characters, so no text is needed here.
        if *failed && body.bytes().0 < FAILURE_CHARS as u64 {
            return None;
        }
        let Some(Part::ToolCall { name, gist, .. }) = self.view.part(call.place) else { return None };
        let gist = gist.as_deref().unwrap_or_default();
        if reads::is_read(name, gist) {
            return None;
        }
        let command = reads::is_shell(name).then(|| gist.into());
        let poll = polled(gist).map(|process| Poll { process: process.into(), begun: self.begun(entry.seq) });
        let earlier = self.earlier(entry.seq, handle);
        Some(Candidate { at, handle, bytes: body.bytes(), failed: *failed, command, poll, earlier })
    }

    /// Returns the outputs of commands before an entry, latest first, each with its command.
    fn begun(&self, before: Seq) -> Vec<(Body, Box<str>)> {
        let entries = self.view.entries().rev().skip_while(|entry| entry.seq >= before).take(EARLIER_ENTRIES);
        let results = entries.flat_map(|entry| {
            entry.message.parts.iter().enumerate().map(|(index, part)| ((entry.seq, index), part))
        });
        let begun = results.filter_map(|(at, part)| {
            let body = only_text(part).filter(|body| body.bytes() <= EARLIER_BYTES)?;
            match self.view.part(self.calls.get(&at)?.place)? {
                Part::ToolCall { name, gist: Some(gist), .. } if reads::is_shell(name) => {
                    Some((body.clone(), gist.clone()))
                }
                _ => None,
            }
        });
        begun.take(MAX_BEGUN).collect()
    }

    /// Returns large texts that precede an entry and that the request shows in full.
    fn earlier(&self, before: Seq, own: Handle) -> Vec<Handle> {
        let trim = self.view.trim();
        let entries = self.view.entries().rev().skip_while(|entry| entry.seq >= before);
        let shown = entries.take_while(|entry| entry.seq >= trim.stub_before).take(EARLIER_ENTRIES);
        let texts = shown.flat_map(|entry| {
            let parts = entry.message.parts.iter().enumerate().rev();
            parts.filter(|(index, _)| trim.form_of((entry.seq, *index)).is_none()).map(|(_, part)| part)
        });
        let sizes = self.rules.least..=EARLIER_BYTES;
        let bodies = texts.filter_map(only_text).filter(|body| sizes.contains(&body.bytes()));
        let handles = bodies.filter_map(Body::handle);
        handles.filter(|handle| *handle != own).take(EARLIER).collect()
    }
}

/// Returns the only text of a result, which may also hold media. With several texts, a mark could not state which
/// text it refers to.
fn only_text(part: &Part) -> Option<&Body> {
    let Part::ToolResult { content, .. } = part else { return None };
    let mut only = None;
    for inner in content {
        match inner {
            Part::Text { text, .. } if only.is_none() => only = Some(text),
            Part::Media { .. } => {}
            _ => return None,
        }
    }
    only
}

fn is_large(part: &Part, rules: &Reduce) -> bool {
    only_text(part).is_some_and(|body| body.bytes() >= rules.least)
}

/// Returns the candidates whose texts contain marks. The ledger decides whether the texts are recorded reductions.
pub(crate) fn marked(candidates: &[Candidate], texts: &dyn Bodies) -> HashSet<Handle> {
    let has_mark = |handle: &Handle| texts.text(*handle).is_some_and(|text| gaps(text).next().is_some());
    candidates.iter().map(|candidate| candidate.handle).filter(has_mark).take(MAX_MARKED).collect()
}

/// Shortened form of a body.
#[derive(Clone, Debug)]
struct Short {
    text: String,
    how: Reduction,
}

/// Shortens the texts of candidates. Texts that do not become shorter produce no fact. `known` holds the texts that
/// are already reductions, and `pack` turns a text into a body.
///
/// # Errors
/// Fails if a thread ended early.
pub(crate) fn shorten(
    candidates: &[Candidate],
    texts: &dyn Bodies,
    means: &ReduceContext<'_>,
    known: &HashSet<Handle>,
    pack: &dyn Fn(String) -> Body,
) -> Result<Vec<ContentReduced>, Error> {
    // The same text may occur twice, as output of different commands. The latest occurrence determines the form of
    // the text, so both occurrences are shown alike.
    let mut work: BTreeMap<Handle, (&Candidate, &str, Tokens)> = BTreeMap::new();
    for candidate in candidates {
        let Some(text) = texts.text(candidate.handle) else { continue };
        if candidate.failed && text.chars().take(FAILURE_CHARS).count() < FAILURE_CHARS {
            continue;
        }
        let tokens = means.costs.blob(candidate.handle).tokens;
        work.entry(candidate.handle).or_insert((candidate, text, tokens));
    }
    let bytes: usize = work.values().map(|(_, text, _)| text.len()).sum();
    let items: Vec<(Handle, ReductionItem<'_>)> = work
        .into_iter()
        .map(|(handle, (candidate, text, tokens))| {
            let command = candidate.command(texts);
            let earlier = candidate.earlier.iter();
            let earlier = earlier.filter_map(|known| Some((known.short(), texts.text(*known)?))).collect();
            (handle, ReductionItem { text, tokens, command, earlier, costs: means.costs.alike() })
        })
        .collect();
    let (rules, reducer) = (means.rules, means.reducer);
    let one = |(handle, item): (Handle, ReductionItem<'_>)| {
        Ok((handle, item.short(handle, rules, reducer, known.contains(&handle))))
    };
    let short: Vec<(Handle, Option<Short>)> = if bytes < SHARED {
        items.into_iter().map(one).collect::<Result<_, Error>>()?
    } else {
        parallel::map(items, one)?
    };
    let short: HashMap<Handle, Short> =
        short.into_iter().filter_map(|(handle, short)| Some((handle, short?))).collect();
    Ok(facts(candidates, &short, pack))
}

fn facts(
    candidates: &[Candidate],
    short: &HashMap<Handle, Short>,
    pack: &dyn Fn(String) -> Body,
) -> Vec<ContentReduced> {
    let fact = |candidate: &Candidate| {
        let Short { text, how } = short.get(&candidate.handle)?.clone();
        Some(ContentReduced {
            target: candidate.at.0,
            part: u32::try_from(candidate.at.1).ok()?,
            text: pack(text),
            reducer: how.kind.clone(),
            bytes_before: candidate.bytes,
            standing: true,
            lane: None,
            how: Some(how),
        })
    };
    candidates.iter().filter_map(fact).collect()
}

/// Text to reduce.
struct ReductionItem<'t> {
    text: &'t str,
    tokens: Tokens,
    command: Option<&'t str>,
    /// Earlier texts, by their handles.
    earlier: Vec<(String, &'t str)>,
    costs: TokenCosts,
}

impl ReductionItem<'_> {
    fn short(&self, handle: Handle, rules: &Reduce, reducer: Reducer, known: bool) -> Option<Short> {
        let level = match rules.level {
            ReductionLevel::Off => return None,
            ReductionLevel::Lossless => Level::Lossless,
            ReductionLevel::Fold => Level::Fold,
        };
        // The count of the text itself is known. Other counts are for shorter forms of the text.
        let is_whole = |text: &str| text.len() == self.text.len() && text == self.text;
        let count = |text: &str| if is_whole(text) { self.tokens.0 } else { self.costs.text(text).tokens.0 };
        let own = handle.short();
        let known = |_: &str| known;
        let earlier = self.earlier.iter();
        let earlier: Vec<EarlierText<'_>> =
            earlier.map(|(handle, text)| EarlierText { handle, text }).collect();
        let options = Options {
            level,
            kind: None,
            command: self.command,
            // Short failures have already been skipped.
            failed: false,
            query: None,
            earlier: &earlier,
            handle: Some(&own),
            shown: 0,
            count: &count,
            known: &known,
        };
        let reduced = reducer(self.text.as_bytes(), &options);
        // A reduction must not be larger than its text, neither in tokens nor in bytes of the request.
        let is_excepted = rules.except.iter().any(|except| *except.0 == *reduced.kind.name());
        let is_shorter = reduced.untouched.is_none()
            && !is_excepted
            && reduced.tokens_after < self.tokens.0
            && crate::rules::tokens::escaped_len(&reduced.text)
                <= crate::rules::tokens::escaped_len(self.text)
            && !reduced.text.trim().is_empty();
        is_shorter.then(|| Short {
            how: Reduction {
                kind: reduced.kind.name().into(),
                level: reduced.level.name().into(),
                tokens_before: Tokens(reduced.tokens_before),
                tokens_after: Tokens(reduced.tokens_after),
                lossless: reduced.lossless,
                gaps: reduced.gaps.len() as u64,
            },
            text: reduced.text,
        })
    }
}

/// Sorts facts by their positions in the session, which is the order in which they are recorded.
pub(crate) fn in_order(mut facts: Vec<ContentReduced>) -> Vec<ContentReduced> {
    facts.sort_by_key(|fact| (fact.target, fact.part));
    facts
}
