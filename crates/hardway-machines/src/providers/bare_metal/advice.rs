//! What to do about the words that HAProxy and dnsmasq complain with. What a management controller says comes from
//! `hardway bmc`, with advice of its own.

use crate::providers::advice::Known;

/// The more special come first.
pub(in crate::providers) const KNOWN: &[Known] = &[
    Known {
        words: &["wait for a person"],
        advice: "do what is written there, machine by machine; hardway goes on when it has seen them",
    },
    Known {
        words: &["cannot bind socket", "Cannot assign requested address"],
        advice: "the virtual address is on no interface of this host: `ip address add ADDRESS/32 dev INTERFACE`, on the interface of the machine network",
    },
    Known {
        words: &["failed to create listening socket", "Address already in use"],
        advice: "another name server has port 53 of this address: `ss -lunp` says which; have that one answer (bare-metal/named.conf and dnsmasq.conf say what), or stop it",
    },
];
