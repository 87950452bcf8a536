//! Selection of the user's standing rules that a request quotes.

use super::Ladder;
use crate::lane::pair::Arrangement;
use crate::lane::trim;
use crate::planning::{cost, plan, quote};
use crate::record::budget::Treatment;
use crate::record::decision::{Quote, StandingRules, Trim};
use crate::units::{Seq, Tokens};
use std::collections::HashSet;

/// A rule, and the maximum number of tokens in its line.
pub(super) struct PricedRule {
    quote: Quote,
    tokens: Tokens,
}

impl Ladder<'_> {
    /// Sets the user's standing rules, in order of priority.
    #[must_use]
    pub fn with_rules(mut self, rules: &[Quote]) -> Self {
        let (view, bodies, costs) = (self.ask.view, self.ask.bodies, self.ask.costs);
        let priced = rules.iter().filter_map(|quote| {
            let words = quote::words(quote, view, bodies)?;
            Some(PricedRule { quote: *quote, tokens: quote::cost(words, costs).tokens })
        });
        self.rules = priced.collect();
        // If the newest exchange was cut at the start, it was weighed without the rules.
        if !self.taken.is_empty() {
            (self.view, self.now) = self.weighed(self.view.trim().clone(), &[], &[]);
        }
        self
    }

    /// Returns the rules that fit into their share and whose turns the trim does not show.
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
            // A rule that does not fit is skipped, since a shorter one may still fit.
            if rule.tokens <= room {
                room = room.saturating_sub(rule.tokens);
                quotes.push(rule.quote);
            }
        }
        // Rules are chosen by priority, but quoted in the order in which they were said.
        quotes.sort_unstable_by_key(|quote| (quote.at, quote.from));
        StandingRules { through: self.ask.view.head(), quotes }
    }
}
