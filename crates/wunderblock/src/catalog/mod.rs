//! What is known of models: windows, output limits, vocabularies, request sizes, caches, prices.
//!
//! The rows are data (`catalog.toml`) with their sources. They are the third choice only: what the caller declares and
//! what a provider reported both go before. A model that no row names gets [`Catalog::lookup`]'s conservative default,
//! and is said to be unknown.

mod parse;
mod price;

pub use price::{BilledTokens, Long, MicroDollars, Price, Rates};

use crate::policy::nearest::nearest;
use crate::tokens::{Counter, Family, TokenModel, Vocabulary};
use parse::parse;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Bytes, Millis, Tokens};

const EMBEDDED: &str = include_str!("../catalog.toml");

/// How a provider caches the beginning of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// Up to marks in the request.
    Explicit,
    /// By itself, as far as requests begin alike.
    Automatic,
    /// Not at all, or nothing is known of it.
    None,
}

/// What a provider's cache keeps, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRule {
    /// Who says what is cached.
    pub mode: CacheMode,
    /// The shortest beginning that is cached; a shorter one is not, and nobody says so.
    pub minimum: Tokens,
    /// Beyond the minimum, cached are multiples of this.
    pub step: Tokens,
    /// How long after its last use a beginning is still there.
    pub lifetime: Millis,
    /// The same for a beginning that was asked to be kept longer, where that can be asked.
    pub long_lifetime: Option<Millis>,
    /// How long a lane is idle before this cache is taken for lost: what is not paid for may live longer than is published.
    pub lost_after: Millis,
}

impl CacheRule {
    /// No cache.
    pub const NONE: Self = Self {
        mode: CacheMode::None,
        minimum: Tokens::ZERO,
        step: Tokens(1),
        lifetime: Millis::ZERO,
        long_lifetime: None,
        lost_after: Millis(300_000),
    };
}

/// What is known of one model or of models whose names begin alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRow {
    /// The name, in lower case; a `*` at the end stands for any ending.
    pub name: Box<str>,
    /// Whose factors scale its counts.
    pub family: Family,
    /// Its vocabulary, if that is part of the program.
    pub vocabulary: Option<Vocabulary>,
    /// Tokens of request and answer together.
    pub window: Tokens,
    /// The most tokens of a request, where that is less than the window allows.
    pub max_input: Option<Tokens>,
    /// The most tokens of an answer.
    pub max_output: Tokens,
    /// The format its provider takes.
    pub dialect: Dialect,
    /// The largest encoded request its provider takes.
    pub max_bytes: Bytes,
    /// Its provider's cache.
    pub cache: CacheRule,
    /// What its tokens cost, by day. Empty: not known.
    pub prices: Vec<Price>,
}

impl ModelRow {
    /// The price at a time: the newest that is not later, or the first if all are. None: not known, which is not free.
    #[must_use]
    pub fn price_at(&self, at: Millis) -> Option<&Price> {
        self.prices.iter().rev().find(|price| price.since <= at).or_else(|| self.prices.first())
    }

    /// The counter for its texts.
    #[must_use]
    pub const fn counter(&self) -> Counter {
        Counter::new(TokenModel { family: self.family, vocabulary: self.vocabulary })
    }
}

/// A row, and whether it is really the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogMatch<'c> {
    /// The row that applies.
    pub row: &'c ModelRow,
    /// False for the default row: the catalog does not know the model.
    pub known: bool,
}

/// What is wrong with a catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Not TOML, a field that does not exist, or a value that does not fit one.
    #[error("the model catalog cannot be read: {0}")]
    Form(#[from] toml::de::Error),
    /// A row that cannot be right.
    #[error("model `{name}` in line {line} of the catalog: {what}")]
    Row {
        /// The row's name.
        name: String,
        /// Where it stands, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

/// All rows. Small: a lookup looks at each. Clones share them, and the embedded ones are read at the first lookup, since
/// many a command looks nothing up.
#[derive(Clone, Debug, Default)]
pub struct Catalog(Arc<OnceLock<Rows>>);

#[derive(Clone, Debug)]
struct Rows {
    entries: Vec<CatalogEntry>,
    default: ModelRow,
}

#[derive(Clone, Debug)]
struct CatalogEntry {
    row: ModelRow,
    /// The row without its prices, for names that only begin like it.
    alike: ModelRow,
}

impl From<ModelRow> for CatalogEntry {
    fn from(row: ModelRow) -> Self {
        Self { alike: ModelRow { prices: Vec::new(), ..row.clone() }, row }
    }
}

impl Rows {
    fn embedded() -> Self {
        // That the embedded text parses is what a test is for; a program is not stopped by its catalog.
        let rows = parse(EMBEDDED).unwrap_or_default();
        Self { entries: rows.into_iter().map(CatalogEntry::from).collect(), default: default_row() }
    }

    fn best(&self, name: &str) -> Option<&ModelRow> {
        let matching = self.entries.iter().filter(|entry| matches(&entry.row.name, name));
        let CatalogEntry { row, alike } = matching.max_by_key(|entry| rank(&entry.row.name))?;
        let rest = row.name.strip_suffix('*').and_then(|beginning| name.strip_prefix(beginning));
        Some(if rest.is_none_or(is_version) { row } else { alike })
    }
}

impl Catalog {
    /// The rows that are part of the program.
    #[must_use]
    pub fn embedded() -> Self {
        Self::default()
    }

    fn all(&self) -> &Rows {
        self.0.get_or_init(Rows::embedded)
    }

    /// These rows and the caller's, which win over rows of the same name and over shorter names.
    ///
    /// # Errors
    /// [`CatalogError`] if the text is not a catalog in the form of `catalog.toml`.
    pub fn with_overrides(self, toml_text: &str) -> Result<Self, CatalogError> {
        let mut rows = self.all().clone();
        for row in parse(toml_text)? {
            rows.entries.retain(|old| old.row.name != row.name);
            rows.entries.push(row.into());
        }
        Ok(Self(Arc::new(rows.into())))
    }

    /// The row of a model: an exact name first, then the longest beginning.
    ///
    /// Names are compared in lower case. A router's prefix (`anthropic/…`, `models/…`) and Bedrock's
    /// (`us.anthropic.…`) are dropped if the whole name is not known. For an unknown model: o200k scaled by the factors
    /// of an unknown family and a window of 128,000 tokens, which hosted models of the last two years have at least,
    /// so that a request still fits and loses as little as can be had without knowing.
    ///
    /// A row whose name ends in `*` gives its prices to the name itself and to its versions (`-20250929`,
    /// `-2025-08-07`, `-preview`, `-v1:0`) only. A sibling of another name may cost anything: it has no known price.
    #[must_use]
    pub fn lookup(&self, model: &str) -> CatalogMatch<'_> {
        let whole = model.trim().to_ascii_lowercase();
        let bare = whole.rsplit('/').next().unwrap_or_default();
        let vendorless = bare.split_once("anthropic.").map_or(bare, |(_, name)| name);
        let row = [whole.as_str(), bare, vendorless].into_iter().find_map(|name| self.all().best(name));
        row.map_or(CatalogMatch { row: &self.all().default, known: false }, |row| CatalogMatch {
            row,
            known: true,
        })
    }

    /// The model of the catalog whose name is nearest to an unknown one, if a slip explains the difference.
    #[must_use]
    pub fn nearest(&self, model: &str) -> Option<&str> {
        nearest(model, self.rows().map(|row| row.name.trim_end_matches('*').trim_end_matches('-')))
    }

    /// All rows, the default excepted.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &ModelRow> {
        self.all().entries.iter().map(|entry| &entry.row)
    }
}

/// Exact names before beginnings, longer before shorter.
fn rank(pattern: &str) -> (bool, usize) {
    (!pattern.ends_with('*'), pattern.len())
}

/// A beginning does not end inside a number: `claude-opus-4-1*` is not `claude-opus-4-10`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some(beginning) = pattern.strip_suffix('*') else { return pattern == name };
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    name.strip_prefix(beginning)
        .is_some_and(|rest| !(digit(beginning.as_bytes().last()) && digit(rest.as_bytes().first())))
}

/// Whether what follows a model's name says which version of it is meant, and no other model.
///
/// Versions are dates (a first number of four digits or more), Bedrock's `v1:0`, and the words below. `[1m]` is how
/// Claude Code asks for a window.
fn is_version(rest: &str) -> bool {
    const WORDS: [&str; 5] = ["latest", "preview", "exp", "beta", "001"];
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    if rest.is_empty() {
        return true;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut pieces = rest.split(['-', '@', ':']);
    let begins = pieces.next() == Some("");
    let mut first = true;
    begins
        && pieces.all(|piece| {
            let long_enough = !std::mem::take(&mut first) || piece.len() >= 4;
            let numbered = piece.strip_prefix('v').is_some_and(digits);
            WORDS.contains(&piece) || numbered || (digits(piece) && long_enough)
        })
}

fn default_row() -> ModelRow {
    ModelRow {
        name: "*".into(),
        family: Family::Unknown,
        vocabulary: None,
        window: Tokens(128_000),
        max_input: None,
        max_output: Tokens(4096),
        dialect: Dialect::OpenaiChat,
        max_bytes: Bytes(20_000_000),
        cache: CacheRule::NONE,
        prices: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
