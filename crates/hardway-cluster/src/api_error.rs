//! Errors of the API client as one sentence, with the cause that matters.

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
