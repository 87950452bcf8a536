//! Evaluates recorded usage for a request. The results are the size of the context by the provider's count, and the
//! error of our estimates. This module converts a session to marks; [`wunderblock_core::usage`] draws the
//! conclusions.

use crate::request::input::note::{MeasurementNote, What};
use crate::request::input::snapshot::Snapshot;
use crate::rules::catalog::Catalog;
use crate::rules::token_costs::TokenCosts;
use std::cell::RefCell;
use std::iter::Peekable;
use wunderblock_core::message::{MessageOrigin, Part, Role};
use wunderblock_core::units::Seq;
use wunderblock_core::usage::{self, Anchor, Calibration, Measured, NEWEST, Overhead, UsageMark, Weight};
use wunderblock_core::view::{View, ViewEntry};

/// How many of the latest measurements are examined first. Older measurements are examined only if needed, because
/// weighing the entries of a session is the costly part.
const RECENT: usize = 8;

/// Returns the factor, derived from recorded usage, for the cost model's estimates of a model. `None` if the model's
/// tokens are counted exactly, or if too little usage is recorded. A calibrated cost model keeps its factor.
pub(crate) fn calibration(
    snapshot: &Snapshot,
    catalog: &Catalog,
    model: &str,
    costs: &TokenCosts,
) -> Option<Calibration> {
    if costs.calibration().is_some() || !costs.estimates() {
        return costs.calibration();
    }
    if !snapshot.is_measured() {
        return snapshot.learned(model);
    }
    let sought = ModelQuery::new(catalog, model);
    let fresh = usage::calibrate(UsageMarks::new(snapshot, &sought, costs, NEWEST + RECENT), &sought.name);
    // A recorded calibration is kept if it rests on more replies than a new one, even if those replies have left the
    // view.
    let kept = snapshot.learned(model).filter(|kept| fresh.is_none_or(|fresh| fresh.replies < kept.replies));
    kept.or(fresh)
}

/// Returns the latest size of the context by the provider's count, plus the cost model's estimate of later entries.
pub(crate) fn anchor(
    snapshot: &Snapshot,
    catalog: &Catalog,
    model: &str,
    costs: &TokenCosts,
) -> Option<Anchor> {
    if !snapshot.is_measured() {
        return None;
    }
    let sought = ModelQuery::new(catalog, model);
    let look = |newest| usage::anchor(UsageMarks::new(snapshot, &sought, costs, newest), &sought.name);
    look(RECENT).or_else(|| look(usize::MAX))
}

/// Returns the number of tokens that the session's own agent program added to its requests. `None` if nothing was
/// measured at the beginning of the session.
pub(crate) fn overhead(
    opening: &Snapshot,
    catalog: &Catalog,
    model: &str,
    costs: &TokenCosts,
) -> Option<Overhead> {
    // The overhead is visible only in a view that reaches back to the first message.
    if opening.floor.max(opening.view.trim().drop_before) > Seq(2) {
        return None;
    }
    let sought = ModelQuery::new(catalog, model);
    usage::overhead(UsageMarks::new(opening, &sought, costs, usize::MAX), &sought.name)
}

impl Snapshot {
    /// Returns the calibration that the lane's last request or last compaction, whichever is later, used for a model.
    fn learned(&self, model: &str) -> Option<Calibration> {
        let step = self.step.as_ref().and_then(|(at, step)| Some((*at, step.compaction.as_ref()?)));
        let stepped = step.and_then(|(at, done)| Some((at, done.calibration.as_ref()?)));
        let stepped = stepped.filter(|(_, learned)| *learned.model == *model);
        let built = self.before().filter(|(_, built)| *built.model == *model);
        let built = built.and_then(|(at, built)| Some((at, built.calibration?)));
        stepped
            .map(|(at, learned)| (at, learned.learned))
            .into_iter()
            .chain(built)
            .max_by_key(|(at, _)| *at)
            .map(|(_, learned)| learned)
    }

    /// Returns whether any provider's measurement is recorded. Without a measurement, no entry needs to be weighed.
    pub(super) fn is_measured(&self) -> bool {
        self.notes.iter().any(|note| matches!(note.what, What::Measured(..)))
    }
}

/// Model whose measurements are wanted. Comparisons are cached, because a session repeats a few names very often.
struct ModelQuery<'c> {
    catalog: &'c Catalog,
    name: String,
    met: RefCell<Vec<(Box<str>, bool)>>,
}

impl<'c> ModelQuery<'c> {
    fn new(catalog: &'c Catalog, model: &str) -> Self {
        Self { catalog, name: plain(catalog, model), met: RefCell::default() }
    }

    /// Returns whether `model` is a name of the wanted model.
    fn is(&self, model: &str) -> bool {
        let met = self.met.borrow().iter().find(|(name, _)| **name == *model).map(|(_, is)| *is);
        met.unwrap_or_else(|| {
            let is = plain(self.catalog, model) == self.name;
            self.met.borrow_mut().push((model.into(), is));
            is
        })
    }
}

/// Marks of a session, oldest first.
struct UsageMarks<'a> {
    sought: &'a ModelQuery<'a>,
    view: &'a View,
    costs: &'a TokenCosts,
    entries: Peekable<Box<dyn Iterator<Item = &'a ViewEntry> + 'a>>,
    notes: Peekable<std::slice::Iter<'a, MeasurementNote>>,
    /// Positions of the lane's recorded requests, within the examined part.
    built: Vec<Seq>,
    speaker: Option<&'a str>,
    /// Whether the current turn contains reasoning that was sent.
    thought: bool,
    /// Whether the last entry also needs a blur mark, because the entry makes the growth of the context incomparable.
    blur: bool,
}

impl<'a> UsageMarks<'a> {
    /// Starts at the measurement before the model's latest `newest` measurements. Excludes positions that the view
    /// holds only in part.
    fn new(snapshot: &'a Snapshot, sought: &'a ModelQuery<'a>, costs: &'a TokenCosts, newest: usize) -> Self {
        let told = snapshot.notes.iter().rev().filter(|note| match &note.what {
            What::Measured(usage, _) => usage.model.as_deref().is_none_or(|of| sought.is(of)),
            _ => false,
        });
        let floor = snapshot.floor.max(snapshot.view.trim().drop_before);
        let from = told.map(|note| note.seq).nth(newest).unwrap_or_default().max(floor);
        let start = snapshot.notes.partition_point(|note| note.seq < from);
        let entries: Box<dyn Iterator<Item = &'a ViewEntry> + 'a> =
            Box::new(snapshot.view.entries().skip_while(move |entry| entry.seq < from));
        let notes = snapshot.notes.get(start..).unwrap_or_default();
        let ours = |note: &&MeasurementNote| matches!(note.what, What::Built { ours: true, .. });
        Self {
            sought,
            view: &snapshot.view,
            costs,
            entries: entries.peekable(),
            notes: notes.iter().peekable(),
            built: notes.iter().filter(ours).map(|note| note.seq).collect(),
            speaker: None,
            thought: false,
            blur: false,
        }
    }

    fn entry(&mut self, entry: &'a ViewEntry) -> Option<UsageMark<'a>> {
        let said = &entry.message;
        let sent = said.standing.is_sendable();
        let thinks = said.parts.iter().any(|part| matches!(part, Part::Thinking { .. }));
        // Providers drop the reasoning of a turn when the next turn begins, and none reports the number of tokens
        // dropped.
        let dropped = self.thought && said.is_user_turn();
        // What a reply's thinking adds to the next input does not follow from the length of its signature, which made
        // estimates of sessions that think half of what they should be.
        self.blur = sent && (thinks || dropped || said.parts.iter().any(has_media));
        self.thought = (self.thought && !dropped) || (sent && thinks);
        let weight = Weight::as_sent(entry, self.view, self.costs);
        if said.role == Role::Assistant {
            self.speaker = said.model.as_deref().or(self.speaker);
            let failed = matches!(said.standing, MessageOrigin::Failed(_));
            return Some(UsageMark::Reply { api_id: said.api_id.as_deref(), weight, failed });
        }
        sent.then_some(UsageMark::Other(weight))
    }

    /// Returns the wanted name if `model` is a name of that model, otherwise an empty string.
    fn same(&self, model: Option<&str>) -> &'a str {
        if model.is_some_and(|model| self.sought.is(model)) { &self.sought.name } else { "" }
    }

    fn note(&self, note: &'a MeasurementNote) -> Option<UsageMark<'a>> {
        Some(match &note.what {
            What::Measured(usage, live) => UsageMark::Measured(Measured {
                seq: note.seq,
                model: self.same(usage.model.as_deref().or(self.speaker)),
                api_id: usage.api_id.as_deref(),
                input: usage.input + usage.cache_read + usage.cache_write,
                output: usage.output,
                live: *live,
                sent: usage.request.is_some_and(|at| self.built.contains(&at)),
            }),
            What::Built { model, estimate, ours } => {
                let model = if *ours { self.same(Some(model)) } else { "" };
                UsageMark::Built { model, estimate: *estimate }
            }
            What::CutShort => UsageMark::CutShort,
            What::Blur => UsageMark::Blur,
            What::Reset => UsageMark::Reset,
        })
    }
}

impl<'a> Iterator for UsageMarks<'a> {
    type Item = UsageMark<'a>;

    fn next(&mut self) -> Option<UsageMark<'a>> {
        loop {
            if std::mem::take(&mut self.blur) {
                return Some(UsageMark::Blur);
            }
            let noted = self.notes.peek().map(|note| note.seq);
            let mark = match self.entries.next_if(|entry| noted.is_none_or(|seq| entry.seq <= seq)) {
                Some(entry) => self.entry(entry),
                None => {
                    let note = self.notes.next()?;
                    self.note(note)
                }
            };
            if mark.is_some() {
                return mark;
            }
        }
    }
}

fn has_media(part: &Part) -> bool {
    match part {
        Part::Media { .. } => true,
        Part::ToolResult { content, .. } => content.iter().any(has_media),
        _ => false,
    }
}

/// Removes a router's prefix and a release date from a model's name. The prefix and the date are kept unless the
/// catalog knows the shorter name as the same model: `anthropic/claude-sonnet-4-5` and `claude-sonnet-4-5-20250929`
/// name the same model.
fn plain(catalog: &Catalog, model: &str) -> String {
    let whole = model.trim().to_ascii_lowercase();
    let row = catalog.lookup(&whole);
    let is_same = |name: &str| {
        let found = catalog.lookup(name);
        found.known && found.row.name == row.row.name
    };
    let bare = whole.rsplit('/').next().unwrap_or_default();
    let vendorless = bare.split_once("anthropic.").map_or(bare, |(_, name)| name);
    let unrouted = [vendorless, bare].into_iter().find(|name| is_same(name)).unwrap_or(&whole);
    let undated = undated(unrouted);
    if is_same(undated) { undated.to_owned() } else { unrouted.to_owned() }
}

/// Removes a suffix like `-20250929`, `@20250929` or `-2024-08-06`, and Bedrock's `-v1:0` after it.
fn undated(name: &str) -> &str {
    let revision = |tail: &str| {
        tail.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b':'))
    };
    let name = name.rsplit_once('-').filter(|(_, tail)| revision(tail)).map_or(name, |(head, _)| head);
    let pattern = |tail: &[u8], form: &[u8]| {
        tail.len() == form.len()
            && tail
                .iter()
                .zip(form)
                .all(|(byte, of)| if *of == b'0' { byte.is_ascii_digit() } else { byte == of })
    };
    [&b"-00000000"[..], b"@00000000", b"-0000-00-00"]
        .into_iter()
        .find_map(|form| {
            let (head, tail) = name.split_at_checked(name.len().checked_sub(form.len())?)?;
            pattern(tail.as_bytes(), form).then_some(head)
        })
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_has_one_name() {
        let catalog = Catalog::embedded();
        let table = [
            ("claude-sonnet-4-5", "claude-sonnet-4-5"),
            (" Claude-Sonnet-4-5", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            // A name is not changed if the catalog does not know the shorter name, or lists it as another model.
            ("claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("claude-opus-4-1-20250805", "claude-opus-4-1"),
            ("gpt-4-0613", "gpt-4-0613"),
            ("house/own-20250101", "house/own-20250101"),
            ("-20250929", "-20250929"),
            ("é-20250929", "é-20250929"),
            ("", ""),
        ];
        for (name, expect) in table {
            assert_eq!(plain(&catalog, name), expect, "{name}");
        }
    }
}
