//! Calling the async functions of this crate from a program that is not async.

use std::future::Future;
use std::io;

/// Runs one of this crate's futures to its end.
pub fn blocking<F: Future>(future: F) -> io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok(runtime.block_on(future))
}
