//! Why a text is no expression.

use std::num::ParseIntError;

use super::tokens::Token;

/// What is wrong with the text of a rule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum SyntaxError {
    #[error("nested too deeply")]
    Depth,
    #[error("ends too early")]
    End,
    #[error("unknown escape \\{0}")]
    Escape(String),
    #[error("an escape without its end")]
    EscapeEnd,
    #[error("{0:?} expected")]
    Expected(&'static str),
    #[error("a field's name expected")]
    FieldName,
    #[error("has() needs a field")]
    Has,
    #[error("{0}")]
    Hexadecimal(ParseIntError),
    #[error("longer than {0} words")]
    Length(usize),
    #[error("{0}() needs a variable and an expression")]
    MacroArguments(String),
    #[error("{0}() needs a variable first")]
    MacroVariable(String),
    #[error("{0:?} is not a number")]
    Number(String),
    #[error("a text without its end")]
    TextEnd,
    #[error("unexpected {0:?}")]
    UnexpectedCharacter(char),
    #[error("unexpected {0:?}")]
    UnexpectedSign(&'static str),
    #[error("unexpected {0:?}")]
    UnexpectedToken(Token),
}
