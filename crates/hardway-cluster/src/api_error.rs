//! Errors of the API client: as one sentence, with the cause that matters; and those that are none.

/// kube's errors nest: `ServiceError: client error (Connect): tcp connect error: Connection refused`. The outer layers
/// name the library's parts; the whole chain is joined once, without repeating what a layer already shows of the next.
pub fn sentence(error: &dyn std::error::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    parts.join(": ")
}

/// An object of a kind that the API server does not know is absent, like one that nobody made. Such an answer has no reason
/// that says so, only the code.
pub fn unless_absent<T>(answer: kube::Result<Option<T>>) -> kube::Result<Option<T>> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        answer => answer,
    }
}
