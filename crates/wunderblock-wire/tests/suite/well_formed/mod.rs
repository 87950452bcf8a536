//! Well-formed: requests are valid for the APIs they are written for, and replies of these APIs are read without
//! loss.

pub(crate) mod cache;
pub(crate) mod encode;
pub(crate) mod gemini;
pub(crate) mod responses;
pub(crate) mod round_trip;
pub(crate) mod validate;
