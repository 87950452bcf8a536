//! Passages of a project's past sessions that bear on a prompt.
//!
//! The words of the prompt that say something are searched for, and only passages above a floor are handed back. The
//! floor was measured: at most one prompt in twenty that has nothing to do with the past gets a passage
//! (`docs/design/0016-your-own-agent.md`, "Recall on a prompt").

use super::size::{beginning, size};
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::recall::search::{HitStrength, SearchHit, SearchIn, SearchOptions};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use wunderblock_core::author::typed;
use wunderblock_core::event::Fact;
use wunderblock_core::fence::{self, plain_line};
use wunderblock_core::id::StreamId;
use wunderblock_core::message::{Part, Role};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::Bytes;
use wunderblock_redact::PushedText;
use wunderblock_store::Reach;

/// Maximum size of recalled passages, in bytes, with their fence. They have at most a third as many tokens.
pub const RECALL_BYTES: usize = 1_200;
/// Minimum strength of a passage.
pub const RECALL_FLOOR: HitStrength = HitStrength { covered: 400, rarity: 1_200 };
/// Minimum number of words of a prompt that say something. One word alone is too often a command or an answer.
const WORDS_MIN: usize = 2;
/// Maximum number of words that are searched for, the first ones: a search reads a list of messages for each.
const WORDS_MAX: usize = 64;
/// Maximum number of passages, each from another session.
const PASSAGES: usize = 3;
/// Number of hits among which passages are chosen: results of tools are passed over.
const HITS: usize = 24;
/// Maximum number of bytes of the message of a hit that are read.
const MESSAGE_BYTES: Bytes = Bytes(1 << 20);
/// Maximum size of a passage, in bytes.
const PASSAGE_BYTES: usize = 400;
/// Label of the fence.
const LABEL: &str = "passages of past sessions that share rare words with the prompt, from the ledger";

/// Returns passages of past sessions in reach that bear on a prompt, as data in a fence, each with its
/// age and with the address that shows it whole. `None` unless they pass [`RECALL_FLOOR`].
///
/// Nothing is recalled while more waits for the index than a search scans quickly: a prompt does not wait.
///
/// Only what users typed and what models said is recalled, never output of tools. Nothing comes from the session
/// `except`, from its sub-agents, or from the sessions that it continues. `guide` follows the fence and tells the agent
/// how to read an address.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn recall<'a>(
    engine: &'a Engine,
    reach: &'a Reach,
    except: Option<&'a StreamId>,
    prompt: &'a str,
    guide: &'a str,
) -> BoxFuture<'a, Option<PushedText>> {
    Box::pin(async move {
        let engine = engine.reaching(reach.clone());
        let (except, within) = (except.cloned(), SearchIn::Sessions);
        let options = SearchOptions { except, within, ..SearchOptions::default() };
        let hits = recall_hits(&engine, prompt, options, RECALL_FLOOR).await?;
        Ok(write(&engine, &hits, guide).map(|text| engine.config.redactor.push(&text)))
    })
}

/// Returns the hits for a prompt that may be recalled, best first, from a minimum strength on. `options` selects the
/// sessions. Returns no hits for a prompt with too few words that say something.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn recall_hits<'a>(
    engine: &'a Engine,
    prompt: &'a str,
    options: SearchOptions,
    floor: HitStrength,
) -> BoxFuture<'a, Vec<SearchHit>> {
    Box::pin(async move {
        let Some(words) = telling_words(prompt) else { return Ok(Vec::new()) };
        let options = SearchOptions { limit: HITS, free_text: true, brief: true, ..options };
        let found = match engine.recall().search(&words, &options).await {
            // The index holds no word of the prompt.
            Err(Error::Query(_)) => return Ok(Vec::new()),
            found => found?,
        };
        let mut hits = found.hits;
        hits.retain(|hit| hit.strength.covered >= floor.covered && hit.strength.rarity >= floor.rarity);
        let mut passages = Vec::new();
        for hit in hits {
            if let Some(snippet) = passage(engine, &hit).await? {
                passages.push(SearchHit { snippet, ..hit });
            }
        }
        Ok(passages)
    })
}

/// Returns the part of a hit's text that a user typed or a model said. `None` without one. Anything that a hook or a
/// harness inserted is left out, so that nothing that was recalled is recalled again; and so are calls of tools.
async fn passage(engine: &Engine, hit: &SearchHit) -> Result<Option<String>, Error> {
    if !matches!(hit.role, Role::User | Role::Assistant) || hit.snippet.contains(['⟨', '⟩']) {
        return Ok(None);
    }
    let session = engine.session_by_id(hit.session.clone());
    let events = session.events(hit.seq, hit.seq, 1, MESSAGE_BYTES).await?;
    let bodies = engine.bodies(&events).await?;
    let Some(Fact::MessageAppended(said)) = events.first().and_then(|event| event.fact.as_ref()) else {
        return Ok(None);
    };
    let is_user = hit.role == Role::User;
    if is_user && !said.message.is_persons() {
        return Ok(None);
    }
    let texts = said.message.parts.iter().enumerate().filter_map(|(index, part)| match part {
        Part::Text { text, .. } => Some((index, bodies.of(text)?)),
        _ => None,
    });
    let mut pieces = texts.flat_map(|(index, text)| said.message.own_pieces(index, text));
    Ok(pieces.find_map(|(_, piece)| Some(shared(&hit.snippet, &plain_words(piece))?.to_owned())).filter(
        |text| {
            let text = text.to_lowercase();
            hit.matched.is_empty() || hit.matched.iter().any(|word| text.contains(&word.to_lowercase()))
        },
    ))
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
fn telling_words(prompt: &str) -> Option<String> {
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

/// Returns the passages that fit, one of each session. `None` without passages.
fn write(engine: &Engine, hits: &[SearchHit], guide: &str) -> Option<String> {
    let tail = format!("\n{guide}");
    let mut left = RECALL_BYTES.checked_sub(size(&fence::data(LABEL, "")) + size(&tail))?;
    let (mut text, mut sessions, mut said) = (String::new(), BTreeSet::new(), BTreeSet::new());
    for hit in hits {
        if sessions.len() == PASSAGES || sessions.contains(hit.session.root()) || said.contains(&hit.snippet)
        {
            continue;
        }
        let lead =
            format!("{} · {} · {}\n  ", hit.address(engine), hit.role.name(), hit.at.ago(engine.now()));
        let room = left.saturating_sub(size(&lead) + 1).min(PASSAGE_BYTES);
        let Some(passage) = beginning(&plain_line(&hit.snippet), room) else { break };
        let line = format!("{lead}{passage}\n");
        left = left.saturating_sub(size(&line));
        text.push_str(&line);
        sessions.insert(hit.session.root());
        said.insert(&hit.snippet);
    }
    let whole = fence::data(LABEL, &text) + &tail;
    (!text.is_empty() && size(&whole) <= RECALL_BYTES).then_some(whole)
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
