//! Amounts as Kubernetes writes them: `500m`, `1Gi`, `2e3`.

/// In billionths, which is as fine as the server keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

const NANO: i128 = 1_000_000_000;

impl Quantity {
    /// Reads it as apimachinery `resource.ParseQuantity`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (sign, rest) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let (numerator, denominator) = factor(suffix)?;
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let nano = digits.checked_mul(NANO)?.checked_mul(numerator)?;
        let divisor = scale.checked_mul(denominator)?;
        // Rounded up, as the server does.
        Some(Self(sign * (nano + divisor - 1).div_euclid(divisor)))
    }

    pub(crate) fn of(value: i64) -> Self {
        Self(i128::from(value) * NANO)
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub(crate) fn sign(self) -> i64 {
        i64::try_from(self.0.signum()).unwrap_or_default()
    }

    /// A whole number, if it is one.
    pub(crate) fn whole(self) -> Option<i64> {
        (self.0 % NANO == 0).then(|| i64::try_from(self.0 / NANO).ok()).flatten()
    }

    #[expect(clippy::cast_precision_loss, reason = "asked for approximately")]
    pub(crate) fn approximate(self) -> f64 {
        self.0 as f64 / NANO as f64
    }
}

fn factor(suffix: &str) -> Option<(i128, i128)> {
    let binary = |power: u32| Some((1024_i128.pow(power), 1));
    let decimal = |power: u32| Some((10_i128.pow(power), 1));
    match suffix {
        "" => Some((1, 1)),
        "n" => Some((1, 1_000_000_000)),
        "u" => Some((1, 1_000_000)),
        "m" => Some((1, 1_000)),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            match u32::try_from(power.abs()).ok()? {
                size if size > 18 => None,
                size if power < 0 => Some((1, 10_i128.pow(size))),
                size => decimal(size),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_compare_whatever_their_suffix() {
        let amount = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!(amount("1Gi"), amount("1024Mi"));
        assert_eq!(amount("0.5"), amount("500m"));
        assert_eq!(amount("2e3"), amount("2k"));
        assert!(amount("-1") < amount("1n"));
        assert_eq!(amount("3.0").whole(), Some(3));
        for bad in ["", "Gi", "1.2.3", "1X", "1 Gi"] {
            assert_eq!(Quantity::parse(bad), None, "{bad}");
        }
    }
}
