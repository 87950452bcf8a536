//! Costs of the ways in which a delegate's context can begin.

use super::handed::{DelegateContext, ModePrice, ParentRequest};
use crate::lanes::context::Built;
use crate::request::steps::prefix::{billed, cached};
use wunderblock_core::delegate::context::ContextMode;
use wunderblock_core::units::{Bytes, Tokens};

/// A fork's request, and the bytes that it shares with its parent's, of all bytes of that.
pub(super) type Fork = (Built, (Bytes, Bytes));

/// Returns the prices of a fresh start, of a fork if it fits, and of the context itself.
pub(super) fn compare(
    parent: &ParentRequest<'_>,
    fresh: &Built,
    fork: Option<&Fork>,
    context: &DelegateContext,
) -> Vec<ModePrice> {
    let mut prices = vec![price(parent, ContextMode::Fresh, fresh, None)];
    prices.extend(fork.map(|(built, shared)| price(parent, ContextMode::Fork, built, Some(*shared))));
    if prices.iter().all(|price| price.mode != context.mode) {
        prices.push(price(parent, context.mode, &context.built, context.shared));
    }
    prices
}

fn price(
    parent: &ParentRequest<'_>,
    mode: ContextMode,
    built: &Built,
    shared: Option<(Bytes, Bytes)>,
) -> ModePrice {
    let row = &built.draft.planned.target.row;
    let tokens = built.draft.report.total_tokens;
    // The repeated share of bytes is applied to the tokens of the parent's request.
    let again = shared.filter(|(_, all)| *all > Bytes::ZERO).map_or(Tokens::ZERO, |(same, all)| {
        let all_tokens = u128::from(parent.built.draft.report.total_tokens.0);
        Tokens(u64::try_from(all_tokens * u128::from(same.0) / u128::from(all.0)).unwrap_or(u64::MAX))
    });
    let cached = cached(&row.cache, again, tokens);
    let at = parent.session.engine().now();
    let cost = row.price_at(at).map(|price| price.cost(billed(&row.cache, cached, tokens)));
    ModePrice { mode, tokens, cached, cost }
}
