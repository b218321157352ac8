//! Asking one name server everything at once.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::message::{DnsAnswer, Question};

/// What one server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::preflight) struct ServerSeen {
    pub(super) address: IpAddr,
    /// Questions without an answer are missing.
    pub(super) answers: BTreeMap<Question, DnsAnswer>,
    /// What the system said about the server, if anything.
    pub(super) trouble: Option<String>,
}

impl ServerSeen {
    /// Whether it answered anything.
    pub(super) fn answers_at_all(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Sends all questions, again every second those that are open, until all are answered or patience ends.
    pub(super) fn ask(address: IpAddr, questions: &[Question], patience: Duration) -> Self {
        let mut seen = Self { address, answers: BTreeMap::new(), trouble: None };
        if let Err(error) = seen.exchange(questions, patience) {
            seen.trouble = Some(error.to_string());
        }
        seen
    }

    fn exchange(&mut self, questions: &[Question], patience: Duration) -> std::io::Result<()> {
        let from: IpAddr = match self.address {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((from, 0))?;
        socket.connect(SocketAddr::new(self.address, 53))?;
        let began = Instant::now();
        let mut buffer = [0; 4096];
        while began.elapsed() < patience {
            let open = questions.iter().enumerate().filter(|(_, asked)| !self.answers.contains_key(asked));
            let mut count = 0;
            for (number, question) in open {
                let Some(bytes) = u16::try_from(number).ok().and_then(|id| question.encode(id)) else {
                    continue;
                };
                socket.send(&bytes)?;
                count += 1;
            }
            if count == 0 {
                break;
            }
            self.listen(&socket, &mut buffer, questions, count)?;
        }
        Ok(())
    }

    /// Takes answers for a second, or until all have come.
    fn listen(
        &mut self,
        socket: &UdpSocket,
        buffer: &mut [u8],
        questions: &[Question],
        mut count: usize,
    ) -> std::io::Result<()> {
        let until = Instant::now() + AGAIN;
        while count > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            socket.set_read_timeout(Some(left))?;
            let length = match socket.recv(buffer) {
                Ok(length) => length,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let Some((id, answer)) = buffer.get(..length).and_then(DnsAnswer::decode) else { continue };
            if let Some(question) = questions.get(usize::from(id)) {
                count -= usize::from(self.answers.insert(question.clone(), answer).is_none());
            }
        }
        Ok(())
    }
}

const AGAIN: Duration = Duration::from_secs(1);
