//! Catalog of models: windows, output limits, vocabularies, request sizes, caches, prices.
//!
//! The rows are data (`catalog.toml`) with their sources. Values that the caller declares or that a provider reported
//! take precedence over these rows. A model without a row gets the conservative default of [`Catalog::lookup`] and is
//! reported as unknown.

mod parse;
mod price;

pub use price::{BilledTokens, Long, MicroDollars, Price, Rates};

use crate::rules::tokens::{Counter, Family, TokenModel, Vocabulary};
use parse::parse;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};
use wunderblock_core::message::Dialect;
use wunderblock_core::nearest::nearest;
use wunderblock_core::units::{Bytes, Millis, Tokens};

const EMBEDDED: &str = include_str!("../catalog.toml");

/// How a provider decides which prefix of a request it caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// Up to the marks in the request.
    Explicit,
    /// Automatically, as far as requests begin with the same bytes.
    Automatic,
    /// Not at all, or in an unknown way.
    None,
}

/// Rules of a provider's cache: what it keeps, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRule {
    /// Who decides what is cached.
    pub mode: CacheMode,
    /// Minimum size of a cached prefix. A shorter prefix is not cached, and the provider does not report that.
    pub minimum: Tokens,
    /// Granularity in tokens. Beyond the minimum, the length of a cached prefix is a multiple of this number.
    pub step: Tokens,
    /// Time, in milliseconds, for which a prefix stays cached after its last use.
    pub lifetime: Millis,
    /// Lifetime of a prefix for which longer caching is requested, if the provider offers that.
    pub long_lifetime: Option<Millis>,
    /// Idle time of a lane after which its cache counts as lost. A cache without storage fees may live longer than
    /// published.
    pub lost_after: Millis,
}

impl CacheRule {
    /// Rule of a provider without a cache.
    pub const NONE: Self = Self {
        mode: CacheMode::None,
        minimum: Tokens::ZERO,
        step: Tokens(1),
        lifetime: Millis::ZERO,
        long_lifetime: None,
        lost_after: Millis(300_000),
    };
}

/// Data of one model, or of all models whose names have one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRow {
    /// Name in lower case. A `*` at the end matches any ending.
    pub name: Box<str>,
    /// Family of models whose factors scale the counts.
    pub family: Family,
    /// Vocabulary of the model, if it is embedded in the program.
    pub vocabulary: Option<Vocabulary>,
    /// Window: maximum number of tokens in request and answer together.
    pub window: Tokens,
    /// Maximum number of tokens in a request, if that is less than the window allows.
    pub max_input: Option<Tokens>,
    /// Maximum number of tokens in an answer.
    pub max_output: Tokens,
    /// Dialect that the provider accepts.
    pub dialect: Dialect,
    /// Maximum size of an encoded request.
    pub max_bytes: Bytes,
    /// Cache of the provider.
    pub cache: CacheRule,
    /// Prices by day, ascending. Empty if the prices are unknown.
    pub prices: Vec<Price>,
}

impl ModelRow {
    /// Returns the latest price in effect at a time, or the first price if all take effect later. `None` means
    /// unknown, not free.
    #[must_use]
    pub fn price_at(&self, at: Millis) -> Option<&Price> {
        self.prices.iter().rev().find(|price| price.since <= at).or_else(|| self.prices.first())
    }

    /// Returns the counter for the model's texts.
    #[must_use]
    pub const fn counter(&self) -> Counter {
        Counter::new(TokenModel { family: self.family, vocabulary: self.vocabulary })
    }
}

/// A row found for a model, and whether it belongs to that model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogMatch<'c> {
    /// Row that applies.
    pub row: &'c ModelRow,
    /// Whether the catalog knows the model. False for the default row.
    pub known: bool,
}

/// Error in a catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The text is not TOML, has an unknown field, or has a value that does not fit its field.
    #[error("invalid model catalog: {0}")]
    Form(#[from] toml::de::Error),
    /// A row has an invalid value.
    #[error("invalid model `{name}` in line {line} of the catalog: {what}")]
    Row {
        /// Name of the row.
        name: String,
        /// Line of the row, counted from 1.
        line: usize,
        /// Description of the error.
        what: String,
    },
}

/// All rows of a catalog. There are few rows, so a lookup scans all of them. Clones share the rows. The embedded rows
/// are parsed at the first lookup, because many commands look up no model.
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
    /// The row without its prices, for names that only share its prefix.
    alike: ModelRow,
}

impl From<ModelRow> for CatalogEntry {
    fn from(row: ModelRow) -> Self {
        Self { alike: ModelRow { prices: Vec::new(), ..row.clone() }, row }
    }
}

impl Rows {
    fn embedded() -> Self {
        // A test ensures that the embedded text parses. The catalog must not stop a program, so an error gives an
        // empty catalog.
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
    /// Returns the rows that are embedded in the program.
    #[must_use]
    pub fn embedded() -> Self {
        Self::default()
    }

    fn all(&self) -> &Rows {
        self.0.get_or_init(Rows::embedded)
    }

    /// Adds the caller's rows. The added rows take precedence over rows of the same name and over rows with shorter
    /// names.
    ///
    /// # Errors
    /// Returns [`CatalogError`] if the text is not a catalog in the form of `catalog.toml`.
    pub fn with_overrides(self, toml_text: &str) -> Result<Self, CatalogError> {
        let mut rows = self.all().clone();
        for row in parse(toml_text)? {
            rows.entries.retain(|old| old.row.name != row.name);
            rows.entries.push(row.into());
        }
        Ok(Self(Arc::new(rows.into())))
    }

    /// Returns the row of a model. An exact name takes precedence, then the longest prefix.
    ///
    /// Names are compared in lower case. The prefixes of routers (`anthropic/…`, `models/…`) and of Bedrock
    /// (`us.anthropic.…`) are removed if the whole name is unknown. An unknown model gets o200k counts scaled by the
    /// factors of the unknown family, and a window of 128,000 tokens. Hosted models of the last two years have at
    /// least this window, so the request fits and loses as little as possible.
    ///
    /// A row whose name ends in `*` gives its prices only to the name itself and to its versions (`-20250929`,
    /// `-2025-08-07`, `-preview`, `-v1:0`). A model with another ending may have other prices, so its price is
    /// unknown.
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

    /// Returns the known model whose name is nearest to an unknown one, if a typing error explains the difference.
    #[must_use]
    pub fn nearest(&self, model: &str) -> Option<&str> {
        nearest(model, self.rows().map(|row| row.name.trim_end_matches('*').trim_end_matches('-')))
    }

    /// Returns all rows except the default row.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &ModelRow> {
        self.all().entries.iter().map(|entry| &entry.row)
    }
}

/// Returns the order of patterns: exact names before prefixes, longer patterns before shorter ones.
fn rank(pattern: &str) -> (bool, usize) {
    (!pattern.ends_with('*'), pattern.len())
}

/// Returns whether a name matches a pattern. A prefix must not end inside a number: `claude-opus-4-1*` does not match
/// `claude-opus-4-10`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some(beginning) = pattern.strip_suffix('*') else { return pattern == name };
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    name.strip_prefix(beginning)
        .is_some_and(|rest| !(digit(beginning.as_bytes().last()) && digit(rest.as_bytes().first())))
}

/// Returns whether the text after a model's name only identifies a version of it, not another model.
///
/// Versions are dates (the first number has at least four digits), Bedrock's `v1:0`, and the words below. Claude Code
/// appends `[1m]` to request a window.
fn is_version(rest: &str) -> bool {
    const WORDS: [&str; 5] = ["latest", "preview", "exp", "beta", "001"];
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    if rest.is_empty() {
        return true;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut pieces = rest.split(['-', '@', ':']);
    // A version begins with a separator. A first number of fewer digits is part of a model's name: `-4-7`.
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
