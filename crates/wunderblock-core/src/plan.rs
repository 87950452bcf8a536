//! The one decision: which entries go in, and in which form, under this budget.
//!
//! Between two steps a request only grows at its end. When it no longer fits, the lane's two frontiers ([`Trim`]) move
//! forward far enough that at least a fifth of the window is free again, and the move is recorded; until the next one,
//! nothing that has been shown changes. What stays whatever happens: the operator's words, the user's first turn while
//! it is short, the user's newest turn, and what is pinned.

use crate::budget::Budget;
use crate::cost::{self, EntryCost, MESSAGE_FRAME};
use crate::id::CallId;
use crate::message::{Body, Message, Part, Role};
use crate::pair::{Arrangement, Shape, Unit, arrange};
use crate::ports::{Bodies, Gauge};
use crate::section::Section;
use crate::units::{Bytes, Cost, Seq, Tokens};
use crate::view::View;
use serde::{Deserialize, Serialize};

/// The part of the window one step sets free, as a divisor: a fifth.
pub const STEP_DIVISOR: u64 = 5;
/// The part of the limit that stubs may take, as a divisor: a tenth.
pub const STUB_DIVISOR: u64 = 10;
/// The part of the window up to which the user's first turn is kept, as a divisor: a twentieth.
pub const FIRST_TURN_DIVISOR: u64 = 20;
/// What the mark of a gap costs at most.
pub const GAP_COST: Cost = Cost::new(128, 512);
/// What stands in for a result that was never recorded costs at most, the call's id not counted.
pub const SYNTHETIC_COST: Cost = Cost::new(64, 512);

/// What a lane leaves out, until the next recorded step.
///
/// Two frontiers run through the session, both only ever forward: units that end before `drop_before` are left out,
/// those that end before `stub_before` are shown with their large bodies as stubs, the rest verbatim. Entries in `keep`
/// stay verbatim wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trim {
    /// The first position that is shown at all.
    pub drop_before: Seq,
    /// The first position that is shown verbatim.
    pub stub_before: Seq,
    /// Positions before the frontiers that stay, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Seq>,
    /// User texts that alone exceed the window: only this many bytes of each, half head, half tail, are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clip: Vec<(Seq, Bytes)>,
}

impl Trim {
    /// How many bytes of each text of an entry are shown, if it is clipped.
    #[must_use]
    pub fn clip_of(&self, seq: Seq) -> Option<Bytes> {
        self.clip.iter().find(|(at, _)| *at == seq).map(|(_, bytes)| *bytes)
    }
}

/// Why a lane moved its frontiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimReason {
    /// The request no longer fitted.
    OverBudget,
    /// A result arrived for a call that had been answered in its place.
    LateResult,
    /// Something that had been shown was erased.
    Erased,
}

/// Something that comes back at the tail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The entry it is from.
    pub from_seq: Seq,
    /// The text.
    pub body: Body,
    /// What it is, in a few words.
    pub what: Box<str>,
    /// Why it came back.
    pub why: Box<str>,
}

/// What was decided. Everything needed to render the same request again from the same events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The newest position considered.
    pub through: Seq,
    /// What is left out and stubbed.
    pub trim: Trim,
    /// Why the frontiers moved, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<TrimReason>,
    /// What comes back at the tail with this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<Injection>,
    /// Calls without a recorded result, answered by a mark that says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synthetic: Vec<CallId>,
}

/// A part of the request no event holds, or no trimming may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Where it stands.
    pub section: Section,
    /// What it is, in a few words.
    pub what: String,
    /// What it costs.
    pub cost: Cost,
}

/// What is known when a request is to be planned.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// What could be seen.
    pub view: &'a View,
    /// What must fit.
    pub budget: Budget,
    /// What texts cost.
    pub gauge: &'a dyn Gauge,
    /// The texts of long user turns, for the case that one alone exceeds the window.
    pub bodies: &'a dyn Bodies,
    /// Tools and other text outside the transcript.
    pub fixed: &'a [Fixed],
    /// What could come back, best first.
    pub hits: &'a [Injection],
}

/// Why no request can be built: even the least does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the parts that cannot be left out take {needed} tokens; {limit} fit")]
pub struct Refusal {
    /// What the sections may use.
    pub limit: Tokens,
    /// What the least request would take.
    pub needed: Tokens,
    /// What it is made of.
    pub parts: Vec<Fixed>,
}

/// Decides what goes into a request. Total: the answer is a plan that fits, or the parts that do not.
///
/// # Errors
/// When fixed parts, kept turns and the newest turn, clipped as far as allowed, exceed the limit.
pub fn plan(ask: &Ask<'_>) -> Result<Plan, Box<Refusal>> {
    let arrangement = arrange(ask.view);
    let scale = Scale::new(ask, &arrangement);
    let trim = ask.view.trim();
    let late = is_late(ask.view, &arrangement);
    let mut plan = Plan { through: ask.view.head(), trim: trim.clone(), ..Plan::default() };
    if scale.total(trim).fits(scale.limit) {
        plan.step = late.then_some(TrimReason::LateResult);
    } else {
        plan.trim = scale.step()?;
        plan.step = Some(TrimReason::OverBudget);
    }
    plan.inject = scale.returning(&plan.trim);
    plan.synthetic = synthetic(&arrangement, &plan.trim, ask.view);
    Ok(plan)
}

/// Whether a unit is in a request under a trim, and in which form.
#[must_use]
pub fn treatment(unit: &Unit, trim: &Trim, view: &View) -> crate::budget::Treatment {
    use crate::budget::Treatment;
    let kept = unit.shape == Shape::System
        || unit.members.iter().any(|seq| view.pinned().contains(seq) || trim.keep.binary_search(seq).is_ok());
    if unit.members.iter().any(|seq| trim.clip_of(*seq).is_some()) {
        Treatment::Clipped
    } else if kept || unit.last >= trim.stub_before {
        Treatment::Verbatim
    } else if unit.last >= trim.drop_before {
        Treatment::Stub
    } else {
        Treatment::LeftOut
    }
}

fn is_late(view: &View, arrangement: &Arrangement) -> bool {
    arrangement.units.iter().any(|unit| match &unit.shape {
        Shape::Exchange { calls } => {
            calls.iter().any(|(call, result)| result.is_some() && view.synthetic().contains(call))
        }
        _ => false,
    })
}

fn synthetic(arrangement: &Arrangement, trim: &Trim, view: &View) -> Vec<CallId> {
    let shown = arrangement
        .units
        .iter()
        .filter(|unit| treatment(unit, trim, view) != crate::budget::Treatment::LeftOut);
    let calls = shown.flat_map(|unit| match &unit.shape {
        Shape::Exchange { calls } => calls.as_slice(),
        _ => &[],
    });
    calls.filter(|(_, result)| result.is_none()).map(|(call, _)| call.clone()).collect()
}

/// The units with their costs, ordered by where they end: a frontier divides them into a front and a back.
struct Scale<'a> {
    ask: &'a Ask<'a>,
    limit: Cost,
    fixed: Cost,
    units: Vec<(&'a Unit, EntryCost)>,
}

impl<'a> Scale<'a> {
    fn new(ask: &'a Ask<'a>, arrangement: &'a Arrangement) -> Self {
        let mut units: Vec<_> =
            arrangement.units.iter().map(|unit| (unit, unit_cost(unit, ask.view, ask.gauge))).collect();
        units.sort_by_key(|(unit, _)| unit.last);
        let fixed = ask.fixed.iter().map(|part| part.cost).sum();
        Self { ask, limit: ask.budget.limit(), fixed, units }
    }

    fn total(&self, trim: &Trim) -> Cost {
        use crate::budget::Treatment;
        let mut total = self.fixed + gaps(trim);
        for (unit, cost) in &self.units {
            total += match treatment(unit, trim, self.ask.view) {
                Treatment::Verbatim => cost.verbatim,
                Treatment::Stub => cost.stub,
                Treatment::LeftOut => Cost::ZERO,
                Treatment::Clipped => clipped_cost(unit, trim, self.ask),
            };
        }
        total
    }

    /// The next step: frontiers far enough forward, but no further than the newest unit unless it must be.
    fn step(&self) -> Result<Trim, Box<Refusal>> {
        let window = self.ask.budget.window.0;
        let roomy =
            Cost { tokens: self.limit.tokens.saturating_sub(Tokens(window / STEP_DIVISOR)), ..self.limit };
        for (target, share) in [(roomy, STUB_DIVISOR), (self.limit, STUB_DIVISOR), (self.limit, u64::MAX)] {
            for keep in [self.kept(true), self.kept(false)] {
                if let Some(trim) = self.frontiers(target, share, keep)
                    && self.total(&trim).fits(self.limit)
                {
                    return Ok(trim);
                }
            }
        }
        self.last_resort()
    }

    /// What stays verbatim wherever it stands. Without the comfort of the first turn if there is no room.
    fn kept(&self, with_first: bool) -> Vec<Seq> {
        let view = self.ask.view;
        let small = Tokens(self.ask.budget.window.0 / FIRST_TURN_DIVISOR);
        let first = view.first_user().filter(|seq| {
            with_first
                && self
                    .units
                    .iter()
                    .any(|(unit, cost)| unit.members.contains(seq) && cost.verbatim.tokens <= small)
        });
        let mut keep: Vec<Seq> =
            first.into_iter().chain(view.newest_user()).chain(view.pinned().iter().copied()).collect();
        keep.sort_unstable();
        keep.dedup();
        keep
    }

    /// The furthest back the frontiers may stand under `target`; `None` when not even the newest unit fits verbatim.
    fn frontiers(&self, target: Cost, stub_share: u64, keep: Vec<Seq>) -> Option<Trim> {
        let old = self.ask.view.trim();
        let after = self.ask.view.head().next();
        let mut trim = Trim { drop_before: after, stub_before: after, keep, clip: Vec::new() };
        let least = self.total(&trim);
        if !least.fits(target) {
            return None;
        }
        let room = target.saturating_sub(least);
        let stubs = Cost { tokens: Tokens(self.limit.tokens.0 / stub_share), ..room };
        let free: Vec<&(&Unit, EntryCost)> = self
            .units
            .iter()
            .filter(|(unit, _)| treatment(unit, &trim, self.ask.view) == crate::budget::Treatment::LeftOut)
            .collect();
        let reserved = free.iter().map(|(_, cost)| cost.stub).sum::<Cost>().tokens.min(stubs.tokens);
        let verbatim_room = Cost { tokens: room.tokens.saturating_sub(reserved), ..room };
        let (start, used) = reach(&free, free.len(), verbatim_room, |cost| cost.verbatim);
        let (from, _) = reach(&free, start, room.saturating_sub(used), |cost| cost.stub);
        if start == free.len() && !free.is_empty() && stub_share != u64::MAX {
            return None;
        }
        let frontier = |index: usize| match index.checked_sub(1).and_then(|before| free.get(before)) {
            Some((unit, _)) => unit.last.next(),
            None => Seq::START,
        };
        trim.stub_before = frontier(start).max(old.stub_before);
        trim.drop_before = frontier(from).max(old.drop_before).min(trim.stub_before);
        trim.keep.retain(|seq| *seq < trim.stub_before);
        Some(trim)
    }

    /// Nothing of the transcript but what must be there; the user's words as head and tail if they alone are too long.
    fn last_resort(&self) -> Result<Trim, Box<Refusal>> {
        let after = self.ask.view.head().next();
        let newest: Vec<Seq> = self.ask.view.newest_user().into_iter().collect();
        let mut trim =
            Trim { drop_before: after, stub_before: after, keep: newest.clone(), clip: Vec::new() };
        let pinned = self.ask.view.pinned();
        if let Some(seq) = newest.first() {
            let mut low = 0;
            let mut high = self.longest_text(*seq).0;
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                trim.clip = vec![(*seq, Bytes(middle))];
                if self.total(&trim).fits(self.limit) { low = middle } else { high = middle - 1 }
            }
            trim.clip = vec![(*seq, Bytes(low))];
            if low >= MIN_CLIP.0 && self.total(&trim).fits(self.limit) {
                trim.keep.extend(pinned.iter().copied());
                trim.keep.sort_unstable();
                trim.keep.dedup();
                return Ok(trim);
            }
            trim.clip.clear();
        } else if self.total(&trim).fits(self.limit) {
            return Ok(trim);
        }
        Err(Box::new(self.refusal(&trim)))
    }

    fn longest_text(&self, seq: Seq) -> Bytes {
        let message = self.ask.view.entry(seq).and_then(|entry| entry.message.as_ref());
        let texts = message.into_iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.bytes()),
            _ => None,
        });
        texts.max().unwrap_or_default()
    }

    fn refusal(&self, trim: &Trim) -> Refusal {
        let mut parts = self.ask.fixed.to_vec();
        for (unit, cost) in &self.units {
            if treatment(unit, trim, self.ask.view) == crate::budget::Treatment::LeftOut {
                continue;
            }
            let section = if unit.shape == Shape::System { Section::System } else { Section::Prompt };
            let what = match (section, self.ask.view.newest_user()) {
                (Section::System, _) => format!("system message at position {}", unit.key),
                (_, Some(newest)) if unit.members.contains(&newest) => {
                    format!("the user's newest turn, at position {newest}")
                }
                _ => format!("pinned entry at position {}", unit.key),
            };
            parts.push(Fixed { section, what, cost: cost.verbatim });
        }
        let needed = parts.iter().map(|part| part.cost.tokens).sum::<Tokens>() + gaps(trim).tokens;
        Refusal { limit: self.limit.tokens, needed, parts }
    }

    /// What comes back: the best hits, in at most half of the room that is left.
    fn returning(&self, trim: &Trim) -> Vec<Injection> {
        let room = self.limit.saturating_sub(self.total(trim));
        let mut left = Cost { tokens: Tokens(room.tokens.0 / 2), bytes: Bytes(room.bytes.0 / 2) };
        let mut items: Vec<Injection> = Vec::new();
        for hit in self.ask.hits {
            let message = crate::view::recalled(std::slice::from_ref(hit), self.ask.view.lane());
            let cost = cost::message(&message, self.ask.gauge);
            let twice = items.iter().any(|item| item.body == hit.body);
            if !twice && cost.fits(left) {
                left = left.saturating_sub(cost);
                items.push(hit.clone());
            }
        }
        items
    }
}

/// The least of a clipped text that is still worth sending.
pub const MIN_CLIP: Bytes = Bytes(256);

/// How far back from `end` the units fit into `room`: the first index, and what they take.
fn reach(
    units: &[&(&Unit, EntryCost)],
    end: usize,
    room: Cost,
    form: impl Fn(&EntryCost) -> Cost,
) -> (usize, Cost) {
    let mut used = Cost::ZERO;
    let mut start = end;
    for (index, (_, cost)) in units.iter().enumerate().take(end).rev() {
        let more = used + form(cost);
        if !more.fits(room) {
            break;
        }
        used = more;
        start = index;
    }
    (start, used)
}

fn gaps(trim: &Trim) -> Cost {
    let count = trim.keep.len() as u64 + 1;
    Cost::new(GAP_COST.tokens.0.saturating_mul(count), GAP_COST.bytes.0.saturating_mul(count))
}

/// What a unit costs in either form.
fn unit_cost(unit: &Unit, view: &View, gauge: &dyn Gauge) -> EntryCost {
    let mut total = EntryCost::default();
    let message = |seq: &Seq| view.entry(*seq).and_then(|entry| entry.message.as_ref());
    for said in unit.speakers.iter().filter_map(message) {
        total += both(MESSAGE_FRAME);
        for piece in own_parts(said) {
            total += cost::forms(piece, gauge, None);
        }
    }
    let Shape::Exchange { calls } = &unit.shape else { return total };
    if !calls.is_empty() {
        total += both(MESSAGE_FRAME);
    }
    for (call, result) in calls {
        let found = result.and_then(|(seq, index)| {
            let said = message(&seq)?;
            Some((said.parts.get(index)?, view.gist(call, seq)))
        });
        total += match found {
            Some((piece, gist)) => cost::forms(piece, gauge, gist),
            None => both(SYNTHETIC_COST + gauge.text(call.as_str())),
        };
        // Each result may become a message of its own, in a dialect that wants it so.
        total += both(MESSAGE_FRAME);
    }
    total
}

fn both(cost: Cost) -> EntryCost {
    EntryCost { verbatim: cost, stub: cost }
}

/// The parts a speaker says: all but tool results, which stand with their calls.
pub(crate) fn own_parts(message: &Message) -> impl Iterator<Item = &Part> {
    let is_reply = message.role == Role::Assistant;
    message.parts.iter().filter(move |part| is_reply || !matches!(part, Part::ToolResult { .. }))
}

fn clipped_cost(unit: &Unit, trim: &Trim, ask: &Ask<'_>) -> Cost {
    let messages = unit.speakers.iter().filter_map(|seq| {
        let said = ask.view.entry(*seq)?.message.as_ref()?;
        Some((trim.clip_of(*seq), said))
    });
    let mut total = Cost::ZERO;
    for (clip, said) in messages {
        total += MESSAGE_FRAME;
        for piece in own_parts(said) {
            let clipped = clip.and_then(|bytes| crate::render::clip(piece, bytes, ask.bodies));
            total += cost::part(clipped.as_ref().unwrap_or(piece), ask.gauge);
        }
    }
    total
}
