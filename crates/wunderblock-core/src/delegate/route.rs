//! Which model a delegate gets: rules in order of strength, of which the first with a value decides, each with its
//! reason.
//!
//! ```text
//! policy > environment > call > definition > [environment] > default > utility > inherit
//!   └─► the name becomes an id (`model`) ─► list of permitted models ─► window ─► Route
//! ```

use super::model::{INHERIT, ModelTable, NamedModel};
use super::tools::matches_wildcards;
use crate::record::event::{RouteChosen, RouteLayer};
use std::fmt;

/// Rule that may choose the model of a delegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteRule {
    /// Policy of the machine or the organisation.
    Policy,
    /// Environment variable of the person.
    Environment,
    /// Parameter of the call that starts the delegate, or the model of a slash command.
    Call,
    /// Definition of the delegate.
    Definition,
    /// Configured default for delegates.
    Default,
    /// Default for utility work: summaries, titles, classification.
    Utility,
    /// The parent's model.
    Inherit,
}

impl RouteRule {
    /// Returns the name of the rule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Environment => "environment",
            Self::Call => "call",
            Self::Definition => "definition",
            Self::Default => "default",
            Self::Utility => "utility",
            Self::Inherit => "inherit",
        }
    }
}

/// Another model in place of the parent's, by mode and size: `opus` while planning, for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSwitch {
    /// Whether the switch applies only while planning.
    pub plan: bool,
    /// Number of tokens above which the switch applies; `None` for any size.
    pub above: Option<u64>,
    /// Family or pattern of the parent's model to which the switch applies; `None` for any model.
    pub from: Option<Box<str>>,
    /// Name of the model to use.
    pub to: Box<str>,
}

/// What decides which model a delegate gets. Names may be aliases, tiers, ids or `inherit`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteQuestion<'a> {
    /// Id of the parent's model.
    pub parent: &'a str,
    /// Model that the policy forces.
    pub policy: Option<&'a str>,
    /// Model of the environment variable. `inherit` counts as unset.
    pub environment: Option<&'a str>,
    /// Whether the environment variable only replaces the default, and does not override call and definition.
    pub environment_is_default: bool,
    /// Model of the call.
    pub call: Option<&'a str>,
    /// Model of the definition.
    pub definition: Option<&'a str>,
    /// Configured default for delegates.
    pub default: Option<&'a str>,
    /// Default for utility work; `None` if the delegate does other work.
    pub utility: Option<&'a str>,
    /// Whether the parent plans without changing anything.
    pub plan: bool,
    /// Size of the delegate's context, in tokens.
    pub context: Option<u64>,
    /// Switches, of which the first that applies counts.
    pub switches: &'a [ModelSwitch],
    /// Permitted models: aliases, ids or patterns; `None` permits all models.
    pub permitted: Option<&'a [Box<str>]>,
}

/// Outcome of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// The rule has no value.
    Unset,
    /// A stronger rule decided.
    Weaker,
    /// No id is known for the name at the parent's provider, so weaker rules decided.
    Unknown,
    /// The rule decided.
    Decided(NamedModel),
}

/// A rule of the chain, with its value and outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteStep {
    /// Rule.
    pub rule: RouteRule,
    /// Value of the rule, as written.
    pub asked: Option<Box<str>>,
    /// Outcome.
    pub outcome: RuleOutcome,
}

/// Remark on a route that a person should see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteNotice {
    /// No id is known for a name at the parent's provider.
    UnknownName(Box<str>),
    /// Neither the families nor the catalog know an id. A provider that does not have it rejects the request.
    UnknownId(Box<str>),
    /// A model is not permitted, and another one replaces it.
    NotPermitted {
        /// Model that is not permitted.
        model: Box<str>,
        /// Model in its place.
        instead: Box<str>,
        /// Whether the replacement is the parent's model, because no version of the family is permitted.
        inherited: bool,
    },
    /// A switch replaced the parent's model.
    Switched {
        /// Model in place of the parent's.
        to: Box<str>,
        /// Whether the switch applied because of the mode.
        plan: bool,
    },
    /// The window of a model is smaller than the context, and the parent's model replaces it.
    TooSmall {
        /// Model whose window is too small.
        model: Box<str>,
        /// Its window, in tokens.
        window: u64,
        /// Whether the parent's model replaces it; otherwise the parent's window is too small, too.
        inherited: bool,
    },
}

impl fmt::Display for RouteNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName(name) => {
                write!(
                    f,
                    "no id of `{name}` is known at the parent's provider; give the id, or an alias in the settings"
                )
            }
            Self::UnknownId(id) => write!(f, "`{id}` is not a known model: its provider may reject it"),
            Self::NotPermitted { model, instead, inherited: false } => {
                write!(f, "{model} is not permitted; {instead} is the newest permitted version of its family")
            }
            Self::NotPermitted { model, instead, inherited: true } => {
                write!(
                    f,
                    "{model} is not permitted, nor is any version of its family; the parent's {instead} is used"
                )
            }
            Self::Switched { to, plan: true } => write!(f, "{to} replaces the parent's model while planning"),
            Self::Switched { to, plan: false } => {
                write!(f, "{to} replaces the parent's model for a context of this size")
            }
            Self::TooSmall { model, window, inherited } => {
                let end = if *inherited {
                    "; the parent's model is used"
                } else {
                    ", and so has the parent's model"
                };
                write!(f, "{model} has a window of {window} tokens, less than the context{end}")
            }
        }
    }
}

/// Model that a delegate gets, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Id of the model.
    pub model: Box<str>,
    /// Rule that decided.
    pub rule: RouteRule,
    /// All rules, strongest first.
    pub steps: Vec<RouteStep>,
    /// Remarks.
    pub notices: Vec<RouteNotice>,
}

impl fmt::Display for RuleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("not set"),
            Self::Weaker => f.write_str("a stronger rule decided"),
            Self::Unknown => f.write_str("no id is known at the parent's provider"),
            Self::Decided(named) => write!(f, "{} ({})", named.id, named.why.text()),
        }
    }
}

impl Route {
    /// Returns the record of the route of a delegate.
    #[must_use]
    pub fn record(&self, agent: &str, parent: &str) -> RouteChosen {
        let layer = |step: &RouteStep| RouteLayer {
            rule: step.rule.name().into(),
            asked: step.asked.clone(),
            outcome: step.outcome.to_string().into(),
        };
        let decided = self.steps.iter().find(|step| step.rule == self.rule);
        RouteChosen {
            agent: agent.into(),
            parent: parent.into(),
            asked: decided.and_then(|step| step.asked.clone()).unwrap_or_else(|| INHERIT.into()),
            layers: self.steps.iter().map(layer).collect(),
            chosen: self.model.clone(),
            why: self.rule.name().into(),
            notices: self.notices.iter().map(|notice| notice.to_string().into()).collect(),
        }
    }
}

/// Decides which model a delegate gets. `window` returns the window of a model, in tokens, if it is known.
#[must_use]
pub fn route(
    question: &RouteQuestion<'_>,
    table: &ModelTable,
    window: impl Fn(&str) -> Option<u64>,
) -> Route {
    let mut notices = Vec::new();
    let mut decided: Option<(RouteRule, NamedModel)> = None;
    let mut steps = Vec::new();
    for (rule, asked) in chain(question) {
        let outcome = match (asked, &decided) {
            (None, _) => RuleOutcome::Unset,
            (Some(_), Some(_)) => RuleOutcome::Weaker,
            (Some(name), None) => match table.named(name, question.parent) {
                Some(named) => {
                    decided = Some((rule, named.clone()));
                    RuleOutcome::Decided(named)
                }
                None => {
                    notices.push(RouteNotice::UnknownName(name.into()));
                    RuleOutcome::Unknown
                }
            },
        };
        steps.push(RouteStep { rule, asked: asked.map(Into::into), outcome });
    }
    // The last rule, `inherit`, always has a value and an id.
    let (rule, mut model) =
        decided.map_or((RouteRule::Inherit, question.parent.into()), |(rule, named)| (rule, named.id));
    if *model == *question.parent
        && let Some((switched, notice)) = switched(question, table)
    {
        model = switched;
        notices.push(notice);
    }
    if rule != RouteRule::Policy {
        model = permitted(model, question, table, &mut notices);
        model = large_enough(model, question, &window, &mut notices);
    }
    if *model != *question.parent && table.family_of(&model).is_none() && window(&model).is_none() {
        notices.push(RouteNotice::UnknownId(model.clone()));
    }
    Route { model, rule, steps, notices }
}

/// Returns the rules with their values, strongest first.
fn chain<'a>(question: &RouteQuestion<'a>) -> [(RouteRule, Option<&'a str>); 7] {
    let set = |value: Option<&'a str>| value.map(str::trim).filter(|value| !value.is_empty());
    let environment = (
        RouteRule::Environment,
        set(question.environment).filter(|value| !value.eq_ignore_ascii_case(INHERIT)),
    );
    let policy = (RouteRule::Policy, set(question.policy));
    let call = (RouteRule::Call, set(question.call));
    let definition = (RouteRule::Definition, set(question.definition));
    let default = (RouteRule::Default, set(question.default));
    let utility = (RouteRule::Utility, set(question.utility));
    let inherit = (RouteRule::Inherit, Some(INHERIT));
    if question.environment_is_default {
        [policy, call, definition, environment, default, utility, inherit]
    } else {
        [policy, environment, call, definition, default, utility, inherit]
    }
}

fn switched(question: &RouteQuestion<'_>, table: &ModelTable) -> Option<(Box<str>, RouteNotice)> {
    let family = table.family_of(question.parent).map(|family| &*family.name);
    let applies = |switch: &&ModelSwitch| {
        let from = switch.from.as_deref();
        (!switch.plan || question.plan)
            && switch.above.is_none_or(|above| question.context.is_some_and(|context| context > above))
            && from.is_none_or(|from| family == Some(from) || matches_wildcards(from, question.parent))
    };
    let switch = question.switches.iter().find(applies)?;
    let to = table.named(&switch.to, question.parent)?.id;
    (*to != *question.parent).then(|| (to.clone(), RouteNotice::Switched { to, plan: switch.plan }))
}

fn permitted(
    model: Box<str>,
    question: &RouteQuestion<'_>,
    table: &ModelTable,
    notices: &mut Vec<RouteNotice>,
) -> Box<str> {
    let Some(list) = question.permitted else { return model };
    let permits = |id: &str| {
        let family = table.family_of(id).map(|family| &*family.name);
        list.iter().any(|entry| family == Some(&**entry) || matches_wildcards(entry, id))
    };
    if permits(&model) || *model == *question.parent {
        return model;
    }
    let instead = table.permitted(&model, question.parent, permits);
    let inherited = instead.is_none();
    let instead: Box<str> = instead.map_or_else(|| question.parent.into(), Into::into);
    notices.push(RouteNotice::NotPermitted { model, instead: instead.clone(), inherited });
    instead
}

fn large_enough(
    model: Box<str>,
    question: &RouteQuestion<'_>,
    window: impl Fn(&str) -> Option<u64>,
    notices: &mut Vec<RouteNotice>,
) -> Box<str> {
    let fits = |id: &str| match (question.context, window(id)) {
        (Some(context), Some(window)) => context <= window,
        _ => true,
    };
    if fits(&model) {
        return model;
    }
    let inherited = *model != *question.parent && fits(question.parent);
    let window = window(&model).unwrap_or_default();
    notices.push(RouteNotice::TooSmall { model: model.clone(), window, inherited });
    if inherited { question.parent.into() } else { model }
}
