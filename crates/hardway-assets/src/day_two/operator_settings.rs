//! What operators read: trust, proxy, pull secret, registry, monitoring.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::objects::{Made, Settings};
use crate::pki::inspect;
use crate::yaml;

const CONFIG: &str = "openshift-config";

pub(super) fn trust(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(trust) = &settings.trust else { return };
    let field = "day2.trust.bundleFile";
    let Some(text) = made.public_text(field, &trust.bundle_file) else { return };
    let now = made.inputs.now;
    match inspect(text.expose_text()) {
        Ok(all) if !all.is_empty() => {
            for one in all {
                if !one.is_ca {
                    made.wrong(field, format!("{:?} is no CA's certificate", one.common_name));
                }
                if one.not_after <= now {
                    made.wrong(
                        field,
                        format!("{:?} has expired: its last second was {}", one.common_name, one.not_after),
                    );
                }
            }
        }
        _ => made.wrong(field, format!("{} holds no certificate in PEM", trust.bundle_file)),
    }
    made.config_map(CONFIG, "user-ca-bundle", "ca-bundle.crt", text.expose_text());
    made.object(proxy_object(&json!({"trustedCA": {"name": "user-ca-bundle"}})));
}

pub(super) fn proxy(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(proxy) = &settings.proxy else { return };
    let mut spec = json!({});
    for (key, value) in
        [("httpProxy", &proxy.http_proxy), ("httpsProxy", &proxy.https_proxy), ("noProxy", &proxy.no_proxy)]
    {
        if let Some(value) = value {
            spec[key] = value.as_str().into();
        }
    }
    made.object(proxy_object(&spec));
}

fn proxy_object(spec: &Value) -> Value {
    json!({
        "apiVersion": "config.openshift.io/v1", "kind": "Proxy", "metadata": {"name": "cluster"}, "spec": spec,
    })
}

pub(super) fn pull_secret(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(secret) = &settings.pull_secret else { return };
    let field = "day2.pullSecret.file";
    let Some(text) = made.text(field, &secret.file) else { return };
    let complaint = match serde_json::from_str::<Value>(text.expose_text()) {
        Err(_) => Some("is not JSON".to_owned()),
        Ok(value) => match value["auths"].as_object() {
            None => Some("has no auths".to_owned()),
            Some(auths) if auths.is_empty() => Some("has no registry in auths".to_owned()),
            Some(auths) => {
                let bad = auths.iter().find(|(_, login)| !is_login(login));
                bad.map(|(registry, _)| {
                    format!("has no auth of the form user:password in base64 for {registry}")
                })
            }
        },
    };
    if let Some(complaint) = complaint {
        made.wrong(field, format!("{} {complaint}", secret.file));
    }
    let data = [(".dockerconfigjson", text.expose_text().trim_end().as_bytes())];
    made.secret(CONFIG, "pull-secret", "kubernetes.io/dockerconfigjson", &data);
}

fn is_login(login: &Value) -> bool {
    let decoded = login["auth"].as_str().and_then(|auth| STANDARD.decode(auth).ok());
    decoded.is_some_and(|bytes| bytes.contains(&b':'))
}

pub(super) fn registry(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(registry) = &settings.registry else { return };
    let name = "day2-registry";
    let claim = claim(registry.size_gib, registry.storage_class.as_deref());
    made.object(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": "openshift-image-registry", "name": name}, "spec": claim,
    }));
    // One replica that ends before the next begins: most volumes are attached to one node at a time.
    made.object(json!({
        "apiVersion": "imageregistry.operator.openshift.io/v1", "kind": "Config", "metadata": {"name": "cluster"},
        "spec": {
            "managementState": "Managed", "replicas": 1, "rolloutStrategy": "Recreate",
            "storage": {"pvc": {"claim": name}},
        },
    }));
}

pub(super) fn monitoring(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(monitoring) = &settings.monitoring else { return };
    let retention = format!("{}d", monitoring.retention_days);
    let class = monitoring.storage_class.as_deref();
    let volume = |gib: u32| json!({"spec": claim(gib, class)});
    let prometheus = json!({"retention": retention, "volumeClaimTemplate": volume(monitoring.size_gib)});
    // Silences and notifications take little.
    let alertmanager = json!({"volumeClaimTemplate": volume(2)});
    let config = json!({
        "enableUserWorkload": monitoring.user_workloads, "prometheusK8s": prometheus, "alertmanagerMain": alertmanager,
    });
    made.config_map(
        "openshift-monitoring",
        "cluster-monitoring-config",
        "config.yaml",
        &yaml::write(&config),
    );
    if monitoring.user_workloads {
        let config = yaml::write(&json!({"prometheus": prometheus}));
        let namespace = "openshift-user-workload-monitoring";
        made.config_map(namespace, "user-workload-monitoring-config", "config.yaml", &config);
    }
}

fn claim(gib: u32, class: Option<&str>) -> Value {
    let mut claim = json!({
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": format!("{gib}Gi")}},
    });
    if let Some(class) = class {
        claim["storageClassName"] = class.into();
    }
    claim
}
