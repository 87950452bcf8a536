//! Calling a model: one request, one reply.
//!
//! ```text
//! body ─► Client::ask ─ time-outs, at most a few tries ─► Reading (wire) ─► Reply
//!                     └► Failure, typed, with the provider's words cut and without secrets
//! ```
//! The engine works without any model; this module is for callers that use one. This module reads nothing from the
//! environment: the caller passes the address, the key and the proxy.

mod call;
mod client;
mod key;
mod status;

pub(super) use client::OPENAI;
pub use client::{Client, Endpoint, EndpointError, Headers, ModelLimits};
pub use key::ApiKey;
