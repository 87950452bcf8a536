//! Facts about programs, as listed in `rules/commands.rules`.

use crate::part::PartOfList;
use std::sync::OnceLock;

use super::pipeline::ShellStage;

/// A line of the table: programs of a class, and the condition on their words.
struct ProgramRule {
    class: &'static str,
    programs: Vec<&'static str>,
    condition: &'static str,
    values: Vec<&'static str>,
}

fn rules() -> &'static [ProgramRule] {
    static RULES: OnceLock<Vec<ProgramRule>> = OnceLock::new();
    RULES.get_or_init(|| {
        let mut class = "";
        let mut rules = Vec::new();
        for line in include_str!("../../rules/commands.rules").lines() {
            let heading = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            match heading.filter(|name| name.len() > 2) {
                Some(name) => class = name,
                None if line.is_empty() || line.starts_with('#') => {}
                None => {
                    let (programs, condition) = line.split_once(" : ").unwrap_or((line, ""));
                    let mut words = condition.split(' ');
                    rules.push(ProgramRule {
                        class,
                        programs: programs.split(' ').collect(),
                        condition: words.next().unwrap_or(""),
                        values: words.collect(),
                    });
                }
            }
        }
        rules
    })
}

/// Returns the names in a class.
pub(super) fn names(class: &str) -> impl Iterator<Item = &'static str> {
    rules().iter().filter(move |rule| rule.class == class).flat_map(|rule| rule.programs.iter().copied())
}

/// Returns whether a stage's program belongs to a class, and its words meet the condition of its rule.
pub(super) fn is(class: &str, stage: &ShellStage) -> bool {
    rules().iter().any(|rule| rule.class == class && rule.words_of(stage).is_some() && rule.holds(stage))
}

/// Returns the number of words that belong to a stage's wrapper, or 0 if its program is not a wrapper.
pub(super) fn wrapper_length(stage: &ShellStage) -> usize {
    let of = |rule: &ProgramRule| {
        let own = rule.words_of(stage).filter(|_| rule.class == "wraps")?;
        let (skipped, with_value) = match rule.values.split_first() {
            Some((skipped, options)) => (skipped.parse().unwrap_or(0), options),
            None => (0, [].as_slice()),
        };
        let words = stage.words.part(own - 1..);
        Some(own + skipped + count_options(words, with_value))
    };
    rules().iter().find_map(of).unwrap_or(0)
}

impl ProgramRule {
    /// Returns the number of words that name the program of a stage, or `None` if the rule is about other programs.
    /// The rule `git/log` takes two words.
    fn words_of(&self, stage: &ShellStage) -> Option<usize> {
        let program = stage.program();
        let second = || stage.words.get(1).map(String::as_str);
        let named = |name: &&str| match name.split_once('/') {
            Some((first, word)) => first == program && Some(word) == second(),
            None => **name == *program,
        };
        self.programs.iter().find(|name| named(name)).map(|name| 1 + name.matches('/').count())
    }

    fn holds(&self, stage: &ShellStage) -> bool {
        let beside = || stage.words.iter().filter(|word| !word.starts_with('-')).count() - 1;
        match self.condition {
            "with" => stage.has(&self.values),
            "without" => !stage.has(&self.values),
            "holding" => stage.words.iter().any(|word| self.values.iter().any(|part| word.contains(part))),
            "words" => {
                self.values.first().is_some_and(|count| count.parse().is_ok_and(|count| beside() >= count))
            }
            "piped" => stage.piped,
            _ => true,
        }
    }
}

/// Returns the number of words after the first that are options or the values of options.
fn count_options(words: &[String], with_value: &[&str]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if with_value.contains(&word.as_str()) { 2 } else { 1 };
        if word == "--" {
            break;
        }
    }
    at - 1
}
