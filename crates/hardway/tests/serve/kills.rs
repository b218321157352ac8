//! Killed in the middle of redemptions, again and again: no record is lost, and none is invented.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hardway_journal::IgnitionRedeemed;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::site::{Folder, HOSTS};
use crate::client::Client;

#[derive(Default)]
struct Counts {
    sent: AtomicUsize,
    answered: AtomicUsize,
}

/// A server writes down each of so many fetches of one host; later ones are counted together, so they would not be in the journal one by one.
const ALL_WRITTEN_DOWN: usize = 8;

/// Asks until the server is gone, or until further fetches would no longer get a line each.
async fn ask_on(client: Client, text: String, counts: Arc<Counts>, is_over: Arc<AtomicBool>) {
    let mut asked = 0;
    while asked < ALL_WRITTEN_DOWN && !is_over.load(Ordering::SeqCst) {
        if let Ok(stream) = client.connect().await {
            let _ = ask(stream, &text, &counts).await;
            asked += 1;
        }
    }
}

/// A request counts as sent before its first byte is, and as answered when the first bytes of the answer are there.
async fn ask(mut stream: TlsStream<TcpStream>, text: &str, counts: &Counts) -> std::io::Result<()> {
    counts.sent.fetch_add(1, Ordering::SeqCst);
    stream.write_all(text.as_bytes()).await?;
    stream.flush().await?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    assert_eq!(&head, b"HTTP/1.1 200");
    counts.answered.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_redemption_is_lost_and_none_is_invented() {
    let folder = Folder::made();
    let totals: BTreeMap<&str, Arc<Counts>> = HOSTS.iter().map(|host| (*host, Arc::default())).collect();
    for round in 0..8_u64 {
        let mut serving = folder.serve(&[]);
        let is_over = Arc::new(AtomicBool::new(false));
        let before: usize = totals.values().map(|counts| counts.answered.load(Ordering::SeqCst)).sum();
        let clients: Vec<_> = totals
            .iter()
            .map(|(host, counts)| {
                let text = folder.request(host).text();
                tokio::spawn(ask_on(serving.client(), text, counts.clone(), is_over.clone()))
            })
            .collect();
        // Into the thick of it: some were answered, more are under way.
        let answered = || totals.values().map(|counts| counts.answered.load(Ordering::SeqCst)).sum::<usize>();
        while answered() < before + 5 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(round * 3)).await;
        serving.signal("KILL");
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(serving.exit(), None, "killed by a signal");
        for client in clients {
            client.await.unwrap();
        }
    }
    let records = hardway_journal::read(&folder.path("journal.jsonl")).unwrap();
    let mut recorded: BTreeMap<String, usize> = BTreeMap::new();
    for fact in records.iter().filter_map(hardway_journal::Record::fact::<IgnitionRedeemed>) {
        *recorded.entry(fact.unwrap().host).or_default() += 1;
    }
    for (host, counts) in totals {
        let (sent, answered) = (counts.sent.load(Ordering::SeqCst), counts.answered.load(Ordering::SeqCst));
        let recorded = recorded.get(host).copied().unwrap_or_default();
        assert!(answered <= recorded, "{host}: {answered} answered, only {recorded} recorded");
        assert!(recorded <= sent, "{host}: {recorded} recorded, only {sent} asked for");
        assert!(answered > 0, "{host} was never served");
    }
    // And it goes on from there.
    let serving = folder.serve(&[]);
    assert_eq!(serving.client().ask("GET", "/readyz", &[]).await.status, 200);
    assert_eq!(serving.end().code, Some(0));
}
