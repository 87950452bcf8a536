//! Replies of a provider, in the format of its dialect.

use super::embedding::EmbeddingRequest;
use super::http::ReceivedRequest;
use wunderblock_core::message::{Body, Dialect, Part};

/// Number of characters of text in each streamed piece.
const PIECE_CHARS: usize = 24;
/// Methods in Gemini's URL, after the model name: for whole replies and for streams.
const GENERATE: [&str; 2] = ["generateContent", "streamGenerateContent?alt=sse"];

/// Writes the reply to one request.
pub(super) struct ReplyWriter {
    /// Request for embeddings, if it is one.
    embedding: Option<EmbeddingRequest>,
    dialect: Dialect,
    model: String,
    /// Whether the request asks for a stream.
    pub(super) streams: bool,
    /// The text of the request's messages.
    pub(super) asked: String,
    /// Maximum number of output tokens that the request allows.
    pub(super) most: u64,
    input: usize,
}

impl ReplyWriter {
    /// Parses a request. `None` for a path or a body that no client of these APIs sends.
    pub(super) fn of(request: &ReceivedRequest) -> Option<Self> {
        if let Some(embedding) = EmbeddingRequest::of(request) {
            return Some(Self {
                embedding: Some(embedding),
                dialect: Dialect::OpenaiChat,
                model: String::new(),
                streams: false,
                asked: String::new(),
                most: 0,
                input: 0,
            });
        }
        let gemini = request.path.strip_prefix("/v1beta/models/").and_then(|path| path.split_once(':'));
        let dialect = match request.path.as_str() {
            "/v1/messages" => Dialect::Anthropic,
            "/v1/chat/completions" => Dialect::OpenaiChat,
            "/v1/responses" => Dialect::OpenaiResponses,
            _ if gemini.is_some_and(|(_, what)| GENERATE.contains(&what)) => Dialect::Gemini,
            _ => return None,
        };
        let asked = wunderblock_wire::decode(dialect, &request.body).ok()?;
        let streams = match gemini {
            Some((_, what)) => what.starts_with("stream"),
            None => asked.extra.as_deref().is_some_and(|extra| extra.contains("\"stream\":true")),
        };
        let parts = asked.messages.iter().flat_map(|message| &message.parts);
        let text: String = parts.flat_map(Part::bodies).filter_map(Body::inline).collect();
        Some(Self {
            embedding: None,
            dialect,
            model: asked.model.unwrap_or_default().into(),
            streams,
            asked: text,
            most: asked.max_output.map_or(1_000, |most| most.0),
            input: request.body.len() / 4,
        })
    }

    /// Body of a reply with vectors.
    pub(super) fn vectors(&self, dimensions: usize) -> String {
        self.embedding.as_ref().map(|request| request.reply(dimensions)).unwrap_or_default()
    }

    pub(super) fn kind(&self, streams: bool) -> &'static str {
        if streams { "text/event-stream; charset=utf-8" } else { "application/json" }
    }

    fn usage(&self, text: &str) -> String {
        // Token counts are estimates: 4 bytes per token.
        let (input, output) = (self.input, text.len() / 4);
        match self.dialect {
            Dialect::Anthropic => format!(
                r#"{{"input_tokens":{input},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output}}}"#
            ),
            Dialect::OpenaiResponses => format!(
                r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":0}},"output_tokens":{output},"total_tokens":{}}}"#,
                input + output
            ),
            Dialect::Gemini => format!(
                r#"{{"promptTokenCount":{input},"candidatesTokenCount":{output},"totalTokenCount":{}}}"#,
                input + output
            ),
            _ => format!(
                r#"{{"prompt_tokens":{input},"completion_tokens":{output},"total_tokens":{}}}"#,
                input + output
            ),
        }
    }

    /// Body of a whole reply.
    pub(super) fn body(&self, text: &str) -> String {
        let (model, text, usage) = (quote(&self.model), quote(text), self.usage(text));
        match self.dialect {
            Dialect::Anthropic => format!(
                r#"{{"id":"msg_local","type":"message","role":"assistant","model":{model},"content":[{{"type":"text","text":{text}}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{usage}}}"#
            ),
            Dialect::OpenaiResponses => {
                let piece = format!(r#"{{"type":"output_text","text":{text},"annotations":[]}}"#);
                self.response("completed", &message_item(&piece), &usage)
            }
            Dialect::Gemini => {
                self.content(&format!(r#"{{"text":{text}}}"#), &usage, r#","finishReason":"STOP""#)
            }
            _ => format!(
                r#"{{"id":"chatcmpl-local","object":"chat.completion","created":1,"model":{model},"choices":[{{"index":0,"message":{{"role":"assistant","content":{text},"refusal":null}},"logprobs":null,"finish_reason":"stop"}}],"usage":{usage}}}"#
            ),
        }
    }

    /// Events of a streamed reply.
    pub(super) fn stream(&self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars.chunks(PIECE_CHARS).map(|piece| quote(&piece.iter().collect::<String>()));
        match self.dialect {
            Dialect::Anthropic => self.messages(pieces, text),
            Dialect::OpenaiResponses => self.events(pieces, text),
            Dialect::Gemini => self.contents(pieces, text),
            _ => self.chunks(pieces, text),
        }
    }

    /// An OpenAI response object with these items.
    fn response(&self, status: &str, items: &str, usage: &str) -> String {
        let model = quote(&self.model);
        format!(
            r#"{{"id":"resp_local","object":"response","created_at":1,"status":"{status}","error":null,"incomplete_details":null,"model":{model},"output":[{items}],"usage":{usage}}}"#
        )
    }

    fn events(&self, pieces: impl Iterator<Item = String>, text: &str) -> Vec<String> {
        let event = |kind: &str, rest: &str| {
            format!("event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",{rest}}}\n\n")
        };
        let whole = |status: &str, items: &str, usage: &str| {
            format!(r#""response":{}"#, self.response(status, items, usage))
        };
        let begun = format!(r#""output_index":0,"item":{}"#, message_item(""));
        let mut events =
            vec![event("created", &whole("in_progress", "", "null")), event("output_item.added", &begun)];
        events.extend(pieces.map(|piece| {
            event("output_text.delta", &format!(r#""output_index":0,"content_index":0,"delta":{piece}"#))
        }));
        let piece = format!(r#"{{"type":"output_text","text":{},"annotations":[]}}"#, quote(text));
        let item = message_item(&piece);
        events.push(event("output_item.done", &format!(r#""output_index":0,"item":{item}"#)));
        events.push(event("completed", &whole("completed", &item, &self.usage(text))));
        events
    }

    /// A Gemini response with these parts.
    fn content(&self, parts: &str, usage: &str, end: &str) -> String {
        let model = quote(&self.model);
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0{end}}}],"usageMetadata":{usage},"modelVersion":{model},"responseId":"local"}}"#
        )
    }

    fn contents(&self, pieces: impl Iterator<Item = String>, text: &str) -> Vec<String> {
        let event =
            |part: &str, usage: &str, end: &str| format!("data: {}\n\n", self.content(part, usage, end));
        let mut events: Vec<String> =
            pieces.map(|piece| event(&format!(r#"{{"text":{piece}}}"#), &self.usage(""), "")).collect();
        events.push(event(r#"{"text":""}"#, &self.usage(text), r#","finishReason":"STOP""#));
        events
    }

    fn messages(&self, pieces: impl Iterator<Item = String>, text: &str) -> Vec<String> {
        let event =
            |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
        let (model, usage) = (quote(&self.model), self.usage(""));
        let start = format!(
            r#","message":{{"id":"msg_local","type":"message","role":"assistant","model":{model},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}"#
        );
        let block = r#","index":0,"content_block":{"type":"text","text":""}"#;
        let mut events =
            vec![event("message_start", &start), event("content_block_start", block), event("ping", "")];
        events.extend(pieces.map(|piece| {
            let delta = format!(r#","index":0,"delta":{{"type":"text_delta","text":{piece}}}"#);
            event("content_block_delta", &delta)
        }));
        let end = format!(
            r#","delta":{{"stop_reason":"end_turn","stop_sequence":null}},"usage":{{"output_tokens":{}}}"#,
            text.len() / 4
        );
        events.extend([
            event("content_block_stop", r#","index":0"#),
            event("message_delta", &end),
            event("message_stop", ""),
        ]);
        events
    }

    fn chunks(&self, pieces: impl Iterator<Item = String>, text: &str) -> Vec<String> {
        let chunk = |choices: &str, usage: &str| {
            let model = quote(&self.model);
            format!(
                "data: {{\"id\":\"chatcmpl-local\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":{model},\"choices\":[{choices}]{usage}}}\n\n"
            )
        };
        let delta = |delta: &str, reason: &str| {
            chunk(&format!(r#"{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{reason}}}"#), "")
        };
        let mut events = vec![delta(r#"{"role":"assistant","content":"","refusal":null}"#, "null")];
        events.extend(pieces.map(|piece| delta(&format!(r#"{{"content":{piece}}}"#), "null")));
        events.push(delta("{}", "\"stop\""));
        events.push(chunk("", &format!(",\"usage\":{}", self.usage(text))));
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    /// Content type and body of a reply in which the model declines to answer.
    pub(super) fn declined(&self) -> (&'static str, String) {
        let body = match self.dialect {
            Dialect::Anthropic => self
                .body("")
                .replace("\"end_turn\"", "\"refusal\"")
                .replace(r#"{"type":"text","text":""}"#, ""),
            Dialect::OpenaiResponses => self.response(
                "completed",
                &message_item(r#"{"type":"refusal","refusal":"I can't help with that."}"#),
                &self.usage(""),
            ),
            Dialect::Gemini => self.body("").replace("\"STOP\"", "\"SAFETY\""),
            _ => self.body("").replace("\"refusal\":null", "\"refusal\":\"I can't help with that.\""),
        };
        (self.kind(false), body)
    }

    /// Body of an error response with this status.
    pub(super) fn refusal(&self, status: u16) -> String {
        let (kind, message) = match status {
            401 => ("authentication_error", "invalid x-api-key"),
            403 => ("permission_error", "this key may not do that"),
            413 => ("request_too_large", "Request exceeds the maximum size"),
            429 => ("rate_limit_error", "Number of requests has exceeded your rate limit"),
            529 => ("overloaded_error", "Overloaded"),
            500.. => ("api_error", "Internal server error"),
            _ => ("invalid_request_error", "there is something wrong with it"),
        };
        self.error(kind, message)
    }

    /// Body of an error response to a request that is too long.
    pub(super) fn overflow(&self) -> String {
        match self.dialect {
            Dialect::Anthropic => {
                self.error("invalid_request_error", "prompt is too long: 209999 tokens > 200000 maximum")
            }
            Dialect::Gemini => self.error(
                "invalid_request_error",
                "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            _ => r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#.to_owned(),
        }
    }

    /// Event that reports a failure in the middle of a stream.
    pub(super) fn error_event(&self) -> String {
        let error = self.error("overloaded_error", "Overloaded");
        match self.dialect {
            Dialect::Anthropic => format!("event: error\ndata: {error}\n\n"),
            Dialect::OpenaiResponses => {
                let said = r#""code":"server_error","message":"Overloaded","param":null"#;
                format!("event: error\ndata: {{\"type\":\"error\",{said}}}\n\n")
            }
            _ => format!("data: {error}\n\n"),
        }
    }

    fn error(&self, kind: &str, message: &str) -> String {
        let (kind, message) = (quote(kind), quote(message));
        match self.dialect {
            Dialect::Anthropic => {
                format!(
                    r#"{{"type":"error","error":{{"type":{kind},"message":{message}}},"request_id":"req_local"}}"#
                )
            }
            Dialect::Gemini => {
                let (code, status) = status(kind.trim_matches('"'));
                format!(r#"{{"error":{{"code":{code},"message":{message},"status":"{status}"}}}}"#)
            }
            _ => format!(r#"{{"error":{{"message":{message},"type":{kind},"param":null,"code":null}}}}"#),
        }
    }
}

/// An OpenAI message item with these content pieces.
fn message_item(pieces: &str) -> String {
    format!(
        r#"{{"type":"message","id":"msg_local","status":"completed","role":"assistant","content":[{pieces}]}}"#
    )
}

/// Gemini's status code and name for a kind of error.
fn status(kind: &str) -> (u16, &'static str) {
    match kind {
        "authentication_error" => (401, "UNAUTHENTICATED"),
        "permission_error" => (403, "PERMISSION_DENIED"),
        "rate_limit_error" => (429, "RESOURCE_EXHAUSTED"),
        "overloaded_error" => (503, "UNAVAILABLE"),
        "api_error" => (500, "INTERNAL"),
        _ => (400, "INVALID_ARGUMENT"),
    }
}

/// Quotes a text as a JSON string.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use wunderblock_wire::{ReplyReader, decode_reply};

    #[test]
    fn it_says_the_same_whole_and_streamed() {
        let text = "## Goal\n- \"mend\" the \\ tail 汉字 \u{1} of src/tail.rs (#1)\n".repeat(3);
        let bodies = [
            (
                "/v1/messages",
                r#"{"model":"claude-x","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"q"}]}"#,
            ),
            (
                "/v1/chat/completions",
                r#"{"model":"gpt-x","messages":[{"role":"user","content":"q"}],"stream":true}"#,
            ),
            ("/v1/responses", r#"{"model":"gpt-x","input":"q","stream":true}"#),
            (
                "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
                r#"{"model":"models/gemini-x","contents":[{"role":"user","parts":[{"text":"q"}]}]}"#,
            ),
        ];
        for (path, body) in bodies {
            let request = ReceivedRequest { path: path.to_owned(), headers: Vec::new(), body: body.into() };
            let voice = ReplyWriter::of(&request).unwrap();
            assert_eq!((voice.streams, voice.asked.as_str()), (true, "q"));
            let mut reading = ReplyReader::new(voice.dialect, 1 << 20);
            voice.stream(&text).iter().for_each(|event| reading.push(event.as_bytes()));
            let streamed = reading.finish();
            let whole = decode_reply(voice.dialect, voice.body(&text).as_bytes());
            assert_eq!((&streamed.fault, streamed.text()), (&None, text.clone()));
            assert_eq!(
                (whole.text(), whole.usage, whole.stop),
                (streamed.text(), streamed.usage, streamed.stop)
            );
            assert!(decode_reply(voice.dialect, voice.declined().1.as_bytes()).refusal().is_some());
        }
    }
}
