//! A piece of something, as a Range header asks for it (RFC 9110, 14.1.2).

/// Some bytes; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From 0.
    pub first: u64,
    /// How many.
    pub length: u64,
}

/// A range that begins after the end: 416.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsatisfiable;

/// The one piece that a Range header asks for. None for several, or for what is not understood: such a
/// header may be passed over.
pub fn piece(range: &str, length: u64) -> Option<Result<Piece, Unsatisfiable>> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let (first, end) = match (first, last) {
        ("", last) => (length.saturating_sub(number(last)?), length),
        (first, "") => (number(first)?, length),
        (first, last) if number(last)? < number(first)? => return None,
        (first, last) => (number(first)?, number(last)?.saturating_add(1).min(length)),
    };
    Some(if first < end { Ok(Piece { first, length: end - first }) } else { Err(Unsatisfiable) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_the_standard() {
        let got = |range| piece(range, 1000).map(|piece| piece.map(|piece| (piece.first, piece.length)));
        assert_eq!(got("bytes=0-499"), Some(Ok((0, 500))));
        assert_eq!(got("bytes=500-"), Some(Ok((500, 500))));
        assert_eq!(got("bytes=-1"), Some(Ok((999, 1))));
        assert_eq!(got("bytes=-5000"), Some(Ok((0, 1000))));
        assert_eq!(got("bytes=999-99999"), Some(Ok((999, 1))));
        for beyond in ["bytes=1000-", "bytes=-0", "bytes=1000-2000"] {
            assert_eq!(got(beyond), Some(Err(Unsatisfiable)), "{beyond}");
        }
        for passed_over in
            ["bytes=5-2", "bytes=0-1,5-6", "lines=0-1", "bytes=a-b", "bytes=+1-2", "", "bytes=-"]
        {
            assert_eq!(got(passed_over), None, "{passed_over}");
        }
    }
}
