//! Chooses the items that a summary has room for.
//!
//! Each kind gets a share of the room, and room that a kind does not need goes to other kinds. First each kind gets
//! one item, so that no part with content stays empty. Then each kind gets its most useful items.

use super::form::SummaryForm;
use super::item::{ItemText, SummaryItem};
use crate::extract::language::words::distinct_words;
use crate::task::Brief;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use wunderblock_core::policy::Fill;
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::{Seq, Tokens};

/// Minimum number of tokens in a line that says something.
const LINE_MIN: u64 = 14;
/// Number of tokens that the head of an item takes if the whole item does not fit.
const HEAD_TOKENS: u64 = 40;
/// Maximum share of the room that a mandatory item may take, given as a divisor.
const MUST_SHARE: u64 = 6;
/// Maximum number of messages that did not fit and are listed by their positions, counted from the newest.
const OLDER_MAX: usize = 48;
/// Maximum number of consecutive items that do not fit. After this many consecutive misses, the remaining items of
/// the kind are not tried.
const MISSES_MAX: usize = 48;

/// Maximum share of a summary for bare names, in percent. A list of names shows what was touched, but not why.
/// Without a limit, names took half of a summary.
const NAMES_MOST: u64 = 15;

/// Rooms that are tried one after the other if a text leaves room, as percentages of the real room.
const ROOMS: [u64; 5] = [115, 135, 160, 200, 260];
/// Percentage of its room from which a text counts as full.
const FULL: u64 = 94;

/// A summary, and the items that its text consists of, in the order of its parts.
#[derive(Default)]
pub(in crate::extract) struct Written {
    pub(in crate::extract) text: String,
    pub(in crate::extract) items: Vec<SummaryItem>,
}

/// Criteria by which items are chosen.
pub(in crate::extract) struct Fit<'f> {
    costs: &'f dyn CostModel,
    form: &'f SummaryForm,
    target: Tokens,
    most: Tokens,
    focus: HashSet<u64>,
    cost: RefCell<BTreeMap<usize, u64>>,
}

/// Returns a kind's share of the room, as a weight, and its place in the order in which kinds are served.
const fn share(fill: Fill) -> (u64, u8) {
    match fill {
        Fill::Current => (15, 0),
        Fill::Intent => (11, 1),
        Fill::Outcomes => (14, 2),
        Fill::Todos => (11, 3),
        Fill::FilesModified => (15, 4),
        Fill::UserMessages => (26, 5),
        Fill::Errors => (12, 6),
        Fill::Constraints => (15, 7),
        Fill::Decisions => (10, 8),
        Fill::Next => (4, 9),
        Fill::Commands => (10, 10),
        Fill::Findings => (8, 11),
        Fill::Done => (6, 12),
        Fill::Recent => (8, 13),
        Fill::Identifiers => (8, 14),
        Fill::FilesRead => (6, 15),
        Fill::Concepts => (3, 16),
        Fill::Statistics => (3, 17),
    }
}

/// Returns whether the items of a kind are single sentences.
const fn is_sentence(fill: Fill) -> bool {
    matches!(fill, Fill::Decisions | Fill::Findings | Fill::Next | Fill::Done)
}

/// Items of a kind, best first, and the room for them.
struct ItemGroup<'i> {
    fill: Fill,
    items: Vec<(usize, &'i SummaryItem)>,
    need: u64,
    room: u64,
    /// Maximum additional room that the kind may take.
    most: u64,
}

/// Chosen items, and their quotations by position.
#[derive(Default)]
struct Chosen {
    items: Vec<SummaryItem>,
    quoted: HashMap<Seq, Vec<(Fill, String)>>,
}

impl Chosen {
    fn push(&mut self, item: SummaryItem) {
        if let Some(quote) = item.quoted() {
            for at in &item.refs {
                self.quoted.entry(*at).or_default().push((item.fill, quote.to_owned()));
            }
        }
        self.items.push(item);
    }

    /// Returns whether everything that an item quotes has already been chosen, either in the same part or, if the
    /// item is a sentence and other items of its kind have been chosen, in any part.
    fn says(&self, item: &SummaryItem, form: &SummaryForm) -> bool {
        let quoted = item.refs.first().and_then(|at| self.quoted.get(at));
        let Some((quotes, own)) = quoted.zip(item.quoted()) else { return false };
        let is_sentence = is_sentence(item.fill) && self.items.iter().any(|other| other.fill == item.fill);
        // A rule is listed even if a quoted request contains it, because the request is dropped sooner. Without this
        // exception, 224 of 270 rules were left after fifty compactions at 32,000 tokens; with it, 238 were left.
        if item.fill == Fill::Constraints {
            return false;
        }
        let part = form.part_number(item.fill);
        let mut known = quotes.iter().filter(|(fill, _)| is_sentence || form.part_number(*fill) == part);
        known.any(|(_, quote)| quote.contains(own))
    }
}

impl<'f> Fit<'f> {
    pub(in crate::extract) fn new(
        brief: &Brief<'_>,
        costs: &'f dyn CostModel,
        form: &'f SummaryForm,
    ) -> Self {
        let focus = brief.focus.map(distinct_words).unwrap_or_default();
        let target = Tokens(brief.target.0.min(brief.most.0));
        Self { costs, form, target, most: brief.most, focus, cost: RefCell::default() }
    }

    fn tokens(&self, text: &str) -> u64 {
        self.costs.text(text).tokens.0
    }

    fn cost(&self, at: usize, item: &SummaryItem) -> u64 {
        if let Some(cost) = self.cost.borrow().get(&at) {
            return *cost;
        }
        let cost = self.tokens(&item.write(self.form.marks)) + 1;
        self.cost.borrow_mut().insert(at, cost);
        cost
    }

    /// Writes the summary with as many items as there is room for.
    pub(in crate::extract) fn write(&self, items: &[SummaryItem]) -> Written {
        let skeleton = self.tokens(&self.form.write(&[]));
        // If the headings leave no room within the target, content takes precedence over the target.
        let least =
            skeleton + LINE_MIN * self.form.parts.iter().map(|part| part.fills.len() as u64).sum::<u64>() * 2;
        let whole = self.target.0.max(least).min(self.most.0);
        let room = whole.saturating_sub(skeleton);
        let mut written = self.trimmed(self.choose(items, room));
        // Shortened items and shares that nothing fits into leave room. A larger room is tried until the text no longer
        // fits.
        for percent in ROOMS {
            let used = self.tokens(&written.text);
            if used * 100 >= whole * FULL {
                break;
            }
            let more = self.trimmed(self.choose(items, room * percent / 100));
            if (used..=whole).contains(&self.tokens(&more.text)) {
                written = more;
            }
        }
        written.items.sort_by_key(|item| (self.form.part_number(item.fill), item.order));
        written
    }

    /// Removes the items chosen last until the text fits.
    fn trimmed(&self, mut chosen: Vec<SummaryItem>) -> Written {
        loop {
            let shown: Vec<&SummaryItem> = chosen.iter().collect();
            let text = self.form.write(&shown);
            let over = self.tokens(&text).saturating_sub(self.most.0);
            if over == 0 {
                return Written { text, items: chosen };
            }
            if chosen.is_empty() {
                return Written::default();
            }
            let mut freed = 0;
            while freed < over {
                let Some(item) = chosen.pop() else { break };
                freed += self.tokens(&item.write(self.form.marks));
            }
        }
    }

    fn kinds<'i>(&self, items: &'i [SummaryItem]) -> Vec<ItemGroup<'i>> {
        let mut kinds: Vec<ItemGroup<'i>> = Vec::new();
        let mut weighed: Vec<(i64, usize, &SummaryItem)> = items
            .iter()
            .enumerate()
            .filter(|(_, item)| !item.must && self.form.has(item.fill))
            .map(|(at, item)| (item.weight.saturating_add(self.focused(item)), at, item))
            .collect();
        weighed.sort_by_key(|(weight, at, _)| (std::cmp::Reverse(*weight), *at));
        for (_, at, item) in weighed {
            let most = self.form.part(item.fill).map_or(0, |part| part.most);
            match kinds.iter_mut().find(|kind| kind.fill == item.fill) {
                Some(kind) if kind.items.len() < most => kind.items.push((at, item)),
                Some(_) => {}
                None => {
                    let (fill, items) = (item.fill, vec![(at, item)]);
                    kinds.push(ItemGroup { fill, items, need: 0, room: 0, most: u64::MAX });
                }
            }
        }
        kinds.sort_by_key(|kind| share(kind.fill).1);
        kinds
    }

    /// Returns the additional weight of an item that shares words with the focus.
    fn focused(&self, item: &SummaryItem) -> i64 {
        if self.focus.is_empty() {
            return 0;
        }
        let shared = distinct_words(&item.search_text()).intersection(&self.focus).count();
        i64::try_from(shared).unwrap_or(i64::MAX).saturating_mul(4_000).min(20_000)
    }

    fn choose(&self, items: &[SummaryItem], room: u64) -> Vec<SummaryItem> {
        let mut chosen = Chosen::default();
        let mut left = room;
        // A mandatory item is cut if it would crowd out the other items.
        let cap = (room / MUST_SHARE).max(HEAD_TOKENS * 2);
        for (at, item) in items.iter().enumerate().filter(|(_, item)| item.must) {
            let whole = self.cost(at, item);
            let short = if whole > cap { self.shortened(item, cap) } else { None };
            let (item, cost) = short.unwrap_or_else(|| (item.clone(), whole));
            left = left.saturating_sub(cost);
            chosen.push(item);
        }
        let mut kinds = self.kinds(items);
        let names = kinds.iter_mut().filter(|kind| kind.fill == Fill::Identifiers);
        names.for_each(|kind| kind.most = room * NAMES_MOST / 100);
        self.first(&mut kinds, &mut left, &mut chosen);
        self.divide(&mut kinds, left);
        let mut spare = left;
        for kind in &mut kinds {
            if kind.fill == Fill::UserMessages && kind.need > kind.room {
                // Reserve room for the positions of messages that are not shown.
                let kept = (kind.items.len().min(OLDER_MAX) as u64 * 4).min(kind.room / 6);
                kind.room -= kept;
                spare = spare.saturating_sub(kept);
            }
            let before = kind.room;
            self.serve(kind, &mut chosen);
            kind.most -= before - kind.room;
            spare = spare.saturating_sub(before - kind.room);
        }
        // Room that a kind could not use because its lines are too long goes to the next kind.
        for kind in &mut kinds {
            let room = spare.min(kind.most);
            kind.room = room;
            self.serve(kind, &mut chosen);
            spare -= room - kind.room;
        }
        let mut chosen = chosen.items;
        chosen.extend(kinds.iter().filter_map(|kind| self.older(kind)));
        chosen
    }

    /// Returns an item that lists the positions of the user messages for which there is no room.
    fn older(&self, kind: &ItemGroup<'_>) -> Option<SummaryItem> {
        let mut left: Vec<&SummaryItem> = kind.items.iter().map(|(_, item)| *item).collect();
        let newest =
            left.iter().max_by_key(|item| item.order).filter(|item| item.fill == Fill::UserMessages)?;
        let mut older = (*newest).clone();
        left.sort_by_key(|item| item.order);
        // An earlier summary may have left messages out, too.
        older.refs = left.iter().flat_map(|item| &item.refs).copied().collect();
        older.text = ItemText::quote(format!("older messages ×{}", older.refs.len()), String::new());
        older.refs.drain(..older.refs.len().saturating_sub(OLDER_MAX));
        older.order = 0;
        Some(older)
    }

    /// Chooses the best item of each kind and shortens it, so that each kind gets one item.
    fn first(&self, kinds: &mut [ItemGroup<'_>], left: &mut u64, chosen: &mut Chosen) {
        let count = kinds.len() as u64;
        for (done, kind) in kinds.iter_mut().enumerate() {
            let cap = (*left / (count - done as u64).max(1)).clamp(LINE_MIN.min(*left), 64);
            let looks = kind.items.iter().filter(|(_, item)| !item.is_spare()).take(8).enumerate();
            let fitting = looks.filter_map(|(place, (at, item))| {
                let cost = self.cost(*at, item);
                if cost <= cap {
                    return Some((place, (*item).clone(), cost));
                }
                let short = self.shortened(item, cap)?;
                Some((place, short.0, short.1))
            });
            let Some((place, item, cost)) = fitting.into_iter().next() else { continue };
            // A shortened item waits for the second round if that round has more room for it. A message is never
            // shortened.
            let whole = kind.items.get(place).is_some_and(|(at, item)| self.cost(*at, item) == cost);
            if !whole && (*left / count.max(1) > 120 || kind.fill == Fill::UserMessages) {
                continue;
            }
            kind.items.remove(place);
            *left = left.saturating_sub(cost);
            chosen.push(item);
        }
    }

    /// Divides the room among the kinds by weight, but never gives a kind more than it needs.
    fn divide(&self, kinds: &mut [ItemGroup<'_>], room: u64) {
        for kind in kinds.iter_mut() {
            for (at, item) in kind.items.iter().filter(|(_, item)| !item.is_spare()) {
                kind.need += self.cost(*at, item);
                if kind.need > room {
                    break;
                }
            }
            kind.need = kind.need.min(kind.most);
        }
        // With a focus, kinds that have content related to the focus get more room.
        let weight = |kind: &ItemGroup<'_>| {
            let near = kind.items.first().is_some_and(|(_, item)| self.focused(item) > 0);
            let weight = self.form.part(kind.fill).map_or(1, |part| part.weight);
            share(kind.fill).0 * weight * if near { 2 } else { 1 }
        };
        let mut left = room;
        for _ in 0..kinds.len() {
            let weights: u64 = kinds.iter().filter(|kind| kind.room < kind.need).map(weight).sum();
            if weights == 0 || left == 0 {
                return;
            }
            let all = left;
            for kind in kinds.iter_mut().filter(|kind| kind.room < kind.need) {
                let given = (all * weight(kind) / weights).min(kind.need - kind.room).min(left);
                kind.room += given;
                left -= given;
            }
        }
    }

    /// Takes items of a kind while there is room, either whole items or only their heads, so that older items also
    /// get room.
    fn serve(&self, kind: &mut ItemGroup<'_>, chosen: &mut Chosen) {
        let mut misses = 0;
        let count = kind.items.len();
        let mut rest = Vec::new();
        for (place, (at, item)) in std::mem::take(&mut kind.items).into_iter().enumerate() {
            if chosen.says(item, self.form) {
                continue;
            }
            if kind.room < LINE_MIN / 2 || misses > MISSES_MAX {
                rest.push((at, item));
                continue;
            }
            let others = (count - place - 1) as u64;
            let kept = (others * HEAD_TOKENS).min(kind.room / 2);
            let cost = self.cost(at, item);
            // A user message is either quoted in full or listed by its position, and half a sentence says nothing.
            let whole = kind.fill == Fill::UserMessages && place > 0 || is_sentence(kind.fill);
            let cap = if cost <= HEAD_TOKENS || whole {
                kind.room
            } else {
                (kind.room - kept).max(HEAD_TOKENS).min(kind.room)
            };
            let fitting = match () {
                () if cost <= cap => Some((item.clone(), cost)),
                () if whole => None,
                () => self.shortened(item, cap),
            };
            match fitting {
                Some((item, cost)) => {
                    kind.room -= cost;
                    misses = 0;
                    chosen.push(item);
                }
                None => {
                    misses += 1;
                    rest.push((at, item));
                }
            }
        }
        kind.items = rest;
    }

    /// Shortens an item to at most `cap` tokens, and returns it with its cost.
    fn shortened(&self, item: &SummaryItem, cap: u64) -> Option<(SummaryItem, u64)> {
        let mut bytes = usize::try_from(cap.saturating_mul(4)).unwrap_or(usize::MAX);
        for _ in 0..4 {
            let short = item.shortened(bytes, self.form.marks)?;
            let cost = self.tokens(&short.write(self.form.marks)) + 1;
            if cost <= cap {
                return Some((short, cost));
            }
            let scaled = bytes as u64 * cap / cost;
            bytes = usize::try_from(scaled).unwrap_or(bytes).min(bytes.saturating_sub(4));
        }
        None
    }
}
