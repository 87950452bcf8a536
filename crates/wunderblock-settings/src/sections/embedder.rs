//! `[embedder]`: a model that embeds texts of chosen scopes, in place of the table in the program.

use super::{InvalidValue, Section};
use serde::Deserialize;
use wunderblock::embedder::EmbeddingApi;

/// Keys of `[embedder]`. Without a model, texts are embedded by the table, and nothing is sent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbedderKeys {
    /// API of the server.
    pub kind: Option<EmbedderKind>,
    /// Base URL of the API. If unset, the usual one of its kind.
    pub url: Option<String>,
    /// Name of the model, as the server knows it.
    pub model: Option<String>,
    /// Name of the environment variable with the key.
    pub key: Option<String>,
    /// Number of dimensions to ask for. If unset, that of the first answer.
    pub dimension: Option<usize>,
    /// Projects whose texts may be sent: names, or folders.
    pub projects: Vec<String>,
    /// Users whose texts may be sent.
    pub users: Vec<String>,
    /// Cosine from which a text may be found by its meaning alone.
    pub floor: f32,
    /// Maximum time of a call, in seconds.
    pub seconds: u32,
}

/// API of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// `POST /v1/embeddings`.
    Openai,
    /// `POST /api/embed`.
    Ollama,
}

impl From<EmbedderKind> for EmbeddingApi {
    fn from(kind: EmbedderKind) -> Self {
        match kind {
            EmbedderKind::Openai => Self::Openai,
            EmbedderKind::Ollama => Self::Ollama,
        }
    }
}

impl Default for EmbedderKeys {
    fn default() -> Self {
        let (projects, users) = (Vec::new(), Vec::new());
        let (kind, url, model, key, dimension) = (None, None, None, None, None);
        Self { kind, url, model, key, dimension, projects, users, floor: 0.5, seconds: 10 }
    }
}

impl Section for EmbedderKeys {
    const NAME: &'static str = "embedder";
    const MAX_KEYS: usize = 9;

    fn invalid(&self) -> Option<InvalidValue> {
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        let all = [
            (self.kind.is_none(), "kind", "`kind` is missing: expected \"openai\" or \"ollama\""),
            (is_empty(&self.model), "model", "`model` is missing"),
            (
                self.projects.is_empty() && self.users.is_empty(),
                "projects",
                "`projects` or `users` must say whose texts may be sent",
            ),
            (
                self.dimension.is_some_and(|own| !(1..=16_384).contains(&own)),
                "dimension",
                "`dimension` must be from 1 to 16384",
            ),
            (!(0.01..=0.99).contains(&self.floor), "floor", "`floor` must be from 0.01 to 0.99"),
            (!(1..=600).contains(&self.seconds), "seconds", "`seconds` must be from 1 to 600"),
        ];
        let first = all.into_iter().find(|(is_wrong, ..)| *is_wrong && *self != Self::default());
        first.map(|(_, key, why)| InvalidValue { key, why: why.to_owned() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets what it does not expect fails")]
mod tests {
    use super::*;

    #[test]
    fn a_section_names_a_model_and_whose_texts_it_gets() {
        let whole = "kind = \"ollama\"\nmodel = \"m\"\nprojects = [\"a\"]\n";
        let wrong =
            |text: &str| toml::from_str::<EmbedderKeys>(text).unwrap().invalid().map(|found| found.key);
        for good in ["", whole, "kind = \"openai\"\nmodel = \"m\"\nusers = [\"ann\"]\n"] {
            assert_eq!(wrong(good), None, "{good}");
        }
        for (text, key) in [
            ("url = \"http://localhost\"", "kind"),
            ("kind = \"ollama\"", "model"),
            ("kind = \"ollama\"\nmodel = \" \"", "model"),
            ("kind = \"ollama\"\nmodel = \"m\"", "projects"),
            (&format!("{whole}dimension = 0"), "dimension"),
            (&format!("{whole}floor = 1.0"), "floor"),
            (&format!("{whole}floor = nan"), "floor"),
            (&format!("{whole}seconds = 0"), "seconds"),
        ] {
            assert_eq!(wrong(text), Some(key), "{text}");
        }
        assert!(toml::from_str::<EmbedderKeys>("kind = \"other\"").is_err());
    }
}
