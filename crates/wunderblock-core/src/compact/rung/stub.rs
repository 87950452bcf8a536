//! Ladder rung that replaces old tool output with handles.

use crate::compact::guard::RungInput;
use crate::form::stub::{self, Stubbed};
use crate::planning::{cost, plan, presentation};
use crate::policy::Permille;
use crate::record::decision::{PartForm, PartPosition};
use crate::units::Tokens;
use std::collections::BTreeMap;

/// Maximum part of the limit by which stubs may save more than the goal needs. The later steps can cut a larger result:
/// one stub of 30,000 tokens left two thirds of a request empty.
const OVERSHOOT: Permille = Permille(100);

/// Returns stubs for unprotected tool output before the newest results: all of it, or, from the oldest on, as much as
/// saves `excess` tokens. The rules are those of [`Action::Stub`](crate::policy::Action::Stub).
pub(in crate::compact) fn stub(
    input: RungInput<'_>,
    newest: PartPosition,
    over: Tokens,
    arguments: bool,
    excess: Option<Tokens>,
) -> BTreeMap<PartPosition, PartForm> {
    let ask = input.ask;
    let view = ask.view;
    let priced = presentation::Priced { trim: view.trim(), view, costs: ask.costs };
    let mut forms = BTreeMap::new();
    let mut saved = Tokens::ZERO;
    let most = OVERSHOOT.of(plan::limit(ask).tokens);
    for exchange in input.free() {
        if excess.is_some_and(|excess| saved >= excess) {
            break;
        }
        for call in exchange.calls() {
            let gist = cost::gist(view.part(call.place));
            let result = call.result.filter(|at| *at < newest);
            let arguments = arguments.then_some(call.place);
            for at in result.into_iter().chain(arguments).filter(|at| view.trim().form_of(*at).is_none()) {
                let Some(part) = view.part(at) else { continue };
                let whole = presentation::cost(at, part, priced, gist).tokens;
                let short = match stub::part(part, gist) {
                    Stubbed::Part(short) => cost::part(&short, ask.costs).tokens,
                    Stubbed::Kept | Stubbed::Gone => continue,
                };
                let gain = whole.saturating_sub(short);
                let is_needed = excess.is_none_or(|excess| saved + gain <= excess + most);
                if whole > over && short < whole && is_needed {
                    saved += gain;
                    forms.insert(at, PartForm::Stub);
                }
            }
        }
    }
    forms
}

/// Returns the first place whose result is among the newest `keep`, or among the newest that take `tokens` together.
pub(in crate::compact) fn newest_results(keep: u64, tokens: Tokens, input: RungInput<'_>) -> PartPosition {
    let RungInput { ask, arrangement, .. } = input;
    let calls = arrangement.exchanges.iter().flat_map(crate::lane::pair::Exchange::calls);
    let mut results: Vec<PartPosition> = calls.filter_map(|call| call.result).collect();
    results.sort_unstable();
    let (mut count, mut sum) = (0, Tokens::ZERO);
    let mut from = (ask.view.head().next(), 0);
    let priced = presentation::Priced { trim: ask.view.trim(), view: ask.view, costs: ask.costs };
    for at in results.into_iter().rev() {
        let shown = |part| presentation::cost(at, part, priced, None).tokens;
        sum += ask.view.part(at).map(shown).unwrap_or_default();
        count += 1;
        if count > keep && sum > tokens {
            break;
        }
        from = at;
    }
    from
}
