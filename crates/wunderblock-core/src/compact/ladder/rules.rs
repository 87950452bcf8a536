//! Which of the user's standing rules a request quotes.

use super::Ladder;
use crate::budget::Treatment;
use crate::cost;
use crate::decision::{Quote, StandingRules, Trim};
use crate::pair::Arrangement;
use crate::units::{Seq, Tokens};
use crate::{plan, quote, trim};
use std::collections::HashSet;

/// A rule, and what its line takes at most.
pub(super) struct PricedRule {
    quote: Quote,
    tokens: Tokens,
}

impl Ladder<'_> {
    /// The same climb, with the user's standing rules, those first that go first into a request.
    #[must_use]
    pub fn with_rules(mut self, rules: &[Quote]) -> Self {
        let (view, bodies, costs) = (self.ask.view, self.ask.bodies, self.ask.costs);
        let priced = rules.iter().filter_map(|quote| {
            let words = quote::words(quote, view, bodies)?;
            Some(PricedRule { quote: *quote, tokens: quote::cost(words, costs).tokens })
        });
        self.rules = priced.collect();
        // What was cut at once was weighed without them.
        if !self.taken.is_empty() {
            (self.view, self.now) = self.weighed(self.view.trim().clone(), (&[], &[]));
        }
        self
    }

    /// The rules that have room in their share and are not shown in their own places.
    pub(super) fn standing(&self, trim: &Trim, arrangement: &Arrangement) -> StandingRules {
        let share = self.policy.protect.rules_share.of(plan::limit(&self.ask).tokens);
        if share == Tokens::ZERO {
            return StandingRules::default();
        }
        let heading = cost::frame(self.ask.costs) + cost::TEXT_FRAME + self.ask.costs.text(quote::HEADING);
        let mut room = share.saturating_sub(heading.tokens);
        let is_whole = |treatment| matches!(treatment, Treatment::Verbatim | Treatment::Reduced);
        let shown = arrangement.exchanges.iter();
        let shown = shown.filter(|exchange| is_whole(trim::treatment(exchange, trim, self.ask.view)));
        let shown: HashSet<Seq> = shown.flat_map(|exchange| exchange.speakers.iter().copied()).collect();
        let mut quotes: Vec<Quote> = Vec::new();
        for rule in self.rules.iter().filter(|rule| !shown.contains(&rule.quote.at.0)) {
            if rule.tokens <= room {
                room = room.saturating_sub(rule.tokens);
                quotes.push(rule.quote);
            }
        }
        quotes.sort_unstable_by_key(|quote| (quote.at, quote.from));
        StandingRules { through: self.ask.view.head(), quotes }
    }
}
