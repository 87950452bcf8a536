//! Recall: texts that are brought back into a request because they were asked for and are not shown in full.

use super::ExchangeCosts;
use crate::lane::trim::treatment;
use crate::planning::cost;
use crate::planning::plan::Injection;
use crate::record::budget::Treatment;
use crate::record::decision::Trim;
use crate::record::message::MessageOrigin;
use crate::units::{Bytes, Cost, Seq, Tokens};

impl ExchangeCosts<'_> {
    /// Returns the best hits that fit into half of the remaining room.
    pub(super) fn returning(&self, trim: &Trim) -> Vec<Injection> {
        if self.ask.hits.is_empty() {
            return Vec::new();
        }
        let room = self.limit.saturating_sub(self.total(trim));
        let max = Tokens(room.tokens.0 / 2).min(self.ask.recall);
        let mut left = Cost { tokens: max, bytes: Bytes(room.bytes.0 / 2) };
        let mut items: Vec<Injection> = Vec::new();
        for hit in self.ask.hits {
            if items.iter().any(|item| item.body == hit.body) || self.shows(hit, trim) {
                continue;
            }
            let cost = cost::injection(hit, self.ask.costs);
            if cost.fits(left) {
                left = left.saturating_sub(cost);
                items.push(hit.clone());
            }
        }
        items
    }

    /// Returns whether the request already shows all of a hit's text, at its own position or where it was brought
    /// back before.
    fn shows(&self, hit: &Injection, trim: &Trim) -> bool {
        let view = self.ask.view;
        self.exchanges.iter().any(|(exchange, _)| {
            let is_there = |seq: &Seq| {
                let Some(entry) = view.entry(*seq) else { return false };
                let may =
                    *seq == hit.from_seq || matches!(entry.message.standing, MessageOrigin::Injected(_));
                let whole = |index: usize| {
                    trim.form_of((*seq, index)).is_none() && view.standing((*seq, index)).is_none()
                };
                let whole = entry.message.parts.iter().enumerate().filter(|(index, _)| whole(*index));
                may && whole.flat_map(|(_, part)| part.bodies()).any(|body| *body == hit.body)
            };
            treatment(exchange, trim, view) == Treatment::Verbatim && exchange.members.iter().any(is_there)
        })
    }
}
