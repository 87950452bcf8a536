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

use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::request::input::job::BuildJob;
use crate::request::need::Asking;
use crate::request::packer::Packer;
use crate::request::stages::Planned;
use crate::request::steps::compose::fixed;
use find::Finder;
use names::Name;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wunderblock_core::event::Event;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Message, Part};
use wunderblock_core::plan::{AskedText, Injection, PlanInput, Recalled, recall};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_store::BodyCount;

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
    /// Returns the names in a turn, without places.
    pub(crate) fn of_turn(turn: Seq, said: &Message, texts: &Texts) -> Self {
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

    /// Returns the positions to read: the places, the results that follow them, and what precedes them.
    pub(crate) fn around(&self) -> Vec<Seq> {
        let mut seen = BTreeSet::new();
        let near = |seq: &Seq| [*seq, Seq(seq.0 + 1), Seq(seq.0 + 2), Seq(seq.0 + 3), seq.prev()];
        let near = self.places.iter().flat_map(near);
        near.filter(|seq| *seq > Seq::START && seen.insert(*seq)).collect()
    }
}

/// Brings the texts of the names back that the request does not show, as far as there is room.
pub(in crate::request) async fn bring_back(
    planned: &mut Planned,
    found: NamedEvents,
    job: &BuildJob,
    ask: &Asking,
) -> Result<(), Error> {
    let named = Arc::clone(&planned.snapshot.named);
    // A text that entered now would come after a reply that still waits, but before its results.
    if named.names.is_empty() || !planned.decision.plan.trim.waiting.is_empty() {
        return Ok(());
    }
    found.counts.iter().for_each(|(handle, count)| planned.costs.learn(*handle, *count));
    let packer = Packer::new(job.key);
    let (mut asked, wanted) = wanted_texts(planned, &named, &found, &packer);
    packer.unload(&planned.costs, &mut planned.texts);
    let (places, wanted): (Vec<usize>, Vec<AskedText>) = wanted.into_iter().unzip();
    // The driver leaves out only texts of megabytes.
    let handles: Vec<Handle> = wanted.iter().filter_map(|one| one.whole.body.handle()).collect();
    ask.texts(&mut planned.texts, handles.iter().copied()).await?;
    for handle in handles.into_iter().filter(|handle| !planned.costs.knows(*handle)) {
        if let Some(text) = planned.texts.text(handle) {
            planned.costs.learn(handle, planned.costs.measure(text));
        }
    }
    let mut items: Vec<Injection> = Vec::new();
    for ((place, one), answer) in places.iter().zip(&wanted).zip(answered(planned, job, &wanted)) {
        let outcome = match answer {
            Recalled::Shown => AskedOutcome::Shown,
            Recalled::NoRoom { needs, had } => AskedOutcome::NoRoom { needs, had },
            Recalled::Enters(item) => {
                let is_whole = item.body == one.whole.body;
                items.push(packer.packed(&item));
                if is_whole { AskedOutcome::Recalled } else { AskedOutcome::Cut }
            }
        };
        if let Some(one) = asked.get_mut(*place) {
            one.outcome = outcome;
        }
    }
    packer.unload(&planned.costs, &mut planned.texts);
    planned.asked = asked;
    planned.decision.bring_back(items, &planned.texts)
}

/// Returns the names with what is known of them, and the texts that were found, with the places of their names.
fn wanted_texts(
    planned: &Planned,
    named: &NamedPlaces,
    found: &NamedEvents,
    packer: &Packer,
) -> (Vec<AskedFor>, Vec<(usize, AskedText)>) {
    let (mut asked, mut wanted): (Vec<AskedFor>, Vec<(usize, AskedText)>) = (Vec::new(), Vec::new());
    let finder = Finder::of(&found.events, &planned.texts, planned.decision.view.hidden(), named.turn);
    for (name, handles) in &named.names {
        let held = found.held.iter().filter(|(handle, _)| handles.contains(handle));
        let (outcome, at) = match finder.find(name, &held.copied().collect::<Vec<_>>()) {
            Err((AskedOutcome::Unknown, _)) if !name.firm => continue,
            Err((AskedOutcome::Unknown, at)) if named.is_partly => (AskedOutcome::NotIndexed, at),
            Err(missing) => missing,
            Ok(mut text) => {
                // A part of a body becomes a body of its own.
                if text.whole.part_of.is_some() {
                    text.whole = packer.packed(&text.whole);
                }
                let at = Some(text.whole.from_seq);
                let is_it = |had: &AskedText| had.whole.body == text.whole.body && had.part == text.part;
                if wanted.iter().any(|(_, had)| is_it(had)) {
                    continue;
                }
                wanted.push((asked.len(), text));
                (AskedOutcome::Shown, at)
            }
        };
        asked.push(AskedFor { name: name.text.clone(), outcome, at });
    }
    (asked, wanted)
}

/// Returns what becomes of texts in the planned request.
fn answered(planned: &Planned, job: &BuildJob, wanted: &[AskedText]) -> Vec<Recalled> {
    let trim = &planned.decision.plan.trim;
    with_plan_input(planned, job, |input| recall(&input, trim, wanted))
}

/// Calls a function with the input of planning, after the plan has been applied.
fn with_plan_input<T>(planned: &Planned, job: &BuildJob, then: impl FnOnce(PlanInput<'_>) -> T) -> T {
    let Planned { snapshot, target, costs, decision, texts, .. } = planned;
    let limit = target.budget.limit().tokens;
    then(PlanInput {
        view: &decision.view,
        stream: job.stream_handle(),
        budget: target.budget,
        costs,
        bodies: texts,
        fixed: &fixed(target, &decision.view, costs),
        must: &[],
        hits: &[],
        recall: job.options.shares.most(Section::Recall, limit),
        transcript: job.options.shares.most(Section::Transcript, limit),
        floor: snapshot.floor,
    })
}
