//! Parses a query: a line of words and operators becomes terms.
//!
//! ```text
//! connection refused      words: ranked, a document with all of them first; newest first, all of them are required
//! +timeout                must be there
//! -debug                  must not be there
//! "connection refused"    these words next to each other in this order; +, - as above (always required)
//! ```
//! `--no-verify` is a word, because an operator is a single sign before a letter, a digit or a quote. A word *needs*
//! the terms of its pieces, so `parse_config` also finds `my_parse_config`; the whole term `parseconfig` only adds to
//! the score. An excluded word also needs the whole term, so that `-parse_config` does not exclude texts that merely
//! contain both pieces.

use crate::searching::asked::{AskedTerms, WordForm};
use crate::searching::term::Term;
use crate::storing::header::Header;
use crate::words::{Lexeme, cut};
use memchr::memmem;
use std::collections::{BTreeSet, HashSet};

/// Maximum number of distinct terms in a query. Use [`crate::Question::from_text`] for longer texts. The overflow bounds
/// in [`crate::searching::score`] depend on this limit.
pub const MAX_QUERY_TERMS: usize = 256;

/// Maximum length of a query in bytes.
pub const MAX_QUERY_BYTES: usize = 4 << 10;
/// Maximum number of words in a query, those of its phrases included, whether or not they are different.
pub const MAX_QUERY_WORDS: usize = 512;

/// Reason why a query cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query does not contain a letter or a digit.
    #[error(
        "`{query}` has nothing to search for: the index holds words; give at least one letter or digit, or use grep"
    )]
    Nothing {
        /// Text of the query.
        query: String,
    },
    /// An operator or a pair of quotes contains nothing searchable.
    #[error(
        "`{clause}` has nothing to search for: the index holds words, not punctuation; use grep to find punctuation"
    )]
    EmptyClause {
        /// Affected part of the query.
        clause: String,
    },
    /// The query has only excluded words.
    #[error("the query has only excluded words; add a word to search for")]
    OnlyExcluded,
    /// A quote is not closed.
    #[error("unclosed quote at `{from}`; close the quote or remove it")]
    Unclosed {
        /// Beginning of the unclosed quote.
        from: String,
    },
    /// The query has more than [`MAX_QUERY_BYTES`] bytes.
    #[error("the query has {bytes} bytes; at most {MAX_QUERY_BYTES} can be searched for at once")]
    TooManyBytes {
        /// Length of the query in bytes.
        bytes: usize,
    },
    /// The query has more than [`MAX_QUERY_WORDS`] words.
    #[error("the query has {words} words; at most {MAX_QUERY_WORDS} can be searched for at once")]
    TooManyWords {
        /// Number of words, those of phrases included.
        words: usize,
    },
    /// The query has more than [`MAX_QUERY_TERMS`] terms.
    #[error("the query has {terms} different terms; at most {MAX_QUERY_TERMS} can be searched for at once")]
    TooLong {
        /// Number of distinct terms in the query.
        terms: usize,
    },
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedQuery {
    /// Distinct terms, sorted so that neighbouring terms are found in one block.
    pub(crate) terms: Vec<Term>,
    pub(crate) clauses: Vec<Clause>,
}

/// Effect of a clause on the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClauseRule {
    Optional,
    Must,
    MustNot,
}

/// A word or a phrase of a query. Terms are indices into [`ParsedQuery::terms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) text: Box<str>,
    pub(crate) need: ClauseRule,
    /// Terms that a document must contain to satisfy the clause.
    pub(crate) needs: Vec<usize>,
    /// Terms that add to the score; empty for an excluded clause.
    pub(crate) scored: Vec<usize>,
    pub(crate) phrase: Option<Phrase>,
}

/// A sequence of neighbouring words. The index has no positions, so callers check the text with [`Phrase::is_in`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Words, and single characters of scripts without spaces, with a zero before, between and after them.
    words: Vec<u8>,
}

impl Phrase {
    fn new(text: &str) -> Self {
        Self { words: sequence(text) }
    }

    /// Returns whether a text contains the phrase: the same words in the same order, with nothing but punctuation
    /// between them. Case and punctuation are ignored, but endings are not.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        memmem::find(&sequence(text), &self.words).is_some()
    }
}

/// Returns the words of a text, and single characters of scripts without spaces, with a zero before, between and after
/// them: no word has one.
fn sequence(text: &str) -> Vec<u8> {
    let mut words = vec![0];
    let mut add = |word: &[u8]| {
        words.extend_from_slice(word);
        words.push(0);
    };
    cut(text, |part| match part {
        Lexeme::Piece(word) => add(word),
        Lexeme::Whole(_) => {}
        Lexeme::Run(run) => run.split_inclusive(|_| true).for_each(|c| add(c.as_bytes())),
    });
    words
}

impl ParsedQuery {
    /// Parses a line of words and operators.
    ///
    /// # Errors
    /// Fails if the query contains nothing to look for, or exceeds [`MAX_QUERY_BYTES`], [`MAX_QUERY_WORDS`] or
    /// [`MAX_QUERY_TERMS`].
    pub fn parse(query: &str) -> Result<Self, QueryError> {
        Self::parse_as(query, WordForm::Written)
    }

    /// Parses a line of words and operators. Words without an operator are looked for in a form.
    pub(crate) fn parse_as(query: &str, form: WordForm) -> Result<Self, QueryError> {
        if query.len() > MAX_QUERY_BYTES {
            return Err(QueryError::TooManyBytes { bytes: query.len() });
        }
        let mut parsed = Vec::new();
        let mut rest = query.trim_start();
        while !rest.is_empty() {
            let (raw, tail) = split(rest)?;
            match RawClause::new(raw, form) {
                Some(clause) if !clause.needs.is_empty() => parsed.push(clause),
                Some(_) if raw.starts_with(['+', '-', '"']) && raw.contains('"') => {
                    return Err(QueryError::EmptyClause { clause: raw.to_owned() });
                }
                _ => {}
            }
            rest = tail.trim_start();
        }
        if parsed.is_empty() {
            return Err(QueryError::Nothing { query: query.to_owned() });
        }
        if parsed.iter().all(|clause| clause.need == ClauseRule::MustNot) {
            return Err(QueryError::OnlyExcluded);
        }
        let words = parsed.iter().map(RawClause::words).sum();
        if words > MAX_QUERY_WORDS {
            return Err(QueryError::TooManyWords { words });
        }
        let query = Self::of(parsed);
        let terms = query.terms.len();
        if terms > MAX_QUERY_TERMS { Err(QueryError::TooLong { terms }) } else { Ok(query) }
    }

    /// Uses a text as a query without operators, and looks for its words in a form. Every word is optional. Words that
    /// would exceed [`MAX_QUERY_TERMS`] terms or [`MAX_QUERY_WORDS`] words, and longer words than a query may have, are
    /// left out.
    ///
    /// # Errors
    /// Fails if the text does not contain a letter or a digit.
    pub(crate) fn from_text_as(text: &str, form: WordForm) -> Result<Self, QueryError> {
        let mut parsed = Vec::new();
        let (mut words, mut terms) = (HashSet::new(), HashSet::<Term>::new());
        for word in text.split_whitespace().filter(|word| words.insert(*word)) {
            if word.len() > MAX_QUERY_BYTES || parsed.len() >= MAX_QUERY_WORDS {
                continue;
            }
            let clause = RawClause::word(word, ClauseRule::Optional, form);
            let new: HashSet<Term> = clause.all().filter(|term| !terms.contains(*term)).cloned().collect();
            if terms.len() + new.len() <= MAX_QUERY_TERMS && !clause.needs.is_empty() {
                terms.extend(new);
                parsed.push(clause);
            }
        }
        if parsed.is_empty() {
            let query = text.chars().take(80).collect();
            return Err(QueryError::Nothing { query });
        }
        Ok(Self::of(parsed))
    }

    /// Returns the terms of several queries, without clauses, so that one scan counts them all: [`crate::Tail::of_query`].
    #[must_use]
    pub fn terms_of<'q>(queries: impl IntoIterator<Item = &'q Self>) -> Self {
        let mut terms: Vec<Term> = queries.into_iter().flat_map(|query| &query.terms).cloned().collect();
        terms.sort_unstable();
        terms.dedup();
        Self { terms, clauses: Vec::new() }
    }

    /// Returns the query's phrases, each with a flag: if true, a document must contain the phrase; otherwise, it must
    /// not.
    pub fn phrases(&self) -> impl Iterator<Item = (&Phrase, bool)> {
        self.clauses.iter().filter_map(|clause| {
            clause.phrase.as_ref().map(|phrase| (phrase, clause.need != ClauseRule::MustNot))
        })
    }

    /// Returns the blocks of a segment that a search for this query reads, in ascending order.
    #[must_use]
    pub fn blocks(&self, header: &Header) -> Vec<u32> {
        let mut blocks = BTreeSet::new();
        for term in &self.terms {
            let bytes = &term.bytes;
            let mut number = header.block_of(bytes).unwrap_or(0);
            while let Some(first) = header.first_terms.get(number as usize) {
                let inside = term.is_range() && first.starts_with(bytes);
                if **first > **bytes && !inside {
                    break;
                }
                blocks.insert(number);
                if !term.is_range() {
                    break;
                }
                number += 1;
            }
        }
        blocks.into_iter().collect()
    }

    fn of(parsed: Vec<RawClause>) -> Self {
        let mut terms: Vec<Term> = parsed.iter().flat_map(RawClause::all).cloned().collect();
        terms.sort_unstable();
        terms.dedup();
        let places = |list: &[Term]| {
            let mut places: Vec<usize> =
                list.iter().filter_map(|term| terms.binary_search(term).ok()).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let clauses = parsed
            .into_iter()
            .map(|raw| {
                let (needs, scored) = (places(&raw.needs), places(&raw.scored));
                Clause { text: raw.text, need: raw.need, needs, scored, phrase: raw.phrase }
            })
            .collect();
        Self { terms, clauses }
    }

    /// Returns the terms that `pick` selects from all clauses, without duplicates.
    pub(crate) fn gather(&self, pick: impl Fn(&Clause) -> &[usize]) -> Vec<usize> {
        let mut terms: Vec<usize> = self.clauses.iter().flat_map(pick).copied().collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

/// Splits off the first clause.
fn split(query: &str) -> Result<(&str, &str), QueryError> {
    let sign = usize::from(query.starts_with(['+', '-']));
    let end = match query.get(sign..).and_then(|body| body.strip_prefix('"')) {
        Some(body) => {
            let unclosed = || QueryError::Unclosed { from: query.chars().take(40).collect() };
            sign + body.find('"').ok_or_else(unclosed)? + 2
        }
        None => query.find(char::is_whitespace).unwrap_or(query.len()),
    };
    Ok(query.split_at_checked(end).unwrap_or((query, "")))
}

/// A clause with its terms, before they are numbered.
struct RawClause {
    text: Box<str>,
    need: ClauseRule,
    needs: Vec<Term>,
    scored: Vec<Term>,
    phrase: Option<Phrase>,
}

impl RawClause {
    /// Parses a clause. Returns `None` if the text is empty.
    fn new(raw: &str, form: WordForm) -> Option<Self> {
        let mut chars = raw.chars();
        let sign = chars.next()?;
        let operand = chars.as_str();
        let applies = operand.starts_with(|c: char| c == '"' || c == '_' || c.is_alphanumeric());
        let (need, body) = match sign {
            '+' if applies => (ClauseRule::Must, operand),
            '-' if applies => (ClauseRule::MustNot, operand),
            _ => (ClauseRule::Optional, raw),
        };
        let Some(quoted) = body.strip_prefix('"').and_then(|body| body.strip_suffix('"')) else {
            let form = if need == ClauseRule::Optional { form } else { WordForm::Written };
            return Some(Self::word(body, need, form));
        };
        let need = if need == ClauseRule::MustNot { ClauseRule::MustNot } else { ClauseRule::Must };
        let AskedTerms { pieces, wholes } = AskedTerms::of(quoted, WordForm::Written);
        let scored =
            if need == ClauseRule::MustNot { Vec::new() } else { [pieces.as_slice(), &wholes].concat() };
        // Phrases are checked in the text. A phrase may begin inside an identifier, so whole terms are not required.
        Some(Self { text: quoted.into(), need, needs: pieces, scored, phrase: Some(Phrase::new(quoted)) })
    }

    fn word(text: &str, need: ClauseRule, form: WordForm) -> Self {
        let AskedTerms { pieces, wholes } = AskedTerms::of(text, form);
        // A question is typed with punctuation, which no text has around the word.
        let text =
            if form == WordForm::Stem { text.trim_matches(|c: char| !c.is_alphanumeric()) } else { text };
        let all = [pieces.as_slice(), &wholes].concat();
        let (needs, scored) = if need == ClauseRule::MustNot { (all, Vec::new()) } else { (pieces, all) };
        Self { text: text.into(), need, needs, scored, phrase: None }
    }

    /// Returns the number of words of the clause, those of its phrase included.
    fn words(&self) -> usize {
        self.phrase.as_ref().map_or(1, |phrase| phrase.words.iter().filter(|byte| **byte == 0).count() - 1)
    }

    fn all(&self) -> impl Iterator<Item = &Term> {
        self.needs.iter().chain(&self.scored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(query: &str) -> String {
        let query = match ParsedQuery::parse(query) {
            Ok(query) => query,
            Err(error) => return error.to_string(),
        };
        let names = |places: &[usize]| {
            let name = |at: &usize| query.terms[*at].shown();
            places.iter().map(name).collect::<Vec<_>>().join(",")
        };
        let clause = |clause: &Clause| {
            let phrase = if clause.phrase.is_some() { " phrase" } else { "" };
            format!("{:?}{phrase} {} | {}", clause.need, names(&clause.needs), names(&clause.scored))
        };
        query.clauses.iter().map(clause).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn words_operators_and_phrases() {
        for (query, expected) in [
            ("Connection errors", "Optional connection | connection; Optional error | error"),
            ("+timeout -debug x", "Must timeout | timeout; MustNot debug | ; Optional x | x"),
            ("parseConfig", "Optional config,parse | config,parse,parseconfig"),
            ("a -parse_config", "Optional a | a; MustNot config,parse,parseconfig | "),
            ("--no-verify - + -", "Optional no,verify | no,verify"),
            ("\"read errors\"", "Must phrase error,read | error,read"),
            ("x -\"a b\"", "Optional x | x; MustNot phrase a,b | "),
            ("中", "Optional 中* | 中*"),
            ("中文字 +文", "Optional 中文,文字 | 中文,文字; Must 文* | 文*"),
            ("src/a.rs:12", "Optional 12,a,rs,src | 12,a,rs,src"),
        ] {
            assert_eq!(show(query), expected, "{query}");
        }
    }

    #[test]
    fn what_cannot_be_searched_is_an_error_that_says_why() {
        for (query, expected) in [
            (
                "",
                "`` has nothing to search for: the index holds words; give at least one letter or digit, or use grep",
            ),
            (
                "=> {}",
                "`=> {}` has nothing to search for: the index holds words; give at least one letter or digit, or use grep",
            ),
            (
                "a \"->\"",
                "`\"->\"` has nothing to search for: the index holds words, not punctuation; use grep to find punctuation",
            ),
            ("-debug", "the query has only excluded words; add a word to search for"),
            ("a \"b c", "unclosed quote at `\"b c`; close the quote or remove it"),
        ] {
            assert_eq!(show(query), expected, "{query}");
        }
        let many = (0..300).map(|n| format!("w{n} ")).collect::<String>();
        assert_eq!(ParsedQuery::parse(&many), Err(QueryError::TooLong { terms: 300 }));
        let text = ParsedQuery::from_text_as(&many, WordForm::Written).unwrap();
        assert_eq!(text.terms.len(), MAX_QUERY_TERMS);
    }

    #[test]
    fn a_phrase_is_the_same_words_in_the_same_order() {
        for (phrase, text, found) in [
            ("read error", "a Read-Error: 5", true),
            ("read error", "read the error", false),
            ("read error", "read errors", false),
            ("parse config", "let x = my_parseConfig();", true),
            ("文字", "中文字符", true),
            ("文符", "中文字符", false),
            ("文 abc", "中文 abc", true),
            ("a b a c", "a b a b a c", true),
            ("a a b", "a a a a b", true),
            ("x y", "", false),
        ] {
            assert_eq!(Phrase::new(phrase).is_in(text), found, "{phrase} in {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn phrases_are_found_as_by_trying_every_place(phrase in "[ab]( [ab]){0,4}", text in "([ab] ){0,20}") {
            let padded = format!(" {text}");
            assert_eq!(Phrase::new(&phrase).is_in(&text), padded.contains(&format!(" {phrase} ")));
        }

        #[test]
        fn no_query_breaks_the_parser(query in "[-+\"a-c 字\\PC]{0,30}") {
            let _ = ParsedQuery::parse(&query);
            let _ = ParsedQuery::from_text_as(&query, WordForm::Stem);
        }
    }
}
