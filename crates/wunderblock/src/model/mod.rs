//! Calling a model: one request, one reply.
//!
//! ```text
//! body ─► Client::ask ─ time-outs, at most a few tries ─► Reading (wire) ─► Reply
//!                     └► Failure, typed, with the provider's words cut and without secrets
//! ```
//! The engine works without any model; what is here serves those who bring one. Nothing is read from the environment: whoever
//! makes a client says where it calls, with which key and through which proxy.

mod call;
mod client;
mod key;
mod status;

pub use client::{Client, Endpoint, EndpointError, Headers, ModelLimits};
pub use key::ApiKey;
