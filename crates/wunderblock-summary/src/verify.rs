//! Checks whether a summary can be accepted: it must be smaller than its range, have all its parts, contain the
//! required names and no invented ones, and give no orders.

use super::extract::{Cue, Found, ReadMaterial, absent, demands, heading, restored, stamp, without_colour};
use crate::task::{Brief, Material};
use std::collections::{HashMap, HashSet};
use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::{FactKind, LostFact, SummaryCheck};
use wunderblock_core::grounding::{Grounding, SourceNames};
use wunderblock_core::literal::{Literal, literals};
use wunderblock_core::message::Part;
use wunderblock_core::policy::{Permille, SummaryFormat};
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::ViewEntry;

mod lines;
mod order;

pub use lines::content as content_words;

/// Criteria that a summary is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Against {
    /// Tokens of the summary.
    pub tokens: Tokens,
    /// Tokens of the content that the summary replaces.
    pub replaces: Tokens,
    /// Minimum share of the names in the summary that must occur in its range, as set by
    /// [`wunderblock_core::policy::Summary::grounded`]; unmistakable names must all occur in the range. The value 0
    /// turns off both the check of the share and the check of unmistakable names.
    pub grounded: Permille,
    /// Whether each line is checked against the range, and marked if nothing in the range supports it. This check is
    /// meant for summaries that a model or another program wrote.
    pub by_line: bool,
}

/// Result of checking a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Figures of the check, for the record.
    pub check: SummaryCheck,
    /// Reasons to reject the summary; empty if it is accepted.
    pub faults: Vec<SummaryFault>,
    /// Text of the summary, with marks if its lines were checked.
    pub text: String,
}

/// A fault of a summary. The error text tells the author of the summary what to fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFault {
    /// The summary is empty.
    #[error("The summary is empty. Write it with all parts of the template.")]
    Empty,
    /// The summary has at least as many tokens as the content it replaces.
    #[error(
        "The summary takes {tokens} tokens, and what it replaces {replaces}. Make it much shorter: keep names, \
         decisions and what is open; leave out what can be read again."
    )]
    NotSmaller {
        /// Tokens of the summary.
        tokens: Tokens,
        /// Tokens of the content that the summary replaces.
        replaces: Tokens,
    },
    /// A part of the template is missing.
    #[error(
        "The part \"{0}\" is missing. Write its heading exactly so, with `–` below it if there is nothing to say."
    )]
    MissingSection(Box<str>),
    /// Required names are missing.
    #[error("These names have to be in the summary, spelt exactly so: {}.", quoted(.0))]
    MissingLiteral(Vec<Box<str>>),
    /// The user's first request or one of the user's rules is missing.
    #[error("The user's first request and rules have to be in the summary: {}.", .0.join("; "))]
    MissingWords(Vec<Box<str>>),
    /// The summary contains names, numbers or quotations that do not occur in its range.
    #[error(
        "These names, numbers or quotations do not stand in the conversation: {}. Take them out, or copy exactly \
         what stands there. Write counts of your own as ×12.",
        quoted(.0)
    )]
    Ungrounded(Vec<Box<str>>),
    /// More than a third of the lines are not supported by anything in the range. Holds the first few unsupported
    /// lines.
    #[error("These lines say what does not stand in the conversation: {}. Take them out.", .0.join(" · "))]
    Unfound(Vec<Box<str>>),
    /// The summary copies its range, or repeats itself.
    #[error(
        "The text repeats the conversation, or itself, instead of summing it up. Say each thing once, in your own \
         words."
    )]
    Repeats,
    /// The summary gives orders outside quotation marks. Holds the first one.
    #[error(
        "The summary gives its reader an order: \"{0}\". It is for reference only: report what was said, and put \
         what somebody demanded into quotation marks."
    )]
    Directive(Box<str>),
}

fn quoted(names: &[Box<str>]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A summary is rejected if more than one in this number of its lines cannot be found in its range.
const UNFOUND_SHARE: usize = 3;
/// Maximum number of lines that the fault lists.
const UNFOUND_TOLD: usize = 6;

/// Returns whether a text gives orders to its reader, whatever kind of text it is.
#[must_use]
pub fn gives_orders(text: &str) -> bool {
    order::first(text).is_some()
}

/// Checks a summary of a range. Takes time linear in the range and the summary.
#[must_use]
pub fn verify(text: &str, read: &ReadMaterial<'_>, brief: &Brief<'_>, against: Against) -> Verdict {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let ReadMaterial { material, found } = read;
    let mut faults = Vec::new();
    if !text.chars().any(char::is_alphanumeric) {
        faults.push(SummaryFault::Empty);
    }
    // The most serious faults come first, because people are shown only the first.
    faults.extend(order::first(text).map(|order| SummaryFault::Directive(order.into())));
    if against.tokens >= against.replaces {
        faults.push(SummaryFault::NotSmaller { tokens: against.tokens, replaces: against.replaces });
    }
    if brief.detail == Detail::Full {
        faults.extend(missing(text, brief).map(SummaryFault::MissingSection));
    }
    let demanded = demands(found, material, brief);
    let absent = absent(text, &demanded);
    let kept = demanded.len() - absent.len();
    let missing = absent.iter().filter(|demand| demand.is_name()).map(|demand| demand.text.as_str().into());
    let missing: Vec<Box<str>> = missing.collect();
    if !missing.is_empty() {
        faults.push(SummaryFault::MissingLiteral(missing));
    }
    // A missing request or rule is a fault. Other sentences may be reworded, so if they are missing, they are only
    // recorded as lost.
    let grave = absent.iter().filter(|demand| matches!(demand.kind, FactKind::Request | FactKind::Rule));
    let grave: Vec<Box<str>> =
        grave.map(|demand| format!("#{} \"{}\"", demand.at, demand.text).into()).collect();
    if !grave.is_empty() {
        faults.push(SummaryFault::MissingWords(grave));
    }
    let lost = absent.iter().map(|demand| LostFact { kind: demand.kind, at: demand.at }).collect();
    let names = restored(text);
    let grounding = ground(&names, text, read, brief);
    let score = grounding.score();
    if score < against.grounded {
        faults.push(SummaryFault::Ungrounded(grounding.unknown));
    } else if against.grounded > Permille::ZERO && !grounding.invented.is_empty() {
        // An invented path is a fault even if the score is high enough: anyone who follows the path finds nothing.
        faults.push(SummaryFault::Ungrounded(grounding.invented));
    }
    if repeats(text, material) {
        faults.push(SummaryFault::Repeats);
    }
    let marked = against.by_line.then(|| lines::mark(text, material));
    let unfound = marked.as_ref().map(|marked| marked.unfound.as_slice()).unwrap_or_default();
    if marked.as_ref().is_some_and(|marked| unfound.len() * UNFOUND_SHARE > marked.said) {
        let first = unfound.iter().take(UNFOUND_TOLD).map(|line| line.as_str().into());
        faults.push(SummaryFault::Unfound(first.collect()));
    }
    let unfound = count(unfound.len());
    let check = SummaryCheck {
        grounded: score,
        kept: count(kept),
        demanded: count(demanded.len()),
        answered: answered(text, found),
        lost,
        unfound,
    };
    let text = marked.map_or_else(|| text.to_owned(), |marked| marked.text);
    Verdict { check, faults, text }
}

/// Number of entries after a cited position in which the content of a line may also occur, such as the result of a
/// cited call.
const CITED: u64 = 2;

/// Measures how much of what a summary names occurs in its range. Reads the cited entries first, and skips the other
/// entries if every name occurs in the cited ones. Reading the other entries took a quarter of the time of a sweep.
fn ground(names: &str, text: &str, read: &ReadMaterial<'_>, brief: &Brief<'_>) -> Grounding {
    let material = read.material;
    let cited = positions(text);
    let is_cited =
        |entry: &&&ViewEntry| (0..=CITED).any(|back| cited.contains(&Seq(entry.seq.0.saturating_sub(back))));
    let (first, rest): (Vec<&ViewEntry>, Vec<&ViewEntry>) = material.entries.iter().partition(is_cited);
    let mut known = said_beside(names, read, brief);
    for entries in [first, rest] {
        entries.into_iter().for_each(|entry| learn(&mut known, entry, material));
        let grounding = known.check(names);
        if grounding.grounded == grounding.named {
            return grounding;
        }
    }
    known.check(names)
}

/// Learns the texts of an entry, both unchanged and without colours.
fn learn(known: &mut SourceNames, entry: &ViewEntry, material: &Material<'_>) {
    for text in sources(entry, material) {
        known.learn(text);
        if text.contains('\u{1b}') {
            known.learn(&without_colour(text));
        }
    }
}

/// Returns the names that a summary may contain besides those in the entries of its range.
fn said_beside(text: &str, read: &ReadMaterial<'_>, brief: &Brief<'_>) -> SourceNames {
    let ReadMaterial { material, found } = read;
    let earlier = material.earlier.iter().map(|earlier| earlier.text);
    // The name and the arguments of a tool are neighbouring words.
    let steps = found.steps.iter().map(|step| step.what.as_str());
    let mut known = SourceNames::asked(text, earlier.chain(steps));
    let is_catalogue = brief.detail == Detail::Catalogue;
    let dated = is_catalogue || brief.template.form == SummaryFormat::Log;
    let ends = material.entries.first().into_iter().chain(material.entries.last());
    let dates = material.entries.iter().filter(|_| dated).chain(ends);
    let dates: HashSet<String> = dates.map(|entry| stamp(entry.at)).collect();
    dates.iter().for_each(|date| known.learn(date));
    // The range at the start of a catalogue line counts neither for nor against the summary.
    let ranges = text.lines().filter(|_| is_catalogue).filter_map(|line| line.split(' ').nth(1));
    ranges.for_each(|range| known.set_aside(range));
    // Placeholders that replaced secrets.
    for (piece, _) in text.split("[[secret:").skip(1).filter_map(|rest| rest.split_once("]]")) {
        if piece.len() <= 60 && !piece.contains(char::is_whitespace) {
            known.learn(&format!("[[secret:{piece}]]"));
        }
    }
    known.set_aside(&brief.template.root);
    for (number, section) in brief.template.sections.iter().enumerate() {
        known.set_aside(&section.name);
        known.set_aside(&heading(brief.template.form, number, &section.name));
    }
    known
}

/// Returns all texts of an entry.
fn sources<'m>(entry: &'m ViewEntry, material: &'m Material<'_>) -> Vec<&'m str> {
    let mut texts: Vec<&str> = Vec::new();
    for part in &entry.message.parts {
        if let Part::ToolCall { name, gist, .. } = part {
            texts.push(name);
            texts.extend(gist.as_deref());
        }
        texts.extend(part.bodies().into_iter().filter_map(|body| material.bodies.of(body)));
    }
    if let wunderblock_core::message::MessageOrigin::Failed(why) = &entry.message.standing {
        texts.push(why);
    }
    texts
}

/// Returns the positions that a text cites, such as `#123`.
fn positions(text: &str) -> HashSet<Seq> {
    text.split('#')
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .map(Seq)
        .collect()
}

/// Returns the parts of the template that the text lacks.
fn missing<'t>(text: &'t str, brief: &'t Brief<'_>) -> impl Iterator<Item = Box<str>> + 't {
    // Models vary the case, the marks and the numbers of headings.
    let folded = |line: &str| -> String {
        let marks = |c: char| c.is_whitespace() || "#*:：<>._-)".contains(c) || c.is_ascii_digit();
        line.chars().filter(|c| !marks(*c)).flat_map(char::to_lowercase).collect()
    };
    let form = brief.template.form;
    let begins = move |line: &str| {
        let line = line.trim_start();
        match form {
            SummaryFormat::Markdown => line.starts_with(['#', '*']),
            SummaryFormat::Numbered => line.starts_with(|c: char| c.is_ascii_digit() || c == '*' || c == '#'),
            SummaryFormat::Xml => line.starts_with('<') && !line.starts_with("</"),
            SummaryFormat::Log => false,
        }
    };
    let heads: HashSet<String> = text
        .lines()
        .filter(move |line| begins(line) && line.len() <= 200)
        // Text may follow a heading on the same line, so the part of the line before the separator may be a heading,
        // too.
        .flat_map(|line| {
            [folded(line), folded(line.split_once(['>', ':', '：']).map_or(line, |(head, _)| head))]
        })
        .collect();
    // A log has no headings.
    let parts = if form == SummaryFormat::Log { &[] } else { brief.template.sections.as_slice() };
    let names = parts.iter().map(|section| section.name.clone());
    names.filter(move |name| !heads.contains(&folded(name)))
}

/// Minimum number of bytes in a compared line, because shorter lines may be alike by chance.
const LINE_MIN: usize = 40;

/// Returns whether more than half of a text, excluding quotations, occurs line by line in the range, or whether most
/// of its lines repeat other lines.
fn repeats(text: &str, material: &Material<'_>) -> bool {
    let own = order::unquoted(text);
    let lines: Vec<&str> = own.lines().map(bare).filter(|line| line.len() >= LINE_MIN).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    lines.iter().for_each(|line| *counts.entry(line).or_default() += 1);
    if lines.len() >= 6 && counts.len() * 2 < lines.len() {
        return true;
    }
    if lines.is_empty() || material.entries.is_empty() {
        return false;
    }
    let bytes = |lines: &HashSet<&str>| lines.iter().map(|line| line.len()).sum::<usize>();
    let mut missing: HashSet<&str> = counts.keys().copied().collect();
    let all = bytes(&missing);
    let bodies = material.entries.iter().flat_map(|entry| &entry.message.parts).flat_map(Part::bodies);
    for line in bodies.filter_map(|body| material.bodies.of(body)).flat_map(str::lines) {
        missing.remove(bare(line));
    }
    let copied = all - bytes(&missing);
    // A few copied bytes are allowed: a single copied line is a quotation without marks.
    copied * 2 > all && copied * 3 > text.len() && copied > 200
}

fn bare(line: &str) -> &str {
    line.trim().trim_start_matches(['-', '*', '>', '#', ' '])
}

/// Maximum number of questions of each kind.
const ASKED: usize = 40;

/// Returns the share of mechanical questions about the range that the summary answers, by its words or by a position
/// it cites.
fn answered(text: &str, found: &Found<'_>) -> Permille {
    let known = SourceNames::new([text]);
    let shown = positions(text);
    let (mut asked, mut right) = (0_u64, 0_u64);
    let mut ask = |is_answered: bool| {
        asked += 1;
        right += u64::from(is_answered);
    };
    // Names in the user's messages, newest first.
    let mut seen = HashSet::new();
    for said in found.users.iter().rev() {
        let facts = literals(&said.text).filter(Literal::is_entity);
        for fact in facts.take(8) {
            if seen.len() < ASKED && seen.insert(fact.key()) {
                ask(known.has(&fact) || shown.contains(&said.at));
            }
        }
    }
    // Files that were changed, newest first.
    for file in found.files.iter().rev().filter(|file| file.is_changed()).take(ASKED) {
        ask(text.contains(&file.path) || shown.contains(&file.last_changed));
    }
    // Decisions, the next step, and open todos.
    let decided = found.sentences(Cue::Decision).iter().rev().take(ASKED / 2);
    let next = found.sentences(Cue::Next).last();
    for sentence in decided.chain(next) {
        ask(shown.contains(&sentence.at) || known.has_words(&sentence.text));
    }
    for (todo, _) in found.plan.iter().flat_map(|(_, plan)| &plan.open).take(ASKED / 2) {
        ask(known.has_words(todo) || found.plan.as_ref().is_some_and(|(at, _)| shown.contains(at)));
    }
    Permille::ratio(right, asked)
}
