//! The words of an expression.

use super::syntax_error::SyntaxError;
use super::value::Val;

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Literal(Val),
    Name(String),
    Sign(&'static str),
}

const SIGNS: [&str; 26] = [
    "==", "!=", "<=", ">=", "&&", "||", "[?", ".?", "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "+",
    "-", "*", "/", "%", "!", "<", ">",
];

/// Splits a text into words; comments and blanks are passed over.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        let Some(c) = rest.chars().next() else { return Ok(found) };
        let (token, after) = if let Some(text) = text_literal(rest)? {
            text
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            number(rest)?
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (word(&rest[..end]), &rest[end..])
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), &rest[sign.len()..])
        } else {
            return Err(SyntaxError::UnexpectedCharacter(c));
        };
        found.push(token);
        rest = after;
    }
}

fn word(name: &str) -> Token {
    match name {
        "true" => Token::Literal(Val::Bool(true)),
        "false" => Token::Literal(Val::Bool(false)),
        "null" => Token::Literal(Val::Null),
        _ => Token::Name(name.to_owned()),
    }
}

fn number(text: &str) -> Result<(Token, &str), SyntaxError> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let value = i64::from_str_radix(&hex[..end], 16).map_err(SyntaxError::Hexadecimal)?;
        return Ok((Token::Literal(Val::Int(value)), &hex[end..]));
    }
    let bytes = text.as_bytes();
    let mut end = 0;
    let mut is_double = false;
    while let Some(b) = bytes.get(end) {
        match b {
            b'0'..=b'9' => {}
            b'.' if !is_double && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) => is_double = true,
            b'e' | b'E' if end > 0 => is_double = true,
            b'+' | b'-' if matches!(bytes.get(end.wrapping_sub(1)), Some(b'e' | b'E')) => {}
            _ => break,
        }
        end += 1;
    }
    let (digits, rest) = text.split_at(end);
    let no_number = || SyntaxError::Number(digits.to_owned());
    if is_double {
        let value = digits.parse().map_err(|_| no_number())?;
        return Ok((Token::Literal(Val::Double(value)), rest));
    }
    if let Some(rest) = rest.strip_prefix(['u', 'U']) {
        let value = digits.parse().map_err(|_| no_number())?;
        return Ok((Token::Literal(Val::Uint(value)), rest));
    }
    let value = digits.parse().map_err(|_| no_number())?;
    Ok((Token::Literal(Val::Int(value)), rest))
}

/// `'…'`, `"…"`, tripled, with `r` (raw) and `b` (bytes) in front.
fn text_literal(text: &str) -> Result<Option<(Token, &str)>, SyntaxError> {
    let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"');
    let Some(prefix_end) = text.bytes().take(3).position(|byte| is_quote(&byte)) else { return Ok(None) };
    let prefix = text[..prefix_end].to_ascii_lowercase();
    if !["", "r", "b", "rb", "br"].contains(&prefix.as_str()) {
        return Ok(None);
    }
    let (is_raw, is_bytes) = (prefix.contains('r'), prefix.contains('b'));
    let quoted = &text[prefix_end..];
    let quote =
        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| quoted.starts_with(quote)).unwrap_or("'");
    let mut rest = &quoted[quote.len()..];
    let mut value = String::new();
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            let val = match is_bytes {
                true => Val::Bytes(value.into_bytes().into()),
                false => Val::text(&value),
            };
            return Ok(Some((Token::Literal(val), after)));
        }
        let Some(c) = rest.chars().next() else { return Err(SyntaxError::TextEnd) };
        rest = &rest[c.len_utf8()..];
        if c != '\\' || is_raw {
            value.push(c);
            continue;
        }
        let Some(escape) = rest.chars().next() else { return Err(SyntaxError::TextEnd) };
        rest = &rest[escape.len_utf8()..];
        let digits = match escape {
            'x' | 'X' => 2,
            'u' => 4,
            'U' => 8,
            '0'..='3' => 3,
            _ => 0,
        };
        if digits == 0 {
            value.push(match escape {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                '\\' | '\'' | '"' | '`' | '?' => escape,
                other => return Err(SyntaxError::Escape(other.to_string())),
            });
            continue;
        }
        let is_octal = digits == 3;
        let take = if is_octal { digits - 1 } else { digits };
        let hex = rest.get(..take).ok_or(SyntaxError::EscapeEnd)?;
        rest = &rest[take..];
        let code = match is_octal {
            true => u32::from_str_radix(&format!("{escape}{hex}"), 8),
            false => u32::from_str_radix(hex, 16),
        };
        let code = code
            .ok()
            .and_then(char::from_u32)
            .ok_or_else(|| SyntaxError::Escape(format!("{escape}{hex}")))?;
        value.push(code);
    }
}
