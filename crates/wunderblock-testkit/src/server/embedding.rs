//! Requests for embeddings, of OpenAI's API and of Ollama's.

use super::http::ReceivedRequest;
use serde_json::{Value, json};

/// A request for the vectors of texts.
pub(super) struct EmbeddingRequest {
    texts: Vec<String>,
    is_ollama: bool,
}

impl EmbeddingRequest {
    /// Parses a request. `None` for another path, or a body that no client of these APIs sends.
    pub(super) fn of(request: &ReceivedRequest) -> Option<Self> {
        let is_ollama = match request.path.as_str() {
            "/v1/embeddings" => false,
            "/api/embed" => true,
            _ => return None,
        };
        let body: Value = serde_json::from_slice(&request.body).ok()?;
        body.get("model")?.as_str()?;
        let texts = body.get("input")?.as_array()?.iter();
        Some(Self {
            texts: texts.map(|text| Some(text.as_str()?.to_owned())).collect::<Option<_>>()?,
            is_ollama,
        })
    }

    /// Body of a reply with vectors.
    pub(super) fn reply(&self, dimensions: usize) -> String {
        let vectors = self.texts.iter().map(|text| vector(text, dimensions));
        if self.is_ollama {
            return json!({ "model": "m", "embeddings": vectors.collect::<Vec<_>>() }).to_string();
        }
        let entry = |(at, vector)| json!({ "object": "embedding", "index": at, "embedding": vector });
        // The order of the entries says nothing.
        let entries: Vec<Value> = vectors.enumerate().map(entry).rev().collect();
        json!({ "object": "list", "data": entries, "model": "m" }).to_string()
    }
}

/// Returns a vector in which each word, or character beyond ASCII, counts in one dimension.
fn vector(text: &str, dimensions: usize) -> Vec<f64> {
    let mut vector = vec![0.0; dimensions];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let wide = lower.split_inclusive(|_| true).filter(|c| !c.is_ascii());
    for word in words.chain(wide) {
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let at = usize::try_from(hash >> 8).unwrap_or_default() % dimensions;
        vector.iter_mut().skip(at).take(1).for_each(|number| *number += 1.0);
    }
    vector
}
