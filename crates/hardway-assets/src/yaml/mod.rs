//! YAML in and out. The only module that knows the YAML library.

mod node;
mod read;
mod write;

pub use node::{Key, Node, Span, Value};
pub use read::{SyntaxError, read, read_all};
pub use write::write;
