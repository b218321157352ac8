//! Why a decision was taken: a word that stays the same in journals, events, pages and scripts.

use std::fmt;

use hardway_journal::Reason;
use serde::{Deserialize, Serialize};

use super::CsrVerdict;

/// One row per reason: variant, word, verdict, and what a person can do about it. A verdict `Hold for now` may be another a
/// little later, without the request or the inventory being changed.
macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident, $word:literal, $verdict:ident $(for $now:ident)?, $fix:literal;)+) => {
        /// Why. `hardway explain <word>` says more about each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ReasonCode { $($(#[$doc])* $variant,)+ }

        impl ReasonCode {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// What becomes of a request for this reason.
            pub fn verdict(self) -> CsrVerdict {
                match self { $(Self::$variant => CsrVerdict::$verdict,)+ }
            }

            /// Whether it may be otherwise a little later, without the request or the inventory being changed.
            pub fn changes_with_time(self) -> bool {
                match self { $(Self::$variant => false $(|| stringify!($now) == "now")?,)+ }
            }

            /// What a person can do; empty where there is nothing to do.
            pub fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)+ }
            }
        }
    };
}

#[rustfmt::skip]
reasons! {
    /// A declared node that is not in the cluster yet asks to become a client.
    FirstClient, "first-client", Approve, "";
    /// A node that was installed again, or that is let in again, asks to become a client.
    Rejoin, "rejoin", Approve, "";
    /// A node asks for its next client certificate.
    ClientRenewal, "client-renewal", Approve, "";
    /// A node asks for its first serving certificate.
    FirstServing, "first-serving", Approve, "";
    /// A node asks for its next serving certificate.
    ServingRenewal, "serving-renewal", Approve, "";

    /// It is for a signer that is no kubelet's.
    SignerNotOurs, "signer-not-ours", Leave, "";
    /// No kubelet calls a request like that.
    RequestNameOdd, "request-name-odd", Leave, "look who made it: kubelets call theirs csr- or node-csr- and random letters";
    /// It is decided already.
    NotPending, "not-pending", Leave, "";

    /// It is many times larger than a kubelet's.
    RequestTooLarge, "request-too-large", Hold, "inspect it with `oc get csr NAME -o yaml`; it does not come from a kubelet";
    /// It asks for a certificate that lives too long.
    LifetimeTooLong, "lifetime-too-long", Hold, "if such a lifetime is wanted, raise --longest-lifetime";
    /// It was made at a time that has not come yet.
    FromTheFuture, "from-the-future", Hold for now, "correct the clock of this host or of the API server: they differ";
    /// Its kubelet no longer waits for it.
    Abandoned, "abandoned", Hold, "nothing to do: the kubelet sends a new request; if it does not, check its journal";

    /// Not one PEM block of a certificate request.
    PemMalformed, "pem-malformed", Deny, "find out who created it; kubelets do not";
    /// Not a PKCS#10 request.
    Pkcs10Malformed, "pkcs10-malformed", Deny, "find out who created it; kubelets do not";
    /// Not signed with the key it is about.
    CsrSignatureInvalid, "csr-signature-invalid", Deny, "find out who created it: the requester does not have the key";
    /// A key that can be broken.
    KeyTooWeak, "key-too-weak", Deny, "find out who created it: kubelets use ECDSA keys on P-256";
    /// A key or signature of a kind that kubelets do not make.
    KeyNotAllowed, "key-not-allowed", Hold, "if this key is intended, approve the request by hand: oc adm certificate approve NAME";
    /// It asks to sign others.
    AsksForCa, "asks-for-ca", Deny, "find out who created it: a node that can sign certificates can impersonate anyone";
    /// An extension that kubelets do not ask for.
    ExtensionNotAllowed, "extension-not-allowed", Hold, "inspect it with openssl req -text; kubelets do not request this";
    /// An attribute that kubelets do not write.
    AttributeNotAllowed, "attribute-not-allowed", Hold, "inspect it with openssl req -text; it does not come from a kubelet";

    /// The common name is not that of a node.
    NotANode, "not-a-node", Deny, "find out who created it: these signers are for kubelets only";
    /// No Node can have that name.
    NodeNameInvalid, "node-name-invalid", Deny, "find out who created it; no kubelet can have that name";
    /// The machine does not know its name.
    NodeNameLocalhost, "node-name-localhost", Hold, "give the machine its name: /etc/hostname in its config, reverse DNS, or DHCP";
    /// Other groups than a node's.
    OrganizationNotNodes, "organization-not-nodes", Deny, "find out who created it: it requests groups that no node has";
    /// More in the subject than group and name.
    SubjectExtra, "subject-extra", Deny, "find out who created it; a kubelet's subject is its group and its name";
    /// No such host in the inventory.
    NodeNotDeclared, "node-not-declared", Hold, "add the host to inventory.yaml, or find out which machine sent the request";
    /// A host of the inventory under another name.
    NodeNamedOtherwise, "node-named-otherwise", Hold, "a machine takes its name from /etc/hostname, else from DHCP (option 12), else from the PTR record of its address: make that the expected name, then run `hostnamectl set-hostname` on the machine, remove /var/lib/kubelet/pki and /var/lib/kubelet/kubeconfig, and reboot";

    /// A first client certificate, and not asked for by an identity that hosts have.
    RequesterNotBootstrapper, "requester-not-bootstrapper", Hold, "find out who created it; if that is legitimate: oc adm certificate approve NAME";
    /// The bootstrap identity with other groups than its own.
    BootstrapperGroupsDiffer, "bootstrapper-groups-differ", Hold, "find out how the bootstrap identity got these groups";
    /// The identity that machines of a pool share, for a host that has its own.
    SharedIdentity, "shared-identity", Deny, "the host boots from ignition/HOST.ign and uses the identity in it: find out who else uses its name; if it boots from a stock pointer, set stockPointer: true in inventory.yaml; if it was installed by an older hardway and was off for a long time: hardway certs recover; for a hosted worker: hardway hosted workers replace NAME";
    /// The identity of a generation that is over.
    IdentityReplaced, "identity-replaced", Deny, "the requester has an old config of the host: find out which machine it is; if it is the host itself: hardway certs recover, or reinstall it with its new config";
    /// The identity of another host.
    IdentityOfAnotherHost, "identity-of-another-host", Deny, "isolate the host with this identity: it tries to impersonate another host";
    /// An identity of the host that is newer than what is known here.
    IdentityUnknown, "identity-unknown", Hold for now, "give this approver new output of `hardway approve declared`, from the folder that made the identity";
    /// A node's certificate, asked for by another node.
    AskedByAnotherNode, "asked-by-another-node", Deny, "isolate the requesting node: it tries to impersonate another one";
    /// A serving certificate, asked for with the bootstrap identity.
    BootstrapperAsksToServe, "bootstrapper-asks-to-serve", Deny, "find out who else has the bootstrap kubeconfig: kubelets request serving certificates as themselves";
    /// A serving certificate, asked for by somebody who is no node.
    RequesterNotANode, "requester-not-a-node", Hold, "find out who created it; if that is legitimate: oc adm certificate approve NAME";
    /// A node with other groups than a node's.
    NodeGroupsDiffer, "node-groups-differ", Hold, "find out how the node got these groups";

    /// A first client certificate for a machine that was not switched on yet.
    AskedBeforeBoot, "asked-before-boot", Deny, "find out who sent it: another machine has the pool's identity or a copy of the machine's; if it was the machine itself, the clocks of controller and API server differ, and it sends a new request";

    /// Other usages than those of its signer.
    UsagesNotAllowed, "usages-not-allowed", Deny, "find out who created it; kubelets do not request these";

    /// A client certificate with names.
    ClientHasNames, "client-has-names", Deny, "find out who created it; a client certificate needs no names";
    /// A serving certificate without any name.
    NoNames, "no-names", Deny, "nothing to do: such a certificate is useless, and the kubelet sends a new request";
    /// A name of a kind that kubelets do not use.
    NameKindNotAllowed, "name-kind-not-allowed", Deny, "find out who created it; kubelets only request DNS names and IP addresses";
    /// Not a DNS name.
    NameMalformed, "name-malformed", Deny, "find out who created it; no kubelet can have this name";
    /// A name that stands for many.
    WildcardName, "wildcard-name", Deny, "find out who created it: it requests a wildcard certificate";
    /// The name of another node, of the API or of a service.
    NameBelongsToAnother, "name-belongs-to-another", Deny, "isolate the requesting node: it tries to impersonate another one";
    /// A name that the inventory does not give to that host.
    NameNotDeclared, "name-not-declared", Hold, "a node may only serve under its own name; find out how it got another";
    /// Loopback, a service's or a pod's address, or none at all.
    AddressReserved, "address-reserved", Deny, "check the node's addresses: this one cannot belong to a host";
    /// The address of another host, or one the cluster is reached at.
    AddressBelongsToAnother, "address-belongs-to-another", Deny, "isolate the requesting node, or find out whether two machines have this address";
    /// An address that the inventory does not give to that host.
    AddressNotDeclared, "address-not-declared", Hold, "if the host has that address, add it to its `ip` in inventory.yaml";

    /// A first client certificate for a node that is in the cluster.
    NodeExists, "node-exists", Hold, "if the machine was off for a long time: hardway certs recover; if it was reinstalled: hardway node replace HOST --apply; if it boots from a stock pointer: hardway approve --rejoin NODE";
    /// A certificate for a node that is not in the cluster.
    NodeMissing, "node-missing", Hold for now, "nothing to do if the node is about to register; otherwise find out why it was removed";
    /// The node reports addresses, and none that it was declared with.
    NodeElsewhere, "node-elsewhere", Hold for now, "check whether two machines have the same name, or correct `ip` in inventory.yaml";

    /// The host has not fetched its config.
    IgnitionNotRedeemed, "ignition-not-redeemed", Hold for now, "if the host got its config another way: --ignition ignored";
    /// Somebody with another address fetched the host's config.
    IgnitionRedeemedElsewhere, "ignition-redeemed-elsewhere", Hold, "find out who fetched it: they can impersonate the host until `hardway node replace HOST --apply`; if it was the host itself, before you corrected its address: stop what installs, and run hardway approve --ignition ignored";
    /// Too long after the host fetched its config, or before.
    OutsideJoinWindow, "outside-join-window", Hold for now, "if the install took that long: --join-window, or reinstall the host";

    /// A newer one of the same node takes its place.
    Superseded, "superseded", Deny, "";
    /// Two keys ask for one name at the same time.
    Contested, "contested", Hold for now, "if a kubelet was restarted, wait 15 minutes; otherwise two machines have the same name";
    /// Another key has a client certificate of that name already.
    AlreadyApproved, "already-approved", Hold for now, "if the kubelet was restarted before its request was answered, wait 15 minutes; if the machine was reinstalled: hardway node replace HOST --apply; if it boots from a stock pointer and lost its key: hardway approve --rejoin NODE";
    /// More certificates than a node needs.
    OverBudget, "over-budget", Hold for now, "check the kubelet's journal: it keeps sending requests";
}

impl ReasonCode {
    /// By its word; none for one of a newer hardway.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.word() == word)
    }
}

/// As it stands in the journal.
impl From<ReasonCode> for Reason {
    fn from(reason: ReasonCode) -> Self {
        Self::new(reason.word())
    }
}

impl PartialEq<ReasonCode> for Reason {
    fn eq(&self, other: &ReasonCode) -> bool {
        self.word() == other.word()
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use hardway_assets::explain::{Catalogue, Kind};

    use super::*;

    #[test]
    fn words_are_what_is_serialized_and_each_hold_says_what_to_do() {
        for reason in ReasonCode::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.word());
            assert_eq!(
                ReasonCode::named(Reason::from(*reason).word()),
                Some(*reason),
                "to the journal and back"
            );
            assert!(reason.verdict() != CsrVerdict::Hold || !reason.fix().is_empty(), "{reason}");
        }
    }

    #[test]
    fn each_is_explained_and_nothing_else_is() {
        let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
        let explained: Vec<&str> =
            catalogue.iter().filter(|e| e.kind == Kind::Decision).map(|e| e.name).collect();
        let words: Vec<&str> = ReasonCode::ALL.iter().map(|reason| reason.word()).collect();
        assert_eq!(explained, words);
    }
}
