//! Passages that bear on a prompt, for those who did not ask: a hook's agent, and the next request of a lane.
//!
//! The words of the prompt that say something are searched for, and only passages above a floor are handed back. The
//! floor was measured: at most one prompt in twenty that has nothing to do with the past gets a passage
//! (`docs/design/0016-your-own-agent.md`, "Recall on a prompt").

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{EVERY, NEWEST, marked};
use crate::ledger::reading::stored::decode_event;
use crate::recall::search::{HitStrength, SearchCut, SearchHit, SearchOptions};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use wunderblock_core::author::typed;
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Bytes;
use wunderblock_store::{Answer, Marked};

/// Minimum strength of a passage.
pub const RECALL_FLOOR: HitStrength = HitStrength { covered: 400, rarity: 1_200 };
/// Minimum number of words of a prompt that say something. One word alone is too often a command or an answer.
const WORDS_MIN: usize = 2;
/// Maximum number of words that are searched for, the first ones: a search reads a list of messages for each.
const WORDS_MAX: usize = 64;
/// Number of hits among which passages are chosen: results of tools are passed over.
pub(crate) const HITS: usize = 24;
/// Maximum number of bytes of the message of a hit that are read.
const MESSAGE_BYTES: Bytes = Bytes(1 << 20);

/// A passage that bears on a prompt.
#[derive(Clone, Debug)]
pub struct PromptPassage {
    /// The hit, whose snippet is the passage.
    pub hit: SearchHit,
    /// Body from which the passage is taken, if it has a handle.
    pub body: Option<Handle>,
}

/// Passages that bear on a prompt.
#[derive(Clone, Debug, Default)]
pub struct PromptPassages {
    /// The passages, best first.
    pub passages: Vec<PromptPassage>,
    /// Reason why passages may be missing.
    pub cut: Option<SearchCut>,
}

/// Returns the passages for a prompt that may be recalled, best first, from a minimum strength on. `options` selects the
/// sessions. Returns none for a prompt with too few words that say something.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn recall_hits<'a>(
    engine: &'a Engine,
    prompt: &'a str,
    options: SearchOptions,
    floor: HitStrength,
) -> BoxFuture<'a, PromptPassages> {
    Box::pin(async move {
        let Some(words) = telling_words(prompt) else { return Ok(PromptPassages::default()) };
        let options = SearchOptions { limit: HITS, free_text: true, brief: true, ..options };
        let found = match engine.recall().search(&words, &options).await {
            // The index holds no word of the prompt.
            Err(Error::Query(_)) => return Ok(PromptPassages::default()),
            found => found?,
        };
        let mut passages = Vec::new();
        for hit in found.hits.into_iter().filter(|hit| passes(hit.strength, floor)) {
            passages.extend(passage(engine, hit).await?);
        }
        Ok(PromptPassages { passages, cut: found.cut })
    })
}

/// Returns whether a hit is strong enough.
pub(crate) fn passes(strength: HitStrength, floor: HitStrength) -> bool {
    strength.covered >= floor.covered && strength.rarity >= floor.rarity
}

/// Returns the passage of a hit, unless it was hidden from requests.
async fn passage(engine: &Engine, hit: SearchHit) -> Result<Option<PromptPassage>, Error> {
    let session = engine.session_by_id(hit.session.clone());
    let hides = marked(engine, &hit.session, Marked::Kind("content.hidden"), NEWEST, EVERY);
    for row in engine.ask(hides, Answer::events).await? {
        match decode_event(engine, &hit.session, &row)?.fact {
            Some(Fact::ContentHidden(hide)) if hide.target == hit.seq && hide.hidden => return Ok(None),
            Some(Fact::ContentHidden(hide)) if hide.target == hit.seq => break,
            _ => {}
        }
    }
    let events = session.events(hit.seq, hit.seq, 1, MESSAGE_BYTES).await?;
    let bodies = engine.bodies(&events).await?;
    Ok(match events.first().and_then(|event| event.fact.as_ref()) {
        Some(Fact::MessageAppended(said)) => of_message(hit, &said.message, &bodies),
        _ => None,
    })
}

/// Returns the part of a hit's text that a user typed or a model said. `None` without one. Anything that a hook or a
/// harness inserted is left out, so that nothing that was recalled is recalled again; and so are calls of tools.
pub(crate) fn of_message(hit: SearchHit, said: &Message, bodies: &dyn Bodies) -> Option<PromptPassage> {
    if !matches!(hit.role, Role::User | Role::Assistant) || hit.snippet.contains(['⟨', '⟩']) {
        return None;
    }
    if hit.role == Role::User && !said.is_persons() {
        return None;
    }
    let has_words = |text: &str| {
        let text = text.to_lowercase();
        hit.matched.is_empty() || hit.matched.iter().any(|word| text.contains(&word.to_lowercase()))
    };
    let texts = said.parts.iter().enumerate().filter_map(|(index, part)| match part {
        Part::Text { text, .. } => Some((index, text.handle(), bodies.of(text)?)),
        _ => None,
    });
    let pieces = texts.flat_map(|(index, body, text)| {
        said.own_pieces(index, text).into_iter().map(move |(_, piece)| (body, piece))
    });
    let parts = pieces.filter_map(|(body, piece)| Some((body, shared(&hit.snippet, &plain_words(piece))?)));
    let (body, snippet) = parts.max_by_key(|(_, part)| part.len())?;
    let snippet = snippet.to_owned();
    has_words(&snippet).then_some(PromptPassage { hit: SearchHit { snippet, ..hit }, body })
}

/// Returns the end of a snippet that is in a text, or else the beginning.
fn shared<'s>(snippet: &'s str, text: &str) -> Option<&'s str> {
    let is_in = |part: &&str| !part.trim_matches('…').is_empty() && text.contains(part.trim_matches('…'));
    let cuts = || snippet.match_indices(' ').map(|(at, _)| at);
    let ends = std::iter::once(snippet).chain(cuts().filter_map(|at| snippet.get(at + 1..)));
    let beginnings = cuts().rev().filter_map(|at| snippet.get(..at));
    ends.chain(beginnings).find(is_in)
}

/// Returns a text in the form of snippets: on one line, with one space between words.
fn plain_words(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words that say nothing about the subject of a prompt.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EverydayWords {
    words: BTreeSet<Box<str>>,
    pieces: Vec<Box<str>>,
}

static EVERYDAY: LazyLock<Option<EverydayWords>> =
    LazyLock::new(|| ::toml::from_str(include_str!("everyday.toml")).ok());

/// Returns the words of a prompt that say something. `None` for a command of the agent, such as `/compress`, and for a
/// prompt with fewer than [`WORDS_MIN`] of them; a piece of text in a script without blanks counts by its characters.
pub(crate) fn telling_words(prompt: &str) -> Option<String> {
    let everyday = EVERYDAY.as_ref()?;
    let prompt: String = typed(prompt).into_iter().map(|(_, piece)| piece.replace('’', "'") + "\n").collect();
    if prompt.trim_start().starts_with('/') {
        return None;
    }
    let outside = |c: char| !c.is_alphanumeric() && !"'_-./:".contains(c);
    let is_telling = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        !bare.is_empty() && !everyday.words.contains(&*bare)
    };
    let words: Vec<String> = prompt
        .split(outside)
        .map(|word| word.trim_matches(['\'', '-', '.', '/', ':']))
        .filter(is_telling)
        .take(WORDS_MAX)
        .map(|word| everyday.pieces.iter().fold(word.to_owned(), |word, piece| word.replace(&**piece, " ")))
        .filter(|word| !word.trim().is_empty())
        .collect();
    // Two characters of a script without blanks are about a word.
    let wide = words.iter().flat_map(|word| word.chars()).filter(|c| !c.is_ascii()).count();
    (words.len().max(wide / 2) >= WORDS_MIN).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::telling_words;

    #[test]
    fn words_that_say_nothing_are_left_out() {
        for (prompt, words) in [
            ("Could you please fix the hinge of the gate?", Some("hinge gate")),
            ("Yes, please go ahead!", None),
            ("/undo the migration of tables", None),
            ("continue", None),
            ("why does parse_config fail in src/a.rs:12", Some("parse_config fail src/a.rs:12")),
            ("I don’t know what it’s for", None),
            ("数据库为什么连接失败", Some("数据库 连接失败")),
            ("好的", None),
            ("<system-reminder>gate hinge</system-reminder>hi", None),
        ] {
            assert_eq!(telling_words(prompt).as_deref(), words, "{prompt}");
        }
    }
}
