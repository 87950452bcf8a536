//! What a policy's summaries look like.

use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// What summaries look like, who writes them, and when one is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summary {
    /// The parts of a summary.
    pub template: Template,
    /// The model that writes summaries, where one is used: `same` for the session's own.
    pub model: Box<str>,
    /// Summaries stand behind the messages that are kept from their range, not before those that came later.
    pub last: bool,
    /// Target of a summary of a range, in tokens.
    pub target: Tokens,
    /// … but at most this part of what it replaces.
    pub share: Permille,
    /// … and at least so many.
    pub at_least: Tokens,
    /// Target of a summary of summaries, in tokens.
    pub condensed: Tokens,
    /// What all summaries of a request may take, as a part of its limit.
    pub room: Permille,
    /// Target of a summary that a model writes, in tokens, where that is less. Recorded summaries of good quality have 1,200
    /// to 1,400; one asked for 20,000 takes minutes and says little more.
    pub by_model: Tokens,
    /// A summary longer than this many times its target is cut.
    pub overage: Permille,
    /// A second try, when the first was no shorter than what it replaces, aims at this part of the target.
    pub second: Permille,
    /// What the deterministic floor writes at most, when nothing else could be had.
    pub floor: Tokens,
    /// A summariser is given at most so many tokens at a time; 0 for what its window holds.
    pub input: Tokens,
    /// What is given is taken to be this many times its count, where counts are estimates.
    pub margin: Permille,
    /// A summary that names more than the rest of what its range does not contain is refused; one that names a path that its
    /// range does not contain is, too. 0: neither is looked at.
    pub grounded: Permille,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            template: Template::default(),
            model: "same".into(),
            last: false,
            target: Tokens(2_400),
            share: Permille(350),
            at_least: Tokens(192),
            condensed: Tokens(2_000),
            room: Permille(650),
            by_model: Tokens(2_400),
            overage: Permille(3_000),
            second: Permille(550),
            floor: Tokens(512),
            input: Tokens(0),
            margin: Permille(1_200),
            grounded: Permille(900),
        }
    }
}

/// The parts of a summary, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Template {
    /// How the parts are marked.
    pub form: SummaryFormat,
    /// The element around all, of an XML form.
    pub root: Box<str>,
    /// The parts.
    #[serde(rename = "section")]
    pub sections: Vec<TemplateSection>,
}

impl Default for Template {
    fn default() -> Self {
        let section = |name: &str, fill: &[Fill]| TemplateSection {
            name: name.into(),
            fill: fill.to_vec(),
            about: "".into(),
            weight: 1,
        };
        Self {
            form: SummaryFormat::Markdown,
            root: "summary".into(),
            sections: vec![
                section("Goal", &[Fill::Intent]),
                section("Constraints", &[Fill::Constraints]),
                section("Decisions", &[Fill::Decisions]),
                section("Files", &[Fill::FilesModified, Fill::FilesRead]),
                section("Commands", &[Fill::Commands]),
                section("Errors and fixes", &[Fill::Errors]),
                section("Open", &[Fill::Todos]),
                section("Current work", &[Fill::Current]),
                section("Identifiers", &[Fill::Identifiers]),
            ],
        }
    }
}

/// How the parts of a summary are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryFormat {
    /// `## Name` before each.
    #[default]
    Markdown,
    /// `1. Name:` before each.
    Numbered,
    /// `<name>…</name>` around each, and the root around all.
    Xml,
    /// No headings: a dated log, a line for each thing, `- 14:03 ! … #12`, in the order in which they happened.
    Log,
}

/// A part of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSection {
    /// Its heading, or its element.
    pub name: Box<str>,
    /// What stands in it, in this order.
    pub fill: Vec<Fill>,
    /// What a model is told to write there.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub about: Box<str>,
    /// How many times its usual room it may take, where there is not room for all.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub weight: u16,
}

const fn once() -> u16 {
    1
}

// serde asks for a function that takes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_once(weight: &u16) -> bool {
    *weight == 1
}

/// What the extractive summariser writes into a part, each line with the position it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// What the user wanted: the first request, and each that opened something new.
    Intent,
    /// What came of each request: how the model's reply that ended the turn begins.
    Outcomes,
    /// What the user ruled out, demanded or preferred.
    Constraints,
    /// Names of tools, languages, libraries and terms that come up again and again.
    Concepts,
    /// What was decided, by user or model.
    Decisions,
    /// Files that were read.
    FilesRead,
    /// Files that were made, changed or removed.
    FilesModified,
    /// Commands that were run, and how they ended.
    Commands,
    /// Errors, and the step that mended each.
    Errors,
    /// What was found out on the way: the model's own conclusions.
    Findings,
    /// Every message of the user, verbatim.
    UserMessages,
    /// What is still to be done.
    Todos,
    /// What has been done.
    Done,
    /// What was being worked on last.
    Current,
    /// What the model said it would do next.
    Next,
    /// The newest actions, in order.
    Recent,
    /// Paths, identifiers and numbers that come up more than once, with the position of the last.
    Identifiers,
    /// How many messages, calls, failures; from when to when.
    Statistics,
}
