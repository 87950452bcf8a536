//! What the library's operations return.

use crate::error::Error;
use std::pin::Pin;

/// A future of the library: await it, or give it to [`block_on`](crate::block_on). It can be sent to another thread, and
/// does nothing until it is polled.
///
/// An `async fn` is compiled wherever it is awaited, in each program and each test; a future in a box is compiled once, with
/// the library.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;
