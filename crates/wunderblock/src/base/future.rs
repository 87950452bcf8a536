//! Type of the futures that the library's operations return.

use crate::base::error::Error;
use std::pin::Pin;

/// Future of a library operation: await it, or pass it to [`block_on`](crate::block_on). The future can be sent to
/// another thread, and does nothing until it is polled.
///
/// The future is boxed to save build time: an `async fn` is compiled in each program and test that awaits it, but a
/// boxed future is compiled only once, with the library.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;
