//! What can be scraped, and what is done with it: the real Prometheus reads both.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hardway_assets::yaml;
use hardway_hosted::controller::{Metrics, MetricsServer};
use hardway_testing::{feed, free_port, run, skipped, succeed, until_found};
use serde_json::{Value, json};

const MONITORING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/hosted/monitoring");

/// What Prometheus itself takes of the PrometheusRule.
fn rules(folder: &Path) -> (Value, PathBuf) {
    let text = std::fs::read_to_string(Path::new(MONITORING).join("prometheus-rule.yaml")).unwrap();
    let rule = yaml::read(&text).unwrap().to_json();
    let path = folder.join("rules.json");
    std::fs::write(&path, rule["spec"].to_string()).unwrap();
    (rule["spec"]["groups"][0]["rules"].clone(), path)
}

fn has_prometheus() -> bool {
    let has = |name: &str| run(Command::new(name).arg("--version")).0;
    let all = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join("promtool").exists());
    if all && has("promtool") && has("prometheus") {
        return true;
    }
    skipped("prometheus is not installed");
    false
}

/// A worker that stands, a pool that lacks one, a certificate that ends: each alert fires, and not before its time.
#[test]
fn every_alert_fires_and_says_what_to_do() {
    if !has_prometheus() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (rules, path) = rules(folder.path());
    succeed(Command::new("promtool").args(["check", "rules"]).arg(&path));
    let alerts = rules.as_array().unwrap();
    for alert in alerts {
        for said in ["summary", "description", "runbook"] {
            assert!(alert["annotations"][said].as_str().is_some_and(|text| text.len() > 20), "{alert}");
        }
    }
    let series = |series: &str, values: &str| json!({"series": series, "values": values});
    let input = [
        series("hardway_hosted_leading{of=\"cluster\"}", "1+0x10 _x120"),
        series("hardway_hosted_workers_wanted{pool=\"demo\"}", "3+0x120"),
        series("hardway_hosted_workers_wanted{pool=\"none\"}", "2+0x120"),
        series("hardway_hosted_workers_wanted{pool=\"full\"}", "1+0x120"),
        series("hardway_hosted_workers{pool=\"demo\",stage=\"ready\"}", "2+0x120"),
        series("hardway_hosted_workers{pool=\"full\",stage=\"ready\"}", "1+0x120"),
        series("hardway_hosted_worker_trouble{worker=\"w-0\",reason=\"not-asked\"}", "1+0x120"),
        series("hardway_hosted_pool_held{pool=\"demo\",gate=\"payload\"}", "1+0x120"),
        series("hardway_hosted_steps_total{step=\"boot\",result=\"failed\"}", "0+1x120"),
        series("hardway_hosted_ovn_certificate_expiry_seconds", "86400+0x120"),
    ];
    let of = |name: &str| alerts.iter().find(|alert| alert["alert"] == name).unwrap();
    let expected = |name: &str, at: &str, labels: &[Value]| {
        let annotations = |labels: &Value, value: &str| -> Value {
            let mut told = of(name)["annotations"].clone();
            for text in told.as_object_mut().unwrap().values_mut() {
                let mut filled = text.as_str().unwrap().replace("{{ $value }}", value);
                for (label, value) in labels.as_object().unwrap() {
                    filled = filled.replace(&format!("{{{{ $labels.{label} }}}}"), value.as_str().unwrap());
                }
                *text = json!(filled);
            }
            told
        };
        let alerts: Vec<Value> = labels
            .iter()
            .map(|labels| {
                let mut all = labels.clone();
                let value = all.as_object_mut().unwrap().remove("value");
                let value = value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
                let annotations = annotations(&all, &value);
                all["severity"] = of(name)["labels"]["severity"].clone();
                json!({"exp_labels": all, "exp_annotations": annotations})
            })
            .collect();
        json!({"alertname": name, "eval_time": at, "exp_alerts": alerts})
    };
    let tests = [
        expected("HardwayHostedControllerDown", "8m", &[]),
        expected("HardwayHostedControllerDown", "30m", &[json!({})]),
        expected("HardwayHostedWorkersMissing", "29m", &[]),
        expected(
            "HardwayHostedWorkersMissing",
            "40m",
            &[json!({"pool": "demo", "value": "1"}), json!({"pool": "none", "value": "2"})],
        ),
        expected("HardwayHostedWorkerTrouble", "14m", &[]),
        expected("HardwayHostedWorkerTrouble", "20m", &[json!({"worker": "w-0", "reason": "not-asked"})]),
        expected("HardwayHostedPoolHeld", "40m", &[json!({"pool": "demo", "gate": "payload"})]),
        expected("HardwayHostedStepsFail", "60m", &[json!({"step": "boot", "result": "failed"})]),
        expected("HardwayHostedOvnCertificateEnds", "90m", &[json!({})]),
    ];
    let tested: Vec<&str> = tests.iter().map(|test| test["alertname"].as_str().unwrap()).collect();
    assert!(alerts.iter().all(|alert| tested.contains(&alert["alert"].as_str().unwrap())), "{tested:?}");
    let file = folder.path().join("tests.json");
    let text = json!({"rule_files": [path], "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": input, "alert_rule_test": tests}]});
    std::fs::write(&file, text.to_string()).unwrap();
    succeed(Command::new("promtool").args(["test", "rules"]).arg(&file));
}

/// The dashboard asks for nothing that nobody tells.
#[test]
fn the_dashboard_shows_what_is_told() {
    let text = std::fs::read_to_string(Path::new(MONITORING).join("dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let told = Metrics::sample().text();
    let mut asked = 0;
    let panels = dashboard["panels"].as_array().unwrap();
    for expression in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let expression = expression["expr"].as_str().unwrap();
        for word in expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            if word.starts_with("hardway_") {
                assert!(told.contains(&format!("# TYPE {word} ")), "{word}");
                asked += 1;
            }
        }
    }
    assert!(asked > 8, "{asked}");
}

/// A real Prometheus scrapes, and knows the rules.
#[tokio::test(flavor = "multi_thread")]
async fn real_prometheus_scrapes_what_a_controller_tells() {
    if !has_prometheus() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let metrics = Arc::new(Metrics::sample());
    feed(Command::new("promtool").args(["check", "metrics"]), &metrics.text());
    let server = MetricsServer::start(SocketAddr::from(([127, 0, 0, 1], 0)), metrics).await.unwrap();
    let (_, rules) = rules(folder.path());
    let config = json!({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [rules],
        "scrape_configs": [{"job_name": "hardway-hosted", "static_configs": [{"targets": [server.address().to_string()]}]}],
    });
    let file = folder.path().join("prometheus.json");
    std::fs::write(&file, config.to_string()).unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let mut prometheus = Command::new("prometheus")
        .arg(format!("--config.file={}", file.display()))
        .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
        .arg(format!("--web.listen-address={listen}"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let ask = |path: &str| -> Option<Value> {
        let url = format!("http://{listen}/api/v1/{path}");
        let (is_good, printed) = tokio::task::block_in_place(|| {
            run(Command::new("curl").args(["--silent", "--fail", "--globoff", &url]))
        });
        is_good.then(|| serde_json::from_str(&printed).ok()).flatten()
    };
    let found = until_found("the scraped number", async || {
        let answer = ask("query?query=hardway_hosted_workers_wanted")?;
        let value = answer["data"]["result"][0]["value"][1].as_str()?.to_owned();
        Some(value)
    })
    .await;
    let alerts = ask("rules").unwrap();
    prometheus.kill().unwrap();
    prometheus.wait().unwrap();
    assert_eq!(found, "3");
    assert_eq!(alerts["data"]["groups"][0]["rules"].as_array().unwrap().len(), 6);
}
