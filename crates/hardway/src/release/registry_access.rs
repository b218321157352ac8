//! How registries are reached: as whom, trusting whom, which way, and where else images may be.
//!
//! ```text
//! credentials   --pull-secret alone; else pullSecret of the install-config, then this host's logins as podman finds them
//! trust         the system's CAs, --trust-bundle, additionalTrustBundle of the install-config
//! way           HTTPS_PROXY and the like; else proxy of the install-config
//! mirrors       imageDigestSources and imageContentSources of the install-config
//! ```

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hardway_assets::install_config::ImageSource;
use hardway_assets::yaml;
use hardway_base::Secret;
use hardway_release::{
    BlobCache, Connection, Credentials, CredentialsError, FetchOptions, Mirrors, Proxy, PullSpec, Retry,
};
use serde_json::Value;

use super::{RegistryOptions, ReleaseOptions};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Whose credentials count where the command line names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logins {
    /// The pull secret of the install-config alone, as for the cluster's own nodes.
    OfCluster,
    /// This host's too, such as those of `podman login`.
    OfHost,
}

/// Everything about reaching registries that flags, an install-config and this host say. `install_config` is the text
/// of the file, which may still have mistakes: which release it must suit is known only after a fetch. `named`
/// are the images of the command line: whoever asks for plain HTTP means their registries.
pub(crate) fn fetch_options(
    registry: &RegistryOptions,
    install_config: Option<&str>,
    named: &[&PullSpec],
    logins: Logins,
    out: &Output,
) -> Result<FetchOptions, Report> {
    let cache = BlobCache::of_user().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    fetch_options_with(cache, registry, install_config, named, logins, out)
}

/// The same, where blobs are kept elsewhere than in the user's home.
pub(crate) fn fetch_options_with(
    cache: BlobCache,
    registry: &RegistryOptions,
    install_config: Option<&str>,
    named: &[&PullSpec],
    logins: Logins,
    out: &Output,
) -> Result<FetchOptions, Report> {
    let config = install_config.map(|text| read(text, out)).unwrap_or_default();
    let mut options = FetchOptions::new(cache);
    options.connection = Connection {
        credentials: credentials(registry, &config, logins, out)?,
        trust_bundle: trust_bundle(registry, &config)?,
        proxy: proxy(&config, out),
        plain_http: plain_http(registry, named),
        retry: Retry { tell: Some(out.warn_callback()), ..Retry::default() },
        ..Connection::default()
    };
    options.mirrors = mirrors(&config)?;
    if let Some(architecture) = config["controlPlane"]["architecture"].as_str() {
        architecture.clone_into(&mut options.architecture);
    }
    Ok(options)
}

/// Reads every file that the command line names, also where no registry will be asked: a file that is not there, or is something
/// else, is a mistake whoever needs it today.
pub(super) fn read_named(options: &ReleaseOptions) -> Result<(), Report> {
    let ReleaseOptions { registry, signature, .. } = options;
    for path in registry.trust_bundle.iter().chain(&signature.keyring).chain(&signature.files) {
        fs_err::read(path).map_err(|error| usage(&error))?;
    }
    registry.pull_secret.as_deref().map(pull_secret).transpose().map(drop)
}

/// The install-config as data; nothing of one that is no YAML.
fn read(text: &str, out: &Output) -> Value {
    yaml::read(text).map(|node| node.to_json()).unwrap_or_else(|_| {
        out.warn(
            "install-config.yaml is not valid YAML: its pull secret, mirrors, proxy and trust bundle are not used",
        );
        Value::Null
    })
}

fn credentials(
    registry: &RegistryOptions,
    config: &Value,
    logins: Logins,
    out: &Output,
) -> Result<Credentials, Report> {
    if let Some(path) = &registry.pull_secret {
        out.debug(&format!("credentials: {}", path.display()));
        return pull_secret(path);
    }
    let mut found = Credentials::default();
    if let Some(text) = config["pullSecret"].as_str().filter(|text| !text.trim().is_empty()) {
        out.debug("credentials: pullSecret of install-config.yaml");
        found = Credentials::read(&Secret::new(text)).map_err(|error| bad_secret(&error))?;
    }
    for path in if logins == Logins::OfHost { login_files() } else { Vec::new() } {
        let text = match fs_err::read(&path) {
            Ok(text) => Secret::new(text),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                out.warn(&format!("{error}: not used"));
                continue;
            }
        };
        match Credentials::read(&text) {
            Ok(more) => {
                out.debug(&format!("credentials: {}", path.display()));
                found = found.or(more);
            }
            // A configuration of docker without any logins.
            Err(CredentialsError::NoAuths) => {}
            Err(error) => out.warn(&format!("{}: {error}: not used", path.display())),
        }
    }
    Ok(found)
}

fn pull_secret(path: &Path) -> Result<Credentials, Report> {
    let text = fs_err::read(path).map_err(|error| usage(&error))?;
    let named = |report: Report| Report { what: format!("{}: {}", path.display(), report.what), ..report };
    let read = Credentials::read(&Secret::new(text));
    read.map_err(|error| named(bad_secret(&error)).exit(Exit::Usage))
}

fn bad_secret(error: &CredentialsError) -> Report {
    Report::from_error(Code::PullSecretInvalid, error)
        .fix("copy all of it again: {\"auths\":{…}} on one line, as the console shows it")
}

/// Where logins are on this host, in the order of oc and podman (openshift/oc `pkg/cli/image/manifest`,
/// containers/image `pkg/docker/config`). A file that the environment names is the only one.
fn login_files() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = variable("REGISTRY_AUTH_FILE") {
        return vec![file];
    }
    let user = || fs_err::metadata("/proc/self").ok().map(|process| process.uid().to_string());
    let home = variable("HOME");
    let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let runtime = variable("XDG_RUNTIME_DIR")
        .map(|dir| dir.join("containers"))
        .or_else(|| user().map(|id| PathBuf::from("/run/containers").join(id)));
    let config = variable("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
    let docker = variable("DOCKER_CONFIG").or_else(|| below_home(".docker"));
    [
        runtime.map(|dir| dir.join("auth.json")),
        config.map(|dir| dir.join("containers/auth.json")),
        docker.map(|dir| dir.join("config.json")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn trust_bundle(registry: &RegistryOptions, config: &Value) -> Result<String, Report> {
    let mut bundle = config["additionalTrustBundle"].as_str().unwrap_or_default().to_owned();
    if let Some(path) = &registry.trust_bundle {
        bundle.push('\n');
        bundle += &fs_err::read_to_string(path).map_err(|error| usage(&error))?;
    }
    Ok(bundle)
}

/// What this host's environment says is about this host; the install-config speaks of the cluster's nodes, which mostly
/// share its network.
fn proxy(config: &Value, out: &Output) -> Proxy {
    let text = |key: &str| config["proxy"][key].as_str().unwrap_or_default().to_owned();
    let (http, https, no_proxy) = (text("httpProxy"), text("httpsProxy"), text("noProxy"));
    if host_has_proxy() || (http.is_empty() && https.is_empty()) {
        return Proxy::Environment;
    }
    out.debug("using the proxy of install-config.yaml for registries");
    Proxy::Through { http, https, no_proxy }
}

/// Whether this host's environment names a proxy.
pub(crate) fn host_has_proxy() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    names.into_iter().any(is_set)
}

/// Registries that are asked without TLS.
pub(crate) fn plain_http(registry: &RegistryOptions, named: &[&PullSpec]) -> Vec<String> {
    let all = registry.plain_http.iter().filter(|registry| registry.is_empty());
    let mut found: Vec<String> = all.flat_map(|_| named.iter().map(|image| image.registry())).collect();
    found.extend(registry.plain_http.iter().filter(|registry| !registry.is_empty()).cloned());
    found
}

fn mirrors(config: &Value) -> Result<Mirrors, Report> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lists = ["imageDigestSources", "imageContentSources"].map(|key| config[key].as_array());
    let sources: Vec<ImageSource> = lists
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| ImageSource {
            source: text(&entry["source"]),
            mirrors: entry["mirrors"].as_array().into_iter().flatten().map(text).collect(),
            source_policy: text(&entry["sourcePolicy"]),
        })
        .collect();
    Mirrors::new(&sources).map_err(|error| Report::from_error(Code::ConfigInvalid, &error))
}

fn usage(error: &std::io::Error) -> Report {
    Report::from_error(Code::Usage, error)
}
