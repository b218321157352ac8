//! What a service account may do, and what it did: the API server says both.

use std::collections::BTreeSet;
use std::fmt;

use fs_err as fs;
use serde_json::Value;

use crate::ControlPlane;
use crate::tools::{feed, succeed};

/// One verb on one kind of thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Right {
    /// None where it holds everywhere.
    namespace: Option<String>,
    /// `resource.group/subresource`.
    resource: String,
    /// None where it holds for all.
    name: Option<String>,
    verb: String,
}

/// What every account may ask about itself is no right of this one, and this namespace is nobody's.
const NOBODYS: &str = "kube-node-lease";

const POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}]}"#;

impl ControlPlane {
    /// From now on the API server writes down what service accounts ask for.
    ///
    /// # Panics
    /// When it does not start again.
    pub fn write_down_what_accounts_ask(&mut self) {
        fs::write(self.folder().join("audit-policy.json"), POLICY).unwrap();
        self.kill_api_server();
        let flags = ["--audit-policy-file=audit-policy.json", "--audit-log-path=audit.log"];
        self.start_api_server_with(&flags, &self.kubeconfig());
    }

    /// The service account could do all it wanted, and used every right that it has in these namespaces and everywhere.
    ///
    /// # Panics
    /// With the rights that were missing, and those that nobody needs.
    pub fn has_exactly_the_rights_it_used(&self, namespace: &str, account: &str, namespaces: &[&str]) {
        let user = format!("system:serviceaccount:{namespace}:{account}");
        let (used, refused) = self.used_by(&user);
        assert!(refused.is_empty(), "{user} was refused: {}", listed(&refused));
        let rights = self.rights_of(&user, namespace, namespaces);
        let idle: BTreeSet<Right> =
            rights.iter().filter(|right| !used.iter().any(|use_| right.covers(use_))).cloned().collect();
        assert!(
            idle.is_empty(),
            "{user} has rights that it never used: {}\nused: {}",
            listed(&idle),
            listed(&used)
        );
        let beyond: BTreeSet<Right> =
            used.iter().filter(|use_| !rights.iter().any(|right| right.covers(use_))).cloned().collect();
        assert!(beyond.is_empty(), "{user} used what no list shows: {}", listed(&beyond));
    }

    /// As `kubectl auth can-i --list` prints them.
    fn rights_of(&self, user: &str, namespace: &str, namespaces: &[&str]) -> BTreeSet<Right> {
        // The tests' control plane lets everybody ask for certificates; that is no right of this account.
        let ask = succeed(self.kubectl().args(["get", "clusterrolebinding", "ask", "-o", "json"]));
        succeed(self.kubectl().args(["delete", "clusterrolebinding", "ask"]));
        let group = format!("system:serviceaccounts:{namespace}");
        let list = |namespace: &str| -> BTreeSet<Right> {
            let mut list = self.kubectl();
            list.args(["auth", "can-i", "--list", "--no-headers", "-n", namespace, "--as", user]);
            list.args(["--as-group=system:serviceaccounts", "--as-group", &group]);
            list.arg("--as-group=system:authenticated");
            succeed(&mut list).lines().flat_map(rights_in).collect()
        };
        let everywhere = list(NOBODYS);
        let mut rights = everywhere.clone();
        for namespace in namespaces {
            let own = list(namespace).into_iter().filter(|right| !everywhere.contains(right));
            rights.extend(own.map(|right| Right { namespace: Some((*namespace).to_owned()), ..right }));
        }
        feed(self.kubectl().args(["create", "-f", "-"]), &ask);
        rights
    }

    /// What the user did, and what it was refused.
    fn used_by(&self, user: &str) -> (BTreeSet<Right>, BTreeSet<Right>) {
        let (mut used, mut refused) = (BTreeSet::new(), BTreeSet::new());
        let log = self.read("audit.log");
        let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for event in events.filter(|event| event["user"]["username"] == user) {
            let Some(use_) = Right::of_event(&event) else { continue };
            match event["responseStatus"]["code"].as_u64() {
                Some(401 | 403) => _ = refused.insert(use_),
                code => {
                    // What is applied and was not there is made, and asks for that right too.
                    if use_.verb == "patch" && code == Some(201) {
                        used.insert(Right { verb: "create".to_owned(), ..use_.clone() });
                    }
                    // Whoever approves is asked for a right to the signer as well.
                    if use_.resource == "certificatesigningrequests.certificates.k8s.io/approval" {
                        used.extend(SIGNERS.iter().map(|signer| Right {
                            namespace: None,
                            resource: "signers.certificates.k8s.io".to_owned(),
                            name: Some((*signer).to_owned()),
                            verb: "approve".to_owned(),
                        }));
                    }
                    used.insert(use_);
                }
            }
        }
        (used, refused)
    }
}

/// Those of kubelets: tests have both approved for.
const SIGNERS: [&str; 2] = ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"];

impl Right {
    /// None for what is no object, and for questions about oneself.
    fn of_event(event: &Value) -> Option<Self> {
        let object = &event["objectRef"];
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let mut resource = text(&object["resource"])?;
        if resource.starts_with("selfsubject") {
            return None;
        }
        if let Some(group) = text(&object["apiGroup"]) {
            resource += &format!(".{group}");
        }
        if let Some(sub) = text(&object["subresource"]) {
            resource += &format!("/{sub}");
        }
        let verb = text(&event["verb"])?;
        Some(Self { namespace: text(&object["namespace"]), resource, name: text(&object["name"]), verb })
    }

    fn covers(&self, use_: &Self) -> bool {
        let fits = |own: &Option<String>, its: &Option<String>| own.is_none() || own == its;
        self.verb == use_.verb
            && self.resource == use_.resource
            && fits(&self.namespace, &use_.namespace)
            && fits(&self.name, &use_.name)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
        write!(f, "{} {} {} in {}", self.verb, self.resource, part(&self.name), part(&self.namespace))
    }
}

/// `nodes   []   []   [get list watch]`, where the columns are resource, URLs, names and verbs.
fn rights_in(line: &str) -> Vec<Right> {
    let mut columns: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        match columns.last_mut().filter(|last| last.starts_with('[') && !last.ends_with(']')) {
            Some(open) => *open += &format!(" {word}"),
            None => columns.push(word.to_owned()),
        }
    }
    let Ok([resource, _urls, names, verbs]) = <[String; 4]>::try_from(columns) else { return Vec::new() };
    if resource.starts_with("selfsubject") {
        return Vec::new();
    }
    let words = |list: &str| -> Vec<String> {
        list.trim_matches(['[', ']']).split_whitespace().map(str::to_owned).collect()
    };
    let mut names: Vec<Option<String>> = words(&names).into_iter().map(Some).collect();
    if names.is_empty() {
        names.push(None);
    }
    let all =
        names.into_iter().flat_map(|name| words(&verbs).into_iter().map(move |verb| (name.clone(), verb)));
    all.map(|(name, verb)| Right { namespace: None, resource: resource.clone(), name, verb }).collect()
}

fn listed(rights: &BTreeSet<Right>) -> String {
    rights.iter().map(|right| format!("\n  {right}")).collect()
}
