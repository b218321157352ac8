//! Trying again: how often and how long to wait in between.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::RegistryError;

/// Waits, or in tests only says that it would.
pub trait Sleeper: Send + Sync {
    /// Ends after the duration.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Really waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealSleeper;

impl Sleeper for RealSleeper {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// When to give up on a registry.
#[derive(Clone)]
pub struct Retry {
    /// Tries in a row without any progress, the first included.
    pub attempts: u32,
    /// Waits between them.
    pub sleeper: Arc<dyn Sleeper>,
    /// Told why and when it is tried again: who waits wants to know for what.
    pub tell: Option<Tell>,
}

/// Takes a sentence.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 5, sleeper: Arc::new(RealSleeper), tell: None }
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("attempts", &self.attempts).finish_non_exhaustive()
    }
}

const LONGEST: Duration = Duration::from_secs(30);
/// Servers that are being worked on ask for more; then it is better to hear of the error.
const LONGEST_ASKED: Duration = Duration::from_secs(120);

/// The pause that an answer asks for, where it gives it in seconds (RFC 9110 10.2.3).
pub(crate) fn asked_wait(answer: &reqwest::Response) -> Option<Duration> {
    let text = answer.headers().get("retry-after")?.to_str().ok()?;
    Some(Duration::from_secs(text.trim().parse().ok()?))
}

impl Retry {
    /// Runs until it succeeds, fails for good, or has failed often enough.
    pub(crate) async fn run<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, RegistryError>
    where
        F: Future<Output = Result<T, RegistryError>>,
    {
        let mut failed = 0;
        loop {
            let error = match attempt().await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            failed += 1;
            self.wait_after(failed, error).await?;
        }
    }

    /// Waits before the next try, or gives the error back where there is none.
    pub(crate) async fn wait_after(&self, failed: u32, error: RegistryError) -> Result<(), RegistryError> {
        // Somebody is there and says no: it may be starting, but not for long.
        let attempts = if error.is_refused_connection() { self.attempts.min(2) } else { self.attempts };
        if !error.is_transient() || failed >= attempts {
            return Err(error);
        }
        let delay = delay(failed, &error);
        if let Some(tell) = &self.tell {
            tell(&format!("{error}; retrying in {} s", delay.as_secs()));
        }
        self.sleeper.sleep(delay).await;
        Ok(())
    }
}

/// As long as the server asks. Else one second, doubled each time; a registry that counts requests is given twice that,
/// as oc does.
fn delay(failed: u32, error: &RegistryError) -> Duration {
    if let RegistryError::TooManyRequests { wait: Some(wait), .. }
    | RegistryError::Server { wait: Some(wait), .. } = error
    {
        return (*wait).min(LONGEST_ASKED);
    }
    let first = if matches!(error, RegistryError::TooManyRequests { .. }) { 2 } else { 1 };
    Duration::from_secs(first << (failed - 1).min(5)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<u64>>);

    impl Sleeper for Arc<Recorder> {
        fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            self.0.lock().unwrap().push(duration.as_secs());
            Box::pin(std::future::ready(()))
        }
    }

    fn run(errors: Vec<RegistryError>) -> (Result<(), RegistryError>, Vec<u64>) {
        let recorder = Arc::new(Recorder::default());
        let retry = Retry { attempts: 5, sleeper: Arc::new(Arc::clone(&recorder)), tell: None };
        let mut errors = errors.into_iter();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(retry.run(|| std::future::ready(errors.next().map_or(Ok(()), Err))));
        let waits = recorder.0.lock().unwrap().clone();
        (result, waits)
    }

    fn server_error() -> RegistryError {
        RegistryError::Server { registry: "r".to_owned(), status: 503, detail: String::new(), wait: None }
    }

    #[test]
    fn waits_double_and_end() {
        let (result, waits) = run(vec![server_error(), server_error()]);
        assert!(result.is_ok());
        assert_eq!(waits, [1, 2]);
        let (result, waits) = run((0..9).map(|_| server_error()).collect());
        assert!(matches!(result, Err(RegistryError::Server { status: 503, .. })));
        assert_eq!(waits, [1, 2, 4, 8]);
        let busy = || RegistryError::TooManyRequests { registry: "r".to_owned(), wait: None };
        assert_eq!(run(vec![busy(), busy(), busy()]).1, [2, 4, 8]);
        assert_eq!(delay(30, &busy()), LONGEST);
        let asked = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(run(vec![busy().waiting(asked(7)), server_error().waiting(asked(0))]).1, [7, 0]);
        assert_eq!(delay(1, &busy().waiting(asked(9999))), LONGEST_ASKED);
    }

    #[test]
    fn a_host_that_refuses_is_asked_twice() {
        let refused = || RegistryError::Unreachable {
            registry: "r".to_owned(),
            detail: "Connection refused (os error 111)".to_owned(),
        };
        let (result, waits) = run(vec![refused(), refused(), refused()]);
        assert!(result.is_err());
        assert_eq!(waits, [1]);
    }

    #[test]
    fn what_will_not_change_is_not_tried_again() {
        let (result, waits) = run(vec![RegistryError::UnknownCa { registry: "r".to_owned() }]);
        assert!(result.is_err());
        assert!(waits.is_empty());
    }
}
