//! What is known of models: windows, output limits, vocabularies, request sizes.
//!
//! The rows are data (`catalog.toml`) with their sources. They are the third choice only: what the caller declares and
//! what a provider reported both go before. A model that no row names gets [`Catalog::lookup`]'s conservative default,
//! and is said to be unknown.

use crate::tokens::{Counter, Family, TokenModel, Vocabulary};
use serde::Deserialize;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Bytes, Tokens};

const EMBEDDED: &str = include_str!("catalog.toml");

/// What is known of one model or of models whose names begin alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
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
    /// shim
    pub cache: CacheRule,
}

impl Row {
    /// The counter for its texts.
    #[must_use]
    pub const fn counter(&self) -> Counter {
        Counter::new(TokenModel { family: self.family, vocabulary: self.vocabulary })
    }
}

/// A row, and whether it is really the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'c> {
    /// The row that applies.
    pub row: &'c Row,
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
    #[error("model `{name}` in the catalog: {what}")]
    Row {
        /// The row's name.
        name: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// All rows. Small: a lookup looks at each.
#[derive(Clone, Debug)]
pub struct Catalog {
    rows: Vec<Row>,
    default: Row,
}

impl Catalog {
    /// The rows that are part of the program.
    #[must_use]
    pub fn embedded() -> Self {
        // That the embedded text parses is what a test is for; a program is not stopped by its catalog.
        Self { rows: parse(EMBEDDED).unwrap_or_default(), default: default_row() }
    }

    /// These rows and the caller's, which win over rows of the same name and over shorter names.
    ///
    /// # Errors
    /// [`CatalogError`] if the text is not a catalog in the form of `catalog.toml`.
    pub fn with_overrides(mut self, toml_text: &str) -> Result<Self, CatalogError> {
        for row in parse(toml_text)? {
            self.rows.retain(|old| old.name != row.name);
            self.rows.push(row);
        }
        Ok(self)
    }

    /// The row of a model: an exact name first, then the longest beginning.
    ///
    /// Names are compared in lower case. A router's prefix (`anthropic/…`, `models/…`) and Bedrock's
    /// (`us.anthropic.…`) are dropped if the whole name is not known. For an unknown model: o200k scaled by the factors
    /// of an unknown family and a window of 128,000 tokens, which hosted models of the last two years have at least,
    /// so that a request still fits and loses as little as can be had without knowing.
    #[must_use]
    pub fn lookup(&self, model: &str) -> Found<'_> {
        let whole = model.trim().to_ascii_lowercase();
        let bare = whole.rsplit('/').next().unwrap_or_default();
        let vendorless = bare.split_once("anthropic.").map_or(bare, |(_, name)| name);
        let row = [whole.as_str(), bare, vendorless].into_iter().find_map(|name| self.best(name));
        row.map_or(Found { row: &self.default, known: false }, |row| Found { row, known: true })
    }

    /// All rows, the default excepted.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn best(&self, name: &str) -> Option<&Row> {
        self.rows.iter().filter(|row| matches(&row.name, name)).max_by_key(|row| rank(&row.name))
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

fn default_row() -> Row {
    Row {
        name: "*".into(),
        family: Family::Unknown,
        vocabulary: None,
        window: Tokens(128_000),
        max_input: None,
        max_output: Tokens(4096),
        dialect: Dialect::OpenaiChat,
        max_bytes: Bytes(20_000_000),
        cache: SHIM,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    family: Family,
    tokenizer: Tokenizer,
    dialect: WireDialect,
    max_bytes: u64,
    models: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    name: String,
    window: u64,
    max_output: u64,
    max_input: Option<u64>,
}

#[derive(Deserialize)]
enum Tokenizer {
    #[serde(rename = "o200k")]
    O200k,
    #[serde(rename = "cl100k")]
    Cl100k,
    #[serde(rename = "none")]
    None,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireDialect {
    Anthropic,
    OpenaiChat,
}

fn parse(text: &str) -> Result<Vec<Row>, CatalogError> {
    let file: File = toml::from_str(text)?;
    let mut rows = Vec::new();
    for group in file.group {
        let vocabulary = match group.tokenizer {
            Tokenizer::O200k => Some(Vocabulary::O200k),
            Tokenizer::Cl100k => Some(Vocabulary::Cl100k),
            Tokenizer::None => None,
        };
        let dialect = match group.dialect {
            WireDialect::Anthropic => Dialect::Anthropic,
            WireDialect::OpenaiChat => Dialect::OpenaiChat,
        };
        for model in group.models {
            check(&model, group.max_bytes)?;
            rows.push(Row {
                name: model.name.to_ascii_lowercase().into(),
                family: group.family,
                vocabulary,
                window: Tokens(model.window),
                max_input: model.max_input.map(Tokens),
                max_output: Tokens(model.max_output),
                dialect,
                max_bytes: Bytes(group.max_bytes),
                cache: SHIM,
            });
        }
    }
    Ok(rows)
}

fn check(model: &Model, max_bytes: u64) -> Result<(), CatalogError> {
    let stars = model.name.matches('*').count();
    let what = if model.name.is_empty() || (stars > 0 && (stars > 1 || !model.name.ends_with('*'))) {
        "a name is a model's name, or its beginning with one `*` at the end"
    } else if model.window == 0 || model.max_output == 0 || max_bytes == 0 || model.max_input == Some(0) {
        "window, max_input, max_output and max_bytes are above 0"
    } else if model.max_input.is_some_and(|input| input > model.window) {
        "max_input is within the window"
    } else {
        return Ok(());
    };
    Err(CatalogError::Row { name: model.name.clone(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_catalog_is_sound() {
        let rows = parse(EMBEDDED).unwrap();
        assert!(rows.len() >= 40);
        for (at, row) in rows.iter().enumerate() {
            assert!(row.max_output <= row.window, "{}", row.name);
            assert!(
                rows.iter().skip(at + 1).all(|other| other.name != row.name),
                "{} is there twice",
                row.name
            );
        }
    }

    #[test]
    fn the_longest_name_wins() {
        let catalog = Catalog::embedded();
        let table = [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5*", 200_000),
            ("claude-sonnet-4-20250514", "claude-sonnet-4*", 200_000),
            ("claude-opus-4-8", "claude-opus-4-8*", 1_000_000),
            ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", "claude-3-7*", 200_000),
            ("anthropic/claude-opus-5", "claude-opus-5*", 1_000_000),
            ("GPT-4o-mini", "gpt-4o*", 128_000),
            ("gpt-4", "gpt-4*", 8192),
            ("gpt-4-0613", "gpt-4*", 8192),
            ("gpt-4-turbo-2024-04-09", "gpt-4-turbo*", 128_000),
            ("gpt-5.1-codex", "gpt-5*", 400_000),
            ("gpt-5.6-sol", "gpt-5.6*", 1_050_000),
            ("openai/o3-mini", "o3*", 200_000),
            ("models/gemini-2.5-pro", "gemini-2.5*", 1_048_576),
            ("deepseek-ai/DeepSeek-V3", "deepseek-*", 131_072),
        ];
        for (model, name, window) in table {
            let found = catalog.lookup(model);
            assert!(found.known, "{model}");
            assert_eq!((&*found.row.name, found.row.window), (name, Tokens(window)), "{model}");
        }
    }

    #[test]
    fn unknown_models_get_the_default_and_are_called_unknown() {
        let catalog = Catalog::embedded();
        for model in ["", "my-model", "claude", "gpt", "*", "claude-opus-40", "text/"] {
            let found = catalog.lookup(model);
            assert!(!found.known, "{model} is {:?}", found.row.name);
            assert_eq!(found.row.window, Tokens(128_000));
            assert_eq!(found.row.family, Family::Unknown);
        }
    }

    #[test]
    fn overrides_win() {
        let text = r#"
            [[group]]
            family = "llama"
            tokenizer = "none"
            dialect = "openai-chat"
            max_bytes = 1000
            models = [
              { name = "gpt-4o*", window = 7, max_output = 3 },
              { name = "House-Model", window = 9, max_output = 3, max_input = 8 },
            ]
        "#;
        let catalog = Catalog::embedded().with_overrides(text).unwrap();
        assert_eq!(catalog.lookup("gpt-4o").row.window, Tokens(7));
        assert_eq!(catalog.lookup("house-model").row.max_input, Some(Tokens(8)));
        assert_eq!(catalog.lookup("gpt-4").row.window, Tokens(8192));
        assert_eq!(catalog.rows().len(), Catalog::embedded().rows().len() + 1);
    }

    #[test]
    fn wrong_catalogs_are_refused_with_the_reason() {
        let group = |models: &str| {
            format!(
                "[[group]]\nfamily = \"glm\"\ntokenizer = \"none\"\ndialect = \"anthropic\"\nmax_bytes = 1\nmodels = [{models}]"
            )
        };
        let table = [
            ("[[group]", "cannot be read"),
            ("groups = 1", "unknown field"),
            (&group("{ name = \"a*b\", window = 1, max_output = 1 }"), "one `*` at the end"),
            (&group("{ name = \"\", window = 1, max_output = 1 }"), "one `*` at the end"),
            (&group("{ name = \"a\", window = 0, max_output = 1 }"), "above 0"),
            (&group("{ name = \"a\", window = 1, max_output = 1, max_input = 2 }"), "within the window"),
            (&group("{ name = \"a\", window = -1, max_output = 1 }"), "cannot be read"),
            (&group("{ name = \"a\", window = 1, max_output = 1, price = 2 }"), "unknown field"),
        ];
        for (text, expect) in table {
            let error = Catalog::embedded().with_overrides(text).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
/// shim
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// e
    Explicit,
    /// a
    Automatic,
    /// n
    None,
}
/// shim
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRule {
    /// m
    pub mode: CacheMode,
    /// m
    pub minimum: Tokens,
    /// m
    pub step: Tokens,
    /// m
    pub lifetime: wunderblock_core::units::Millis,
}
/// shim
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicroDollars(pub u64);
impl std::fmt::Display for MicroDollars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "${}", self.0)
    }
}
/// shim
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// m
    pub input: Tokens,
    /// m
    pub cache_read: Tokens,
    /// m
    pub cache_write: Tokens,
    /// m
    pub output: Tokens,
}
/// shim
pub struct Price;
impl Price {
    /// shim
    pub fn cost(&self, _: Spent) -> MicroDollars {
        MicroDollars(0)
    }
}
impl Row {
    /// shim
    pub fn price_at(&self, _: wunderblock_core::units::Millis) -> Option<&Price> {
        None
    }
}

const SHIM: CacheRule = CacheRule {
    mode: CacheMode::Explicit,
    minimum: Tokens(1024),
    step: Tokens(1),
    lifetime: wunderblock_core::units::Millis(300_000),
};
