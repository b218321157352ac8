//! From words to an expression, by CEL's grammar.

use super::expression::{Each, Expression, Operator, Purpose};
use super::syntax_error::SyntaxError;
use super::tokens::Token;
use super::value::Val;

/// The whole of it, or what is wrong.
pub(super) fn parse(tokens: &[Token]) -> Result<Expression, SyntaxError> {
    if tokens.len() > MAX_TOKENS {
        return Err(SyntaxError::Length(MAX_TOKENS));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let expression = parser.choice()?;
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(SyntaxError::UnexpectedToken(token.clone())),
    }
}

/// Deeper expressions are refused: CEL's own reader does so too, and recursion must end.
const MAX_DEPTH: usize = 100;
/// Many times the longest rule of OpenShift's CRDs.
const MAX_TOKENS: usize = 10_000;

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), SyntaxError> {
        if self.take(sign) { Ok(()) } else { Err(SyntaxError::Expected(sign)) }
    }

    fn choice(&mut self) -> Result<Expression, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError::Depth);
        }
        let condition = self.or()?;
        let expression = if self.take("?") {
            let then = self.or()?;
            self.expect(":")?;
            let otherwise = self.choice()?;
            Expression::Choice {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn or(&mut self) -> Result<Expression, SyntaxError> {
        let mut parts = vec![self.and()?];
        while self.take("||") {
            parts.push(self.and()?);
        }
        Ok(balanced(parts, Expression::Or))
    }

    fn and(&mut self) -> Result<Expression, SyntaxError> {
        let mut parts = vec![self.relation()?];
        while self.take("&&") {
            parts.push(self.relation()?);
        }
        Ok(balanced(parts, Expression::And))
    }

    fn relation(&mut self) -> Result<Expression, SyntaxError> {
        const SIGNS: [(&str, Operator); 6] = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let mut left = self.sum()?;
        for _ in 0..MAX_DEPTH {
            let is_in = matches!(self.peek(), Some(Token::Name(name)) if name == "in");
            let operator = match is_in {
                true => {
                    self.at += 1;
                    Operator::In
                }
                false => match SIGNS.iter().find(|(sign, _)| self.take(sign)) {
                    Some((_, operator)) => *operator,
                    None => return Ok(left),
                },
            };
            left = Expression::Binary(operator, Box::new(left), Box::new(self.sum()?));
        }
        Err(SyntaxError::Depth)
    }

    fn sum(&mut self) -> Result<Expression, SyntaxError> {
        let mut left = self.product()?;
        for _ in 0..MAX_DEPTH {
            let operator = match (self.take("+"), ()) {
                (true, ()) => Operator::Add,
                (false, ()) if self.take("-") => Operator::Subtract,
                _ => return Ok(left),
            };
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
        Err(SyntaxError::Depth)
    }

    fn product(&mut self) -> Result<Expression, SyntaxError> {
        const SIGNS: [(&str, Operator); 3] =
            [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
        let mut left = self.unary()?;
        for _ in 0..MAX_DEPTH {
            let Some((_, operator)) = SIGNS.iter().find(|(sign, _)| self.take(sign)) else { return Ok(left) };
            left = Expression::Binary(*operator, Box::new(left), Box::new(self.unary()?));
        }
        Err(SyntaxError::Depth)
    }

    fn unary(&mut self) -> Result<Expression, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError::Depth);
        }
        let expression = if self.take("!") {
            Expression::Not(Box::new(self.unary()?))
        } else if self.take("-") {
            match self.unary()? {
                Expression::Literal(Val::Int(value)) => Expression::Literal(Val::Int(-value)),
                Expression::Literal(Val::Double(value)) => Expression::Literal(Val::Double(-value)),
                other => Expression::Negative(Box::new(other)),
            }
        } else {
            let first = self.primary()?;
            self.members(first)?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn members(&mut self, mut of: Expression) -> Result<Expression, SyntaxError> {
        for _ in 0..MAX_DEPTH {
            let is_optional = self.take(".?");
            if is_optional || self.take(".") {
                let Some(Token::Name(name)) = self.peek() else {
                    return Err(SyntaxError::FieldName);
                };
                self.at += 1;
                of = match !is_optional && self.take("(") {
                    true => {
                        let arguments = self.list(")")?;
                        method(of, name, arguments)?
                    }
                    false => Expression::Select { of: Box::new(of), field: name.clone(), is_optional },
                };
                continue;
            }
            let is_optional = self.take("[?");
            if is_optional || self.take("[") {
                let by = self.choice()?;
                self.expect("]")?;
                of = Expression::Index { of: Box::new(of), by: Box::new(by), is_optional };
                continue;
            }
            return Ok(of);
        }
        Err(SyntaxError::Depth)
    }

    fn primary(&mut self) -> Result<Expression, SyntaxError> {
        let Some(token) = self.peek() else { return Err(SyntaxError::End) };
        self.at += 1;
        match token {
            Token::Literal(value) => Ok(Expression::Literal(value.clone())),
            Token::Name(name) if self.take("(") => {
                let arguments = self.list(")")?;
                function(name, arguments)
            }
            Token::Name(name) => Ok(Expression::Variable(name.clone())),
            Token::Sign("(") => {
                let inner = self.choice()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Sign("[") => Ok(Expression::List(self.list("]")?)),
            Token::Sign("{") => self.entries(),
            Token::Sign(".") => self.primary(),
            Token::Sign(sign) => Err(SyntaxError::UnexpectedSign(sign)),
        }
    }

    fn list(&mut self, end: &'static str) -> Result<Vec<Expression>, SyntaxError> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.choice()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn entries(&mut self) -> Result<Expression, SyntaxError> {
        let mut entries = Vec::new();
        while !self.take("}") {
            let key = self.choice()?;
            self.expect(":")?;
            entries.push((key, self.choice()?));
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Expression::Map(entries))
    }
}

/// A long chain as a tree that is not deep: which way it is put together makes no difference to what comes of it.
fn balanced(
    mut parts: Vec<Expression>,
    join: fn(Box<Expression>, Box<Expression>) -> Expression,
) -> Expression {
    if parts.len() <= 2 {
        let last = parts.pop();
        return match (parts.pop(), last) {
            (Some(first), Some(last)) => join(Box::new(first), Box::new(last)),
            (None, Some(only)) | (Some(only), None) => only,
            (None, None) => Expression::Literal(Val::Null),
        };
    }
    let others = parts.split_off(parts.len() / 2);
    join(Box::new(balanced(parts, join)), Box::new(balanced(others, join)))
}

fn function(name: &str, mut arguments: Vec<Expression>) -> Result<Expression, SyntaxError> {
    if name != "has" {
        return Ok(Expression::Call { target: None, function: name.to_owned(), arguments });
    }
    match (arguments.pop(), arguments.is_empty()) {
        (Some(Expression::Select { of, field, is_optional: false }), true) => {
            Ok(Expression::Has { of, field })
        }
        _ => Err(SyntaxError::Has),
    }
}

fn method(target: Expression, name: &str, mut arguments: Vec<Expression>) -> Result<Expression, SyntaxError> {
    let purpose = match (name, arguments.len()) {
        ("all", 2) => Some(Purpose::All),
        ("exists", 2) => Some(Purpose::Exists),
        ("exists_one" | "existsOne", 2) => Some(Purpose::ExistsOne),
        ("filter", 2) => Some(Purpose::Filter),
        ("map", 2 | 3) => Some(Purpose::Map),
        ("optMap", 2) => Some(Purpose::OptionalMap),
        ("optFlatMap", 2) => Some(Purpose::OptionalFlatMap),
        _ => None,
    };
    let Some(purpose) = purpose else {
        return Ok(Expression::Call { target: Some(Box::new(target)), function: name.to_owned(), arguments });
    };
    let (Some(body), filter) = (arguments.pop(), (arguments.len() == 2).then(|| arguments.pop()).flatten())
    else {
        return Err(SyntaxError::MacroArguments(name.to_owned()));
    };
    match arguments.pop() {
        Some(Expression::Variable(variable)) => {
            Ok(Expression::Each(Box::new(Each { purpose, range: target, variable, filter, body })))
        }
        _ => Err(SyntaxError::MacroVariable(name.to_owned())),
    }
}
