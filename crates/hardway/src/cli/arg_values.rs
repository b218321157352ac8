//! Values of flags that take more than a type to read.

use std::net::SocketAddr;

use jiff::SignedDuration;

/// What is wrong with one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgValueError {
    #[error("not NAMESPACE/NAME")]
    Account,
    #[error("expected ADDRESS:PORT, such as 192.168.126.2:8080 or [::]:8080; a name is not an address")]
    Address,
    #[error("expected a duration such as 45m or 1h30m")]
    Duration,
    #[error("{0:?} is not a host name or an IP address")]
    Host(String),
    #[error("not from 10m to 24h")]
    Lifetime,
    #[error("the duration must not be negative")]
    Negative,
    #[error("expected HOST:PORT, such as 10.0.0.5:22625")]
    NoPort,
    #[error("{0:?} is not a valid port")]
    Port(String),
    #[error("expected a duration such as 90m, 24h or 3d")]
    TokenLife,
}

/// `90s`, `45m`, `1h30m`; never negative.
pub(super) fn duration(text: &str) -> Result<SignedDuration, ArgValueError> {
    let duration: SignedDuration = text.parse().map_err(unread)?;
    if duration.is_negative() { Err(ArgValueError::Negative) } else { Ok(duration) }
}

/// `90m`, `24h`, `3d`; longer than nothing.
pub(super) fn token_life(text: &str) -> Result<SignedDuration, ArgValueError> {
    // A day is 24 hours here: nobody counts a token's life in daylight saving.
    let duration = match text.strip_suffix('d').map(str::parse::<u16>) {
        Some(Ok(days)) => Some(SignedDuration::from_hours(24 * i64::from(days))),
        _ => text.parse().ok(),
    };
    duration.filter(SignedDuration::is_positive).ok_or(ArgValueError::TokenLife)
}

/// No API server gives one for less than ten minutes, and more than a day is a key.
pub(super) fn lifetime(text: &str) -> Result<SignedDuration, ArgValueError> {
    let lifetime: SignedDuration = text.parse().map_err(unread)?;
    let range = SignedDuration::from_mins(10)..=SignedDuration::from_hours(24);
    if range.contains(&lifetime) { Ok(lifetime) } else { Err(ArgValueError::Lifetime) }
}

/// `NAMESPACE/NAME`
pub(super) fn account(text: &str) -> Result<(String, String), ArgValueError> {
    let parts = text.split_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty());
    let (namespace, name) = parts.ok_or(ArgValueError::Account)?;
    Ok((namespace.to_owned(), name.to_owned()))
}

/// `HOST:PORT`
pub(super) fn endpoint(text: &str) -> Result<String, ArgValueError> {
    let (host, port) = text.rsplit_once(':').ok_or(ArgValueError::NoPort)?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_host = hardway_hosted::render::is_address(bare) || hardway_assets::node_name::is_label(bare);
    match port.parse::<u16>() {
        Ok(1..) if is_host => Ok(text.to_owned()),
        Ok(1..) => Err(ArgValueError::Host(host.to_owned())),
        _ => Err(ArgValueError::Port(port.to_owned())),
    }
}

/// `ADDRESS:PORT` to listen on.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, ArgValueError> {
    text.parse().map_err(|_| ArgValueError::Address)
}

fn unread(_: jiff::Error) -> ArgValueError {
    ArgValueError::Duration
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(token_life("3d"), Ok(SignedDuration::from_hours(72)));
        assert_eq!(token_life("90m"), Ok(SignedDuration::from_mins(90)));
        for text in ["", "-1h", "0h", "24", "d", "1.5d", "soon"] {
            assert!(token_life(text).is_err(), "{text}");
        }
    }
}
