//! YAML in and out. The only module that knows the YAML library.

mod line_index;
mod node;
mod read;
mod write;

pub use line_index::LineIndex;
pub use node::{Key, Node, Span, Value};
pub use read::{SyntaxError, read, read_all};
pub use write::write;
