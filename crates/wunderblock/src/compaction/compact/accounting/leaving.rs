//! Content that a compaction takes out of view, and the compaction's cost and savings.

use crate::compaction::compact::accounting::account::{Compacted, CompactedRequest, MadeNode};
use crate::compaction::compact::climb::Climbed;
use crate::compaction::compact::prepare::Prepared;
use crate::request::steps::prefix::billed;
use crate::rules::catalog::{BilledTokens, MicroDollars};
use std::collections::BTreeSet;
use wunderblock_core::budget::Treatment;
use wunderblock_core::event::LaneTarget;
use wunderblock_core::pair::arrange;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::trim::treatment;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::ViewEntry;
use wunderblock_core::{cost, quote};
use wunderblock_summary::{Material, Notable, Noted, notable};

/// Content that is no longer in view after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaving {
    /// Number of entries that are no longer shown.
    pub entries: u64,
    /// Tokens of these entries.
    pub tokens: Tokens,
    /// Things in these entries that people would miss, by kind.
    pub kinds: Vec<LeavingKind>,
}

/// Things of one kind that are no longer in view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeavingKind {
    /// Name of the kind: `user words`, `rules`, `decisions`, `files` or `errors`.
    pub name: &'static str,
    /// Number of things of this kind.
    pub count: usize,
    /// Things that no shown summary mentions, in order.
    pub untold: Vec<Noted>,
}

/// Cost of a compaction and its later savings. Replies are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionMoney {
    /// Price of the next request if none of it is in the cache.
    pub next: MicroDollars,
    /// Price of the next request without the compaction, read from the cache.
    pub next_without: MicroDollars,
    /// Price of each later request of this size, read from the cache.
    pub later: MicroDollars,
}

/// Completes an account: marks the summaries that requests show, and adds the cost and the content that leaves the
/// view.
pub(in crate::compaction::compact) fn tell_leaving(
    account: &mut Compacted,
    prepared: &Prepared,
    climbed: &Climbed,
    now: Millis,
) {
    if let Some(trim) = &climbed.proposal.trim {
        let stands = |node: &MadeNode| trim.nodes.iter().any(|placed| placed.at == node.at);
        account.nodes.iter_mut().for_each(|node| node.shown = stands(node));
    }
    account.leaving = Leaving::of(prepared, climbed, &account.nodes);
    account.money = CompactionMoney::of(prepared, account.before, account.after, now);
    let LaneTarget { model, window } = prepared.bench.target.clone();
    account.request = Some(CompactedRequest { model, window, limit: prepared.bench.budget.limit().tokens });
}

impl Leaving {
    /// Returns the content that a proposal takes out of view, which is empty if the proposal takes no step.
    fn of(prepared: &Prepared, climbed: &Climbed, made: &[MadeNode]) -> Self {
        let Some(after) = &climbed.proposal.trim else { return Self::default() };
        let bench = &prepared.bench;
        let (view, before) = (&bench.view, bench.view.trim());
        let arrangement = arrange(view);
        // Exchanges before the floor are outside the lane's requests, so they cannot leave the view.
        let goes = arrangement.exchanges.iter().filter(|exchange| {
            let is_shown = |trim| treatment(exchange, trim, view) != Treatment::LeftOut;
            is_shown(before) && !is_shown(after) && exchange.last >= bench.floor
        });
        let seqs: BTreeSet<Seq> = goes.flat_map(|exchange| exchange.members.iter().copied()).collect();
        let entries: Vec<&ViewEntry> = seqs.iter().filter_map(|seq| view.entry(*seq)).collect();
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { return Self::default() };
        let tokens = entries.iter().map(|entry| cost::sent(entry, before, &bench.costs).tokens).sum();
        let count = entries.len() as u64;
        let (bodies, redactor, earlier) = (&bench.texts, &*prepared.redactor, Vec::new());
        let material = Material { from: *first, to: *last, entries, bodies, earlier, redactor };
        let Notable { user_words, rules, decisions, files, errors } = notable(&material);
        let known = view.nodes().chain(&prepared.adopted);
        let earlier = known.filter(|node| after.nodes.iter().any(|placed| placed.at == node.at));
        let mut summaries: Vec<&str> = earlier.filter_map(|node| bench.texts.of(&node.text)).collect();
        let quotes = after.rules.quotes.iter();
        summaries.extend(quotes.filter_map(|quote| quote::words(quote, view, &bench.texts)));
        summaries.extend(made.iter().filter(|node| node.shown).map(|node| node.text.as_str()));
        let kinds = [
            ("user words", user_words),
            ("rules", rules),
            ("decisions", decisions),
            ("files", files),
            ("errors", errors),
        ];
        let kinds = kinds.into_iter().filter(|(_, all)| !all.is_empty()).map(|(name, all)| LeavingKind {
            name,
            count: all.len(),
            untold: all.into_iter().filter(|noted| !is_told(noted, &summaries)).collect(),
        });
        Self { entries: count, tokens, kinds: kinds.collect() }
    }
}

/// Returns whether a summary contains the beginning of a noted text, or names its position.
fn is_told(noted: &Noted, summaries: &[&str]) -> bool {
    let place = format!("#{}", noted.at);
    let head: String = noted.text.chars().take(WORDS).collect();
    let names_it = |text: &str| {
        let mut places = text.match_indices(&place);
        places.any(|(at, _)| {
            // `#12` must not match `#123`.
            !text.get(at + place.len()..).unwrap_or_default().starts_with(|c: char| c.is_ascii_digit())
        })
    };
    summaries.iter().any(|text| names_it(text) || text.contains(&head))
}

/// Number of characters compared when a summary is searched for a text.
const WORDS: usize = 48;

impl CompactionMoney {
    /// Returns the cost and savings of a compaction; `None` if no price is known.
    fn of(prepared: &Prepared, before: Tokens, after: Tokens, now: Millis) -> Option<Self> {
        let row = &prepared.bench.row;
        let price = row.price_at(now)?;
        // A request without the compaction leaves out what does not fit.
        let before = before.min(prepared.bench.budget.limit().tokens);
        let again = |tokens| price.cost(BilledTokens { cache_read: tokens, ..BilledTokens::default() });
        Some(Self {
            next: price.cost(billed(&row.cache, Tokens::ZERO, after)),
            next_without: again(before),
            later: again(after),
        })
    }
}
