//! Rules of schemas (`x-kubernetes-validations`), in the Common Expression Language with Kubernetes' functions. What a
//! rule looks at is a `Val`; how an object becomes one by its schema is in `typed_value.rs`.
//!
//! ```text
//! Rule         one rule, tried on a value                       rule.rs
//! Expression   its text, read                                   expression.rs, tokens.rs, parser.rs
//! SyntaxError  why it cannot be read                            syntax_error.rs
//! evaluate     what it comes to                                 evaluation.rs
//! functions    CEL's, its extensions' and Kubernetes'           functions.rs, texts.rs, network.rs, quantity.rs
//! Val          values                                           value.rs
//! ```

mod evaluation;
mod expression;
mod functions;
mod network;
mod parser;
mod quantity;
mod rule;
mod syntax_error;
mod texts;
mod tokens;
mod value;

pub(crate) use quantity::Quantity;
pub(crate) use rule::{Tested, ValidationRule};
pub(crate) use value::{List, ListType, MapKey, Val};
