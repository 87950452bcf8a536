//! What is wrong with a policy, beyond what its schema says.

use super::{Act, Permille, Policy};
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It works, but perhaps not as meant.
    Warning,
    /// It cannot be used.
    Error,
}

/// Something wrong with a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How bad it is.
    pub severity: Severity,
    /// Which key, such as `trigger.soft.fraction`.
    pub key: String,
    /// What is wrong with it, and what to do.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.what)
    }
}

impl Policy {
    /// What is wrong with it: contradictions, triggers that can never fire, steps that do nothing.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Faults(Vec::new());
        self.check_triggers(&mut faults);
        self.check_protection(&mut faults);
        self.check_steps(&mut faults);
        self.check_summary(&mut faults);
        faults.0
    }

    fn check_triggers(&self, faults: &mut Faults) {
        let trigger = &self.trigger;
        for (name, level) in [("soft", &trigger.soft), ("hard", &trigger.hard)] {
            if let Some(fraction) = level.fraction {
                if fraction == Permille::ZERO || fraction > Permille::ONE {
                    faults.error(
                        format!("trigger.{name}.fraction"),
                        format!("{fraction} can never be meant: a fraction is more than 0 and at most 1"),
                    );
                }
                if trigger.down_to >= fraction {
                    faults.error(
                        "trigger.down_to",
                        format!(
                            "it goes down to {} and fires at {fraction}: it would fire again at once",
                            trigger.down_to
                        ),
                    );
                }
            }
        }
        if let (Some(soft), Some(hard)) = (trigger.soft.fraction, trigger.hard.fraction)
            && soft > hard
        {
            faults.error(
                "trigger.hard.fraction",
                format!("the hard level ({hard}) lies below the soft one ({soft})"),
            );
        }
        let has_steps = !self.steps.is_empty();
        let never = trigger.soft.is_never() && trigger.hard.is_never();
        if has_steps && never {
            faults.warn(
                "trigger",
                "no level is set: it compacts only by hand, and where a request does not fit",
            );
        }
        if !has_steps && !never {
            faults.error("step", "there is a trigger and no step: it could never do anything");
        }
        if trigger.regrow > Permille::ONE {
            faults.error(
                "trigger.regrow",
                "a context cannot grow by more than the whole: it would never fire again",
            );
        }
    }

    fn check_protection(&self, faults: &mut Faults) {
        let protect = &self.protect;
        for (key, part) in [("protect.history", protect.history), ("protect.window", protect.window)] {
            if part > Permille::ONE {
                faults.error(key, format!("{part} is more than all of it"));
            }
        }
        if protect.at_most.0 > 0 && protect.at_least > protect.at_most {
            faults.error("protect.at_least", "the tail would have to be longer than it may be");
        }
        let kept = Permille(protect.history.0.max(protect.window.0));
        if let Some(fraction) = self.trigger.soft.fraction.or(self.trigger.hard.fraction)
            && protect.window >= fraction
            && kept > Permille::ZERO
        {
            faults.error(
                "protect.window",
                format!(
                    "the tail of {} leaves nothing to compact when it fires at {fraction}",
                    protect.window
                ),
            );
        }
        if self.trigger.soft.messages.is_some_and(|most| protect.first + protect.messages >= most) {
            faults.error(
                "protect.messages",
                "as many messages are protected as set it off: nothing would be left to do",
            );
        }
    }

    fn check_steps(&self, faults: &mut Faults) {
        for (index, act) in self.steps.iter().enumerate() {
            let key = format!("step {} ({})", index + 1, act.name());
            if act.gain().0 > Permille::ONE {
                faults.error(key.clone(), "no step saves more than everything");
            }
            match act {
                Act::Shrink { over, to, .. } if to >= over => {
                    faults.error(
                        key,
                        format!("it shrinks texts over {over} tokens to {to}: that is no shrinking"),
                    );
                }
                Act::Condense { leaves, nodes, .. } if *leaves < 2 || *nodes < 2 => {
                    faults.error(key, "one summary cannot be condensed: at least 2 make one");
                }
                Act::Condense { .. }
                    if !self.steps.iter().any(|other| matches!(other, Act::Summarise { .. })) =>
                {
                    faults.error(key, "there is nothing to condense without a step that summarises");
                }
                Act::Summarise { oldest, .. } if *oldest == Permille::ZERO || *oldest > Permille::ONE => {
                    faults.error(key, "`oldest` is a part of what is not protected: more than 0, at most 1");
                }
                _ => {}
            }
        }
    }

    fn check_summary(&self, faults: &mut Faults) {
        let summary = &self.summary;
        if !self.summarises() {
            return;
        }
        if summary.template.sections.is_empty() {
            faults.error("summary.template.section", "a summary without parts says nothing");
        }
        for section in &summary.template.sections {
            if section.fill.is_empty() {
                faults.error(
                    format!("summary.template.section \"{}\"", section.name),
                    "nothing fills it: name at least one kind in `fill`",
                );
            }
        }
        if summary.share >= Permille::ONE || summary.share == Permille::ZERO {
            faults.error("summary.share", "a summary is shorter than what it replaces, and not nothing");
        }
        if summary.margin < Permille::ONE {
            faults.error(
                "summary.margin",
                "a margin below 1 would give a summariser more than its window holds",
            );
        }
        if summary.grounded > Permille::ONE {
            faults.error("summary.grounded", "no summary can be more grounded than wholly: at most 1");
        }
    }
}

struct Faults(Vec<Fault>);

impl Faults {
    fn error(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.0.push(Fault { severity: Severity::Error, key: key.into(), what: what.into() });
    }

    fn warn(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.0.push(Fault { severity: Severity::Warning, key: key.into(), what: what.into() });
    }
}
