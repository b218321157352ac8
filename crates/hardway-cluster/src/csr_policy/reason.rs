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
    /// It is decided already.
    NotPending, "not-pending", Leave, "";

    /// It is many times larger than a kubelet's.
    RequestTooLarge, "request-too-large", Hold, "look at it with `oc get csr NAME -o yaml`; no kubelet writes one like it";
    /// It asks for a certificate that lives too long.
    LifetimeTooLong, "lifetime-too-long", Hold, "if such a lifetime is wanted, raise --longest-lifetime";
    /// It was made at a time that has not come yet.
    FromTheFuture, "from-the-future", Hold for now, "set the clock of this host or of the API server right: they differ";
    /// Its kubelet no longer waits for it.
    Abandoned, "abandoned", Hold, "nothing: the kubelet asks again by itself; if it does not, look at its journal";

    /// Not one PEM block of a certificate request.
    PemMalformed, "pem-malformed", Deny, "look who made it; no kubelet does";
    /// Not a PKCS#10 request.
    Pkcs10Malformed, "pkcs10-malformed", Deny, "look who made it; no kubelet does";
    /// Not signed with the key it is about.
    CsrSignatureInvalid, "csr-signature-invalid", Deny, "look who made it: whoever asks does not hold the key";
    /// A key that can be broken.
    KeyTooWeak, "key-too-weak", Deny, "look who made it: kubelets make ECDSA keys on P-256";
    /// A key or signature of a kind that kubelets do not make.
    KeyNotAllowed, "key-not-allowed", Hold, "if the key is meant to be like this, approve by hand: oc adm certificate approve NAME";
    /// It asks to sign others.
    AsksForCa, "asks-for-ca", Deny, "look who made it: a node that can sign certificates can be anybody";
    /// An extension that kubelets do not ask for.
    ExtensionNotAllowed, "extension-not-allowed", Hold, "look at it with openssl req -text; no kubelet asks for it";
    /// An attribute that kubelets do not write.
    AttributeNotAllowed, "attribute-not-allowed", Hold, "look at it with openssl req -text; no kubelet writes it";

    /// The common name is not that of a node.
    NotANode, "not-a-node", Deny, "look who made it: these signers are for kubelets only";
    /// No Node can have that name.
    NodeNameInvalid, "node-name-invalid", Deny, "look who made it; no kubelet can have that name";
    /// The machine does not know its name.
    NodeNameLocalhost, "node-name-localhost", Hold, "give the machine its name: /etc/hostname in its config, reverse DNS, or DHCP";
    /// Other groups than a node's.
    OrganizationNotNodes, "organization-not-nodes", Deny, "look who made it: it asks for groups that no node has";
    /// More in the subject than group and name.
    SubjectExtra, "subject-extra", Deny, "look who made it; a kubelet's subject is its group and its name";
    /// No such host in the inventory.
    NodeNotDeclared, "node-not-declared", Hold, "add the host to inventory.yaml, or find out which machine asks";
    /// A host of the inventory under another name.
    NodeNamedOtherwise, "node-named-otherwise", Hold, "a machine is called what /etc/hostname says, else what DHCP tells it (option 12), else what the PTR record of its address says: make that the expected name, then on the machine `hostnamectl set-hostname` it, remove /var/lib/kubelet/pki and /var/lib/kubelet/kubeconfig, and reboot";

    /// A first client certificate, and not asked for by an identity that hosts have.
    RequesterNotBootstrapper, "requester-not-bootstrapper", Hold, "ask who made it; if they may: oc adm certificate approve NAME";
    /// The bootstrap identity with other groups than its own.
    BootstrapperGroupsDiffer, "bootstrapper-groups-differ", Hold, "look how the bootstrap identity comes to these groups";
    /// The identity that machines of a pool share, for a host that has its own.
    SharedIdentity, "shared-identity", Deny, "the host boots from ignition/HOST.ign and asks with the identity in it: see who else asks for its name; if it boots from a stock pointer, say so in inventory.yaml: stockPointer: true; if it was installed by an older hardway and was off for long: hardway recover certs";
    /// The identity of a generation that is over.
    IdentityReplaced, "identity-replaced", Deny, "whoever asks has an old config of the host: find out where it is; if it is the host itself: hardway recover certs, or install it again with its new config";
    /// The identity of another host.
    IdentityOfAnotherHost, "identity-of-another-host", Deny, "isolate the host whose identity it is: it wants to pass for another";
    /// An identity of the host that is newer than what is known here.
    IdentityUnknown, "identity-unknown", Hold for now, "give this approver the output of `hardway csr declared` anew, from the folder that made the identity";
    /// A node's certificate, asked for by another node.
    AskedByAnotherNode, "asked-by-another-node", Deny, "isolate the node that asked: it wants to pass for another";
    /// A serving certificate, asked for with the bootstrap identity.
    BootstrapperAsksToServe, "bootstrapper-asks-to-serve", Deny, "find out who else has the bootstrap kubeconfig: kubelets ask for it as themselves";
    /// A serving certificate, asked for by somebody who is no node.
    RequesterNotANode, "requester-not-a-node", Hold, "ask who made it; if they may: oc adm certificate approve NAME";
    /// A node with other groups than a node's.
    NodeGroupsDiffer, "node-groups-differ", Hold, "look how the node comes to these groups";

    /// Other usages than those of its signer.
    UsagesNotAllowed, "usages-not-allowed", Deny, "look who made it; no kubelet asks for these";

    /// A client certificate with names.
    ClientHasNames, "client-has-names", Deny, "look who made it; a client certificate needs no names";
    /// A serving certificate without any name.
    NoNames, "no-names", Deny, "nothing: such a certificate serves nothing; the kubelet asks again";
    /// A name of a kind that kubelets do not use.
    NameKindNotAllowed, "name-kind-not-allowed", Deny, "look who made it; kubelets ask for DNS names and addresses only";
    /// Not a DNS name.
    NameMalformed, "name-malformed", Deny, "look who made it; no kubelet can be called like this";
    /// A name that stands for many.
    WildcardName, "wildcard-name", Deny, "look who made it: it wants to serve for many names at once";
    /// The name of another node, of the API or of a service.
    NameBelongsToAnother, "name-belongs-to-another", Deny, "isolate the node that asked: it wants to pass for another";
    /// A name that the inventory does not give to that host.
    NameNotDeclared, "name-not-declared", Hold, "the node's name is the only one it may serve under; see how it got another";
    /// Loopback, a service's or a pod's address, or none at all.
    AddressReserved, "address-reserved", Deny, "look at the node's addresses: this one can never be a host's";
    /// The address of another host, or one the cluster is reached at.
    AddressBelongsToAnother, "address-belongs-to-another", Deny, "isolate the node that asked, or find the address that two machines have";
    /// An address that the inventory does not give to that host.
    AddressNotDeclared, "address-not-declared", Hold, "if the host has that address, add it to its `ip` in inventory.yaml";

    /// A first client certificate for a node that is in the cluster.
    NodeExists, "node-exists", Hold, "if the machine was off for long: hardway recover certs; if it was installed again: hardway node replace HOST; if it boots from a stock pointer: hardway approve --rejoin NODE";
    /// A certificate for a node that is not in the cluster.
    NodeMissing, "node-missing", Hold for now, "nothing, if the node is about to register; otherwise see why it was removed";
    /// The node reports addresses, and none that it was declared with.
    NodeElsewhere, "node-elsewhere", Hold for now, "see whether two machines have the same name, or set `ip` in inventory.yaml right";

    /// The host has not fetched its config.
    IgnitionNotRedeemed, "ignition-not-redeemed", Hold for now, "if the host got its config in another way: --ignition ignored";
    /// Somebody with another address fetched the host's config.
    IgnitionRedeemedElsewhere, "ignition-redeemed-elsewhere", Hold, "find out who fetched it: whoever did can pass for the host";
    /// Too long after the host fetched its config, or before.
    OutsideJoinWindow, "outside-join-window", Hold for now, "if the install took so long: --join-window, or install the host again";

    /// A newer one of the same node takes its place.
    Superseded, "superseded", Deny, "";
    /// Two keys ask for one name at the same time.
    Contested, "contested", Hold for now, "if it is one kubelet that was restarted, wait 15 minutes; otherwise two machines have one name";
    /// Another key has a client certificate of that name already.
    AlreadyApproved, "already-approved", Hold for now, "if the kubelet was restarted before it had its answer, wait 15 minutes; if the machine was installed again: hardway node replace HOST; if it boots from a stock pointer and lost its key: hardway approve --rejoin NODE";
    /// More certificates than a node needs.
    OverBudget, "over-budget", Hold for now, "look at the kubelet's journal: it asks again and again";
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
