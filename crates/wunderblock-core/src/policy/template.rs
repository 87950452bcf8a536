//! Form of a policy's summaries.

use super::optional::Optional;
use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// Form of a policy's summaries, who writes them, and when one is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summary {
    /// Template with the parts of a summary.
    pub template: Template,
    /// Model that writes summaries, if one is used; `same` for the session's own model.
    pub model: Box<str>,
    /// Whether a summary is placed after the messages kept from its range, instead of at the place of the range.
    pub last: bool,
    /// Target size of a summary of a range, in tokens.
    pub target: Tokens,
    /// Maximum target size, as a fraction of the content that the summary replaces.
    pub share: Permille,
    /// Minimum target size, in tokens.
    pub at_least: Tokens,
    /// Target size of a summary of summaries, in tokens.
    pub condensed: Tokens,
    /// Maximum fraction of a request's limit that the request's summaries take together.
    pub room: Permille,
    /// Maximum target size of a summary that a model writes, in tokens. Recorded summaries of good quality have 1,200
    /// to 1,400 tokens; a summary with a target of 20,000 takes minutes and says little more.
    pub by_model: Tokens,
    /// Multiple of the target size above which a summary is cut.
    pub overage: Permille,
    /// Fraction of the target size that a second attempt aims for, if the first summary was at least as long as the
    /// content it replaces.
    pub second: Permille,
    /// Maximum number of tokens in the deterministic summary that is used if no other summary was accepted.
    pub floor: Tokens,
    /// Maximum number of tokens given to a summariser at a time; as many as its window holds if unset.
    pub input: Optional<Tokens>,
    /// Factor applied to the token count of a summariser's input, because counts are estimates.
    pub margin: Permille,
    /// Minimum fraction of the names in a summary that must occur in its range. A summary below this fraction is
    /// rejected, and so is a summary that names a path outside its range. If the fraction is 0, names and paths are
    /// not checked.
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
            input: Optional::UNSET,
            margin: Permille(1_200),
            grounded: Permille(900),
        }
    }
}

/// Template of a summary: its parts, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Template {
    /// Format of the parts.
    pub form: SummaryFormat,
    /// Element around all parts, in the XML format.
    pub root: Box<str>,
    /// Parts of a summary, in order.
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

/// Format of the parts of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryFormat {
    /// `## Name` before each part.
    #[default]
    Markdown,
    /// `1. Name:` before each part.
    Numbered,
    /// `<name>…</name>` around each part, and the root around all parts.
    Xml,
    /// No headings: a dated log in chronological order, with a line of the form `- 14:03 ! … #12` for each event.
    Log,
}

/// A part of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSection {
    /// Heading of the part, or name of its element.
    pub name: Box<str>,
    /// Contents of the part, in order.
    pub fill: Vec<Fill>,
    /// Instruction to a model on what to write in the part.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub about: Box<str>,
    /// Multiple of its usual room that the part may take if there is not enough room for all parts.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub weight: u16,
}

const fn once() -> u16 {
    1
}

// serde requires a function that takes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_once(weight: &u16) -> bool {
    *weight == 1
}

/// Content that the extractive summariser writes into a part, each line with the position of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Goals of the user: the first request, and each request that started something new.
    Intent,
    /// Outcome of each request: the beginning of the model's reply that ended the turn.
    Outcomes,
    /// Things that the user ruled out, demanded or preferred.
    Constraints,
    /// Names of tools, languages, libraries and terms that occur repeatedly.
    Concepts,
    /// Decisions of the user and of the model.
    Decisions,
    /// Files that were read.
    FilesRead,
    /// Files that were created, changed or removed.
    FilesModified,
    /// Commands that were run, with their outcomes.
    Commands,
    /// Errors, each with the step that fixed it.
    Errors,
    /// Findings along the way: the model's own conclusions.
    Findings,
    /// Every message of the user, verbatim.
    UserMessages,
    /// Work that is still to be done.
    Todos,
    /// Work that has been done.
    Done,
    /// Most recent work in progress.
    Current,
    /// Next steps that the model announced.
    Next,
    /// Newest actions, in order.
    Recent,
    /// Paths, identifiers and numbers that occur more than once, with the position of the last occurrence.
    Identifiers,
    /// Numbers of messages, calls and failures, and the period they cover.
    Statistics,
}
