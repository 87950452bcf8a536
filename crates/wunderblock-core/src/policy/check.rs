//! Checks of a policy that go beyond its schema.

use super::Policy;
use super::optional::Optional;
use super::permille::Permille;
use super::reduce::FLOOR as REDUCE_FLOOR;
use super::step::Action;
use super::template::SummaryFormat;
use super::trigger::TriggerLevel;
use crate::units::Tokens;
use std::collections::BTreeSet;
use std::fmt;

/// Severity of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The policy works, but perhaps not as intended.
    Warning,
    /// The policy cannot be used.
    Error,
}

/// A fault in a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    /// Severity of the fault.
    pub severity: Severity,
    /// Key at which the fault occurs, such as `trigger.soft.fraction`. Steps and parts of a template are numbered
    /// from 1, for example: `step.2.to`.
    pub key: String,
    /// Explanation of what is wrong, and of what to do about it.
    pub what: String,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.what)
    }
}

impl Policy {
    /// Returns the faults of the policy: contradictions, triggers that can never fire, steps that do nothing.
    #[must_use]
    pub fn faults(&self) -> Vec<PolicyFault> {
        let mut faults = Faults(Vec::new());
        if !is_name(&self.name) {
            faults.error("name", "must be 1 to 64 letters, digits, `-` and `_`");
        }
        self.check_levels(&mut faults);
        self.check_target(&mut faults);
        self.check_protection(&mut faults);
        self.check_reduction(&mut faults);
        for (index, action) in self.steps.iter().enumerate() {
            self.check_step(&format!("step.{}", index + 1), action, &mut faults);
        }
        if self.summarises() {
            self.check_summary(&mut faults);
            self.check_template(&mut faults);
        }
        if self.limits.rounds == 0 {
            faults.error("limits.rounds", "must be at least 1: with 0 the policy would stop before it began");
        }
        faults.0
    }

    fn check_levels(&self, faults: &mut Faults) {
        let trigger = &self.trigger;
        for (name, level) in [("soft", &trigger.soft), ("hard", &trigger.hard)] {
            check_level(name, level, faults);
        }
        check_order("trigger.hard.fraction", trigger.soft.fraction.zip(trigger.hard.fraction), faults);
        check_order("trigger.hard.tokens", trigger.soft.tokens.zip(trigger.hard.tokens), faults);
        let never = trigger.soft.is_never() && trigger.hard.is_never();
        if !self.steps.is_empty() && never {
            faults.warn(
                "trigger",
                "no level is set: the policy compacts only by hand, or if a request does not fit",
            );
        }
        if self.steps.is_empty() && !never {
            faults.error(
                "step",
                "no step is set: the trigger has no effect; add a step, or remove the trigger",
            );
        }
    }

    fn check_reduction(&self, faults: &mut Faults) {
        let reduce = &self.reduce;
        if reduce.is_off() {
            if !reduce.except.is_empty() {
                faults.warn("reduce.except", "has no effect: `level` is \"off\"");
            }
            return;
        }
        if reduce.except.iter().collect::<BTreeSet<_>>().len() < reduce.except.len() {
            faults.warn("reduce.except", "a kind is named twice");
        }
        if reduce.least < REDUCE_FLOOR {
            let what = format!("has no effect below {REDUCE_FLOOR} bytes: shorter texts are never reduced");
            faults.warn("reduce.least", what);
        }
    }

    fn check_target(&self, faults: &mut Faults) {
        let trigger = &self.trigger;
        let fractions = [trigger.soft.fraction, trigger.hard.fraction];
        if let Some(fraction) = fractions.into_iter().flatten().min()
            && let Some(down_to) = trigger.down_to.get()
            && down_to >= fraction
        {
            faults.error(
                "trigger.down_to",
                format!(
                    "{down_to} is not below {fraction}, where the policy fires: it would fire again immediately"
                ),
            );
        }
        if trigger.cold.get() > Some(Permille::ONE) {
            faults.error("trigger.cold", "must be at most 1: a larger request does not fit");
        }
        if trigger.idle.get().is_some_and(|idle| trigger.down_to.get() >= Some(idle)) {
            faults.error(
                "trigger.down_to",
                "must be below `trigger.idle`: with a lost cache it would fire again immediately",
            );
        }
        let down_to = trigger.down_to.get().unwrap_or_default();
        if down_to > Permille::ONE {
            faults.error("trigger.down_to", "must be at most 1: a larger request does not fit");
        } else if trigger.regrow > Permille::ONE {
            faults.error("trigger.regrow", "must be at most 1: a context cannot grow by more than the whole");
        } else if down_to.0.saturating_add(trigger.regrow.0) > Permille::ONE.0 {
            faults.error(
                "trigger.regrow",
                format!(
                    "a request cannot grow from {down_to} by {}: the policy would never fire again",
                    trigger.regrow
                ),
            );
        }
    }

    fn check_protection(&self, faults: &mut Faults) {
        let protect = &self.protect;
        for (key, part) in [("protect.history", protect.history), ("protect.window", protect.window)] {
            if part >= Permille::ONE {
                faults.error(key, format!("must be below 1: a tail of {part} leaves nothing to compact"));
            }
        }
        let is_part = protect.history > Permille::ZERO || protect.window > Permille::ZERO;
        let at_least = Optional::new(protect.at_least);
        for (key, tokens) in [("protect.at_least", at_least), ("protect.at_most", protect.at_most)] {
            if tokens.get().is_some() && !is_part {
                faults.warn(key, "has no effect: neither `window` nor `history` is set");
            }
        }
        if protect.at_most.get().is_some_and(|most| protect.at_least > most) {
            faults.error(
                "protect.at_least",
                format!(
                    "the minimum of {} tokens exceeds the maximum of {}",
                    protect.at_least, protect.at_most
                ),
            );
        }
        if let Some(fraction) = self.trigger.soft.fraction.or(self.trigger.hard.fraction)
            && protect.window >= fraction
            && (Permille(1)..Permille::ONE).contains(&protect.window)
        {
            faults.error(
                "protect.window",
                format!("a tail of {} leaves nothing to compact when it fires at {fraction}", protect.window),
            );
        }
        for (name, level) in [("soft", &self.trigger.soft), ("hard", &self.trigger.hard)] {
            let messages = protect.first.saturating_add(protect.messages);
            let covered = [
                ("messages", level.messages.is_some_and(|most| messages > most)),
                ("tokens", level.tokens.is_some_and(|most| protect.tokens > most)),
            ];
            for (unit, _) in covered.into_iter().filter(|(_, is_covered)| *is_covered) {
                let excess = format!("more {unit} are protected than the {name} level needs to fire");
                faults
                    .error(format!("protect.{unit}"), format!("{excess}: nothing would be left to compact"));
            }
        }
    }

    fn check_step(&self, key: &str, action: &Action, faults: &mut Faults) {
        if action.gain().0 >= Permille::ONE {
            faults.error(format!("{key}.min_gain"), "must be below 1: no step saves everything");
        }
        match action {
            Action::Curate { thinking_after: None, invalid_runs, placeholder, repeated, .. }
                if !(*invalid_runs || *placeholder || *repeated) =>
            {
                faults.warn(key, "has no effect: nothing in it is switched on");
            }
            Action::Shrink { over, to, head, .. } => {
                if to >= over {
                    let what = format!(
                        "must be less than `over`: texts over {over} tokens cannot be shrunk to {to}"
                    );
                    faults.error(format!("{key}.to"), what);
                }
                if *head > Permille::ONE {
                    faults.error(
                        format!("{key}.head"),
                        "must be at most 1: the head is a part of what is left",
                    );
                }
            }
            Action::Condense { leaves, nodes, above, .. } => {
                check_merge(key, *leaves, *nodes, *above, faults);
            }
            Action::Summarise { oldest, chunk, chunk_share, chunk_least, ahead, .. } => {
                if *ahead && chunk.get().is_none() && chunk_share.get().is_none() {
                    faults
                        .error(format!("{key}.ahead"), "no chunk is ever full: set `chunk` or `chunk_share`");
                }
                if *oldest == Permille::ZERO || *oldest > Permille::ONE {
                    faults.error(format!("{key}.oldest"), "must be more than 0 and at most 1");
                }
                if chunk_share.get() > Some(Permille::ONE) {
                    let what =
                        "must be at most 1: a chunk larger than the summariser's window cannot be summarised";
                    faults.error(format!("{key}.chunk_share"), what);
                }
                if chunk_least.get() > chunk_share.get() {
                    let what = format!(
                        "must be at most `chunk_share`: a chunk cannot shrink from {chunk_share} to {chunk_least}"
                    );
                    faults.error(format!("{key}.chunk_least"), what);
                }
            }
            Action::Archive { above, keep, catalogue_tokens, .. } => {
                check_archive(key, *above, *keep, *catalogue_tokens, faults);
            }
            Action::Drop { keep, .. } => {
                let level = [self.trigger.soft.messages, self.trigger.hard.messages];
                let least = level.into_iter().flatten().min();
                if least.is_some_and(|messages| keep.get() > Some(messages)) {
                    let what =
                        "more messages stay than a level needs to fire: the step would never do anything";
                    faults.error(format!("{key}.keep"), what);
                }
            }
            Action::Curate { .. } | Action::Dedupe { .. } | Action::Stub { .. } => {}
        }
    }

    fn check_summary(&self, faults: &mut Faults) {
        let summary = &self.summary;
        if summary.model.trim().is_empty() {
            faults.error("summary.model", "missing model: name one, or use `same` for the session's own");
        }
        for (key, tokens) in
            [("target", summary.target), ("condensed", summary.condensed), ("floor", summary.floor)]
        {
            if tokens == Tokens::ZERO {
                faults.error(
                    format!("summary.{key}"),
                    "must be more than 0: a summary of 0 tokens says nothing",
                );
            }
        }
        if summary.at_least > summary.target {
            let what = format!(
                "the minimum of {} tokens exceeds the target of {}",
                summary.at_least, summary.target
            );
            faults.error("summary.at_least", what);
        }
        if summary.share >= Permille::ONE || summary.share == Permille::ZERO {
            faults.error(
                "summary.share",
                "must be more than 0 and below 1: a summary is shorter than what it replaces",
            );
        }
        if summary.second > Permille::ONE || summary.second == Permille::ZERO {
            faults.error(
                "summary.second",
                "must be more than 0 and at most 1: a second try aims at no more than the first",
            );
        }
        if summary.by_model == Tokens::ZERO {
            faults
                .error("summary.by_model", "must be more than 0: a model cannot write a summary of 0 tokens");
        }
        if summary.overage < Permille::ONE {
            faults.error(
                "summary.overage",
                "must be at least 1: below it, a summary of the target length would be cut",
            );
        }
        if summary.margin < Permille::ONE {
            faults.error(
                "summary.margin",
                "must be at least 1: below it, a summariser would be given more than its window holds",
            );
        }
        if summary.grounded > Permille::ONE {
            faults.error("summary.grounded", "must be at most 1: no summary can be more than fully grounded");
        }
        if summary.input.get().is_some_and(|input| input <= summary.target) {
            let what = format!(
                "must exceed `target`: {} tokens are too few for a summary of {}",
                summary.input, summary.target
            );
            faults.error("summary.input", what);
        }
    }

    fn check_template(&self, faults: &mut Faults) {
        let template = &self.summary.template;
        if template.sections.is_empty() {
            faults.error("summary.template.section", "missing parts: a summary needs at least one");
        }
        let is_xml = template.form == SummaryFormat::Xml;
        if is_xml && !is_element(&template.root) {
            faults.error(
                "summary.template.root",
                format!("invalid name of an XML element: `{}`", template.root),
            );
        }
        let mut seen = BTreeSet::new();
        for (index, section) in template.sections.iter().enumerate() {
            let key = format!("summary.template.section.{}", index + 1);
            if section.name.trim().is_empty() || section.name.contains(['\n', '\r']) {
                faults.error(format!("{key}.name"), "must be a single line, and not blank");
            } else if is_xml && !is_element(&section.name) {
                faults.error(
                    format!("{key}.name"),
                    format!("invalid name of an XML element: `{}`", section.name),
                );
            } else if !seen.insert(&section.name) {
                faults.error(format!("{key}.name"), format!("duplicate part `{}`", section.name));
            }
            if section.weight == 0 {
                faults.error(
                    format!("{key}.weight"),
                    "must be at least 1: with 0 the part has no room; remove it instead",
                );
            }
            if section.fill.is_empty() {
                faults.error(format!("{key}.fill"), "nothing fills the part: name at least one kind");
            }
        }
    }
}

fn check_merge(key: &str, leaves: u64, nodes: u64, above: Permille, faults: &mut Faults) {
    for (name, count) in [("leaves", leaves), ("nodes", nodes)] {
        if count < 2 {
            faults.error(
                format!("{key}.{name}"),
                format!("must be at least 2, not {count}: a single summary cannot be merged"),
            );
        }
    }
    if above >= Permille::ONE {
        faults.error(format!("{key}.above"), "must be below 1: summaries never take the whole");
    }
}

fn check_archive(key: &str, above: Permille, keep: Permille, catalogue: Tokens, faults: &mut Faults) {
    if keep >= above {
        let what = format!("must be below `above` ({above}): with {keep} kept, nothing would be archived");
        faults.error(format!("{key}.keep"), what);
    }
    if catalogue == Tokens::ZERO {
        faults.error(
            format!("{key}.catalogue_tokens"),
            "must be more than 0: a catalogue of 0 tokens names nothing",
        );
    }
}

fn check_order<T: PartialOrd + fmt::Display>(key: &str, levels: Option<(T, T)>, faults: &mut Faults) {
    if let Some((soft, hard)) = levels.filter(|(soft, hard)| soft > hard) {
        let what =
            format!("the hard level ({hard}) is below the soft level ({soft}), which could never fire");
        faults.error(key, what);
    }
}

fn check_level(name: &str, level: &TriggerLevel, faults: &mut Faults) {
    if let Some(fraction) = level.fraction
        && (fraction == Permille::ZERO || fraction > Permille::ONE)
    {
        faults.error(
            format!("trigger.{name}.fraction"),
            format!("invalid fraction `{fraction}`: must be more than 0 and at most 1"),
        );
    }
    if level.free == Some(Tokens::ZERO) {
        faults.error(format!("trigger.{name}.free"), "must be more than 0: at 0 the level could never fire");
    }
}

/// Returns whether a name can be used unchanged in a file's name, a report and a command line.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Returns whether a text can be the name of an XML element. Only names that need no character table are accepted.
fn is_element(name: &str) -> bool {
    name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

struct Faults(Vec<PolicyFault>);

impl Faults {
    fn error(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.0.push(PolicyFault { severity: Severity::Error, key: key.into(), what: what.into() });
    }

    fn warn(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.0.push(PolicyFault { severity: Severity::Warning, key: key.into(), what: what.into() });
    }
}
