//! Kinds of text that a policy excepts from reduction: names in the policy, known only to the reducers.

use wunderblock_core::policy::{Policy, PolicyFault, Severity};
use wunderblock_reduce::Kind;

/// Returns the names of the known kinds if the policy names an unknown one.
pub(super) fn known_instead(policy: &Policy) -> Option<Vec<String>> {
    let is_unknown = policy.reduce.except.iter().any(|kind| Kind::named(&kind.0).is_none());
    is_unknown.then(|| Kind::ALL.iter().map(|kind| kind.name().to_owned()).collect())
}

/// Returns the fault of a policy that reduces texts, but excepts every kind.
pub(super) fn fault(policy: &Policy) -> Option<PolicyFault> {
    let is_excepted = |kind: &Kind| policy.reduce.except.iter().any(|name| *name.0 == *kind.name());
    let is_all = !policy.reduce.is_off() && Kind::ALL.iter().all(is_excepted);
    is_all.then(|| PolicyFault {
        severity: Severity::Error,
        key: "reduce.except".to_owned(),
        what: "no kind of text is left to reduce: set `level = \"off\"` instead".to_owned(),
    })
}
