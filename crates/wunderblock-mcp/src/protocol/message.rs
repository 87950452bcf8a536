//! Lines of JSON as messages of the protocol.
//!
//! Each method is decoded by itself. `rmcp` decodes any message at once, by trying one type after the other: the
//! decoders of all messages that a client might send are then part of the program, and an error cannot say which field
//! of a request is wrong.

use rmcp::model::{
    CallToolRequest, CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest,
    DiscoverRequest, ErrorCode, ErrorData, GetPromptRequest, InitializeRequest, InitializedNotification,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, PingRequest,
    ReadResourceRequest, RequestId,
};
use serde::de::DeserializeOwned;
use serde_json::{Result as Decoded, Value};
use wunderblock_core::fence::plain;

/// Error that answers a line, with the id of the request if it has one.
pub(super) type Refusal = Box<(Option<RequestId>, ErrorData)>;

/// Returns an error that answers a line.
pub(super) fn refusal(id: Option<RequestId>, error: ErrorData) -> Option<Refusal> {
    Some(Box::new((id, error)))
}

/// Returns the message of a line, or the error that answers a line without a message for the server. Neither is
/// returned for a line that needs no answer.
pub(super) fn decode(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<Refusal>> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let why = format!("invalid JSON: {error}; send each message as one line");
        refusal(None, ErrorData::parse_error(why, None))
    })?;
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let invalid = |why: &'static str| refusal(id.clone(), ErrorData::invalid_request(why, None));
    if value.is_array() {
        return Err(invalid("batches are not supported; send each message as one line"));
    }
    let Some(method) = value.get("method").and_then(Value::as_str).map(ToOwned::to_owned) else {
        // This server asks its clients for nothing, so an answer has no question.
        let is_answer = value.get("result").or(value.get("error")).is_some();
        return Err(if is_answer { None } else { invalid("invalid message: `method` is missing") });
    };
    if value.get("id").is_none() {
        let notification = notification(&method, value).and_then(Result::ok).ok_or(None)?;
        return Ok(ClientJsonRpcMessage::notification(notification));
    }
    let Some(id) = id.clone() else { return Err(invalid("`id` must be a string or an integer")) };
    match request(&method, value) {
        Some(Ok(request)) => Ok(ClientJsonRpcMessage::request(request, id)),
        Some(Err(error)) => {
            let why = format!("invalid parameters of `{method}`: {}", plain(&error.to_string()));
            Err(refusal(Some(id), ErrorData::invalid_params(why, None)))
        }
        None => {
            let why = format!("unknown method `{}`", plain(&method));
            Err(refusal(Some(id), ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None)))
        }
    }
}

/// Decodes a request with a known method.
fn request(method: &str, value: Value) -> Option<Decoded<ClientRequest>> {
    Some(match method {
        "initialize" => typed::<InitializeRequest, _>(value),
        "server/discover" => typed::<DiscoverRequest, _>(value),
        "ping" => typed::<PingRequest, _>(value),
        "tools/list" => typed::<ListToolsRequest, _>(value),
        "tools/call" => typed::<CallToolRequest, _>(value),
        "resources/list" => typed::<ListResourcesRequest, _>(value),
        "resources/templates/list" => typed::<ListResourceTemplatesRequest, _>(value),
        "resources/read" => typed::<ReadResourceRequest, _>(value),
        "prompts/list" => typed::<ListPromptsRequest, _>(value),
        "prompts/get" => typed::<GetPromptRequest, _>(value),
        _ => return None,
    })
}

/// Decodes a notification that the server acts on.
fn notification(method: &str, value: Value) -> Option<Decoded<ClientNotification>> {
    Some(match method {
        "notifications/initialized" => typed::<InitializedNotification, _>(value),
        "notifications/cancelled" => typed::<CancelledNotification, _>(value),
        _ => return None,
    })
}

fn typed<T: DeserializeOwned + Into<M>, M>(value: Value) -> Decoded<M> {
    Ok(serde_json::from_value::<T>(value)?.into())
}
