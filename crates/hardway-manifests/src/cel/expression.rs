//! Expressions of the Common Expression Language, read from text.

use super::syntax_error::SyntaxError;
use super::value::Val;

/// What a rule is made of. Macros are resolved when the text is read.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Literal(Val),
    Variable(String),
    Select { of: Box<Expression>, field: String, is_optional: bool },
    Has { of: Box<Expression>, field: String },
    Index { of: Box<Expression>, by: Box<Expression>, is_optional: bool },
    Call { target: Option<Box<Expression>>, function: String, arguments: Vec<Expression> },
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Choice { condition: Box<Expression>, then: Box<Expression>, otherwise: Box<Expression> },
    Each(Box<Each>),
}

/// A macro that goes through a list or the keys of a map.
#[derive(Clone, Debug)]
pub(crate) struct Each {
    pub(crate) purpose: Purpose,
    pub(crate) range: Expression,
    pub(crate) variable: String,
    pub(crate) filter: Option<Expression>,
    pub(crate) body: Expression,
}

/// What it is gone through for. `Bind` takes the one value of an optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
    OptionalMap,
    OptionalFlatMap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Divide,
    Equal,
    Greater,
    GreaterOrEqual,
    In,
    Less,
    LessOrEqual,
    Multiply,
    NotEqual,
    Remainder,
    Subtract,
}

impl Expression {
    /// Reads a whole text.
    pub(crate) fn read(text: &str) -> Result<Self, SyntaxError> {
        let tokens = super::tokens::tokens(text)?;
        super::parser::parse(&tokens)
    }

    /// Whether a variable is named anywhere.
    pub(crate) fn names(&self, variable: &str) -> bool {
        let any = |list: &[Self]| list.iter().any(|expression| expression.names(variable));
        match self {
            Self::Literal(_) => false,
            Self::Variable(name) => name == variable,
            Self::Select { of, .. } | Self::Has { of, .. } | Self::Not(of) | Self::Negative(of) => {
                of.names(variable)
            }
            Self::Index { of, by, .. } => of.names(variable) || by.names(variable),
            Self::Call { target, arguments, .. } => {
                target.as_ref().is_some_and(|target| target.names(variable)) || any(arguments)
            }
            Self::List(items) => any(items),
            Self::Map(entries) => {
                entries.iter().any(|(key, value)| key.names(variable) || value.names(variable))
            }
            Self::And(one, other) | Self::Or(one, other) | Self::Binary(_, one, other) => {
                one.names(variable) || other.names(variable)
            }
            Self::Choice { condition, then, otherwise } => {
                [condition, then, otherwise].iter().any(|part| part.names(variable))
            }
            Self::Each(each) => {
                each.range.names(variable)
                    || each.body.names(variable)
                    || each.filter.as_ref().is_some_and(|filter| filter.names(variable))
            }
        }
    }
}
