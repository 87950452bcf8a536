//! Models that are called over HTTP: OpenAI's API, which many servers speak, and Ollama's own.
//!
//! The formats are those of `POST /v1/embeddings` (OpenAI's API reference, "Create embeddings") and `POST /api/embed`
//! (Ollama, `docs/api.md`, "Generate Embeddings").

use super::Embed;
use crate::rules::model::{Client, Endpoint, EndpointError, ModelLimits, OPENAI};
use serde::Deserialize;
use std::sync::Arc;
use wunderblock_core::units::{Bytes, Millis};
use wunderblock_redact::Redactor;
use wunderblock_summary::CallFailure;

/// Base URL of Ollama on this machine.
const OLLAMA: &str = "http://127.0.0.1:11434";

/// Maximum number of bytes of an answer: 32 vectors of 10,000 dimensions.
const ANSWER_BYTES: u64 = 8 << 20;

/// API of a server that embeds texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingApi {
    /// `/embeddings` below a base URL such as `https://api.openai.com/v1`, which is the default.
    Openai,
    /// `/api/embed` below a base URL such as `http://127.0.0.1:11434`, which is the default.
    Ollama,
}

/// A model, and how it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// API of the server.
    pub api: EmbeddingApi,
    /// Name of the model, as the server knows it.
    pub name: String,
    /// Number of dimensions to ask for. If unset, the model has a fixed number.
    pub dimensions: Option<usize>,
}

/// A model behind an endpoint.
#[derive(Clone, Debug)]
pub struct HttpEmbedder {
    client: Client,
    model: EmbeddingModel,
    /// Name of what makes the vectors.
    label: String,
}

/// Answer of OpenAI's API.
#[derive(Deserialize)]
struct OpenaiAnswer {
    data: Vec<OpenaiVector>,
}

#[derive(Deserialize)]
struct OpenaiVector {
    index: usize,
    embedding: Vec<f32>,
}

/// Answer of Ollama's API.
#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

impl HttpEmbedder {
    /// Creates an embedder without making any call. A key is sent as in the endpoint's dialect.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn new(
        endpoint: &Endpoint,
        model: EmbeddingModel,
        limits: ModelLimits,
        redactor: Arc<Redactor>,
    ) -> Result<Self, EndpointError> {
        let (kind, path) = match model.api {
            EmbeddingApi::Openai => ("openai", [OPENAI, "/embeddings"]),
            EmbeddingApi::Ollama => ("ollama", [OLLAMA, "/api/embed"]),
        };
        let label = format!("{kind}/{}", model.name);
        Ok(Self { client: Client::of_path(endpoint, path, limits, redactor)?, model, label })
    }

    /// Returns the limits of a call that may take a time, with one retry.
    #[must_use]
    pub fn limits(time: Millis) -> ModelLimits {
        let (usual, response) = (ModelLimits::default(), Bytes(ANSWER_BYTES));
        let connect = time.min(usual.connect);
        ModelLimits { connect, first_byte: time, idle: time, total: time, response, retries: 1, ..usual }
    }

    fn read(&self, body: &[u8]) -> Result<Vec<Vec<f32>>, serde_json::Error> {
        if self.model.api == EmbeddingApi::Ollama {
            return Ok(serde_json::from_slice::<OllamaAnswer>(body)?.embeddings);
        }
        let mut vectors = serde_json::from_slice::<OpenaiAnswer>(body)?.data;
        vectors.sort_by_key(|vector| vector.index);
        // A vector of another text is missing from its own place.
        let own = vectors.into_iter().enumerate().filter(|(at, vector)| *at == vector.index);
        Ok(own.map(|(_, vector)| vector.embedding).collect())
    }
}

impl Embed for HttpEmbedder {
    fn model(&self) -> &str {
        &self.label
    }

    fn dimensions(&self) -> Option<usize> {
        self.model.dimensions
    }

    fn embed(
        &self,
        texts: &[&str],
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Vec<Vec<f32>>, CallFailure> {
        let mut body = serde_json::json!({ "model": self.model.name, "input": texts });
        if let (Some(dimensions), Some(fields)) = (self.model.dimensions, body.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        let answer = self.client.ask_whole(body.to_string().as_bytes(), progress)?;
        self.read(&answer).map_err(|error| CallFailure::Broken(error.to_string()))
    }
}
