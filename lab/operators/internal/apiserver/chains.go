package apiserver

import (
	"crypto/x509"
	"net/netip"
	"time"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/kube"
)

const day = 24 * time.Hour

// Chains are the signers of the API server and what each signs (cluster-kube-apiserver-operator
// pkg/operator/certrotationcontroller/certrotationcontroller.go). Signers that were seeded with their annotations are
// taken over; the others are minted, and then nothing that exists trusts what they sign.
func Chains(infrastructure kube.Infrastructure, network kube.Network) ([]certs.Chain, error) {
	internal, err := infrastructure.InternalURL()
	if err != nil {
		return nil, err
	}
	external, err := parseURL(infrastructure.APIServerURL)
	if err != nil {
		return nil, err
	}
	names, err := ServiceNames(network)
	if err != nil {
		return nil, err
	}
	serving := func(name string, hostnames ...string) certs.LeafPlace {
		return leaf(here(name), certs.Leaf{CommonName: hostnames[0], Hostnames: hostnames, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	}
	client := func(at kube.Ref, user string, groups ...string) certs.LeafPlace {
		return leaf(at, certs.Leaf{CommonName: user, Groups: groups, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	}
	recovery := serving("localhost-recovery-serving-certkey", "localhost-recovery")
	recovery.Validity, recovery.Refresh = 3650*day, 2920*day
	return []certs.Chain{
		chain("aggregator-client-signer", inManaged("kube-apiserver-aggregator-client-ca"), 30, 15,
			client(here("aggregator-client"), "system:openshift-aggregator")),
		chain("kube-apiserver-to-kubelet-signer", atOperator("kube-apiserver-to-kubelet-client-ca"), 365, 292,
			client(here("kubelet-client"), "system:kube-apiserver", "kube-master")),
		chain("localhost-serving-signer", atOperator("localhost-serving-ca"), 3650, 2920,
			serving("localhost-serving-cert-certkey", "localhost", "127.0.0.1")),
		chain("service-network-serving-signer", atOperator("service-network-serving-ca"), 3650, 2920,
			serving("service-network-serving-certkey", names...)),
		chain("loadbalancer-serving-signer", atOperator("loadbalancer-serving-ca"), 3650, 2920,
			serving("external-loadbalancer-serving-certkey", external.Hostname()),
			serving("internal-loadbalancer-serving-certkey", internal.Hostname())),
		chain("localhost-recovery-serving-signer", atOperator("localhost-recovery-serving-ca"), 3650, 2920, recovery),
		chain("kube-control-plane-signer", atOperator("kube-control-plane-signer-ca"), 60, 30,
			client(inManaged("kube-controller-manager-client-cert-key"), "system:kube-controller-manager"),
			client(inManaged("kube-scheduler-client-cert-key"), "system:kube-scheduler"),
			client(here("control-plane-node-admin-client-cert-key"), "system:control-plane-node-admin", "system:masters")),
		chain("node-system-admin-signer", atOperator("node-system-admin-ca"), 365, 292,
			client(atOperator("node-system-admin-client"), "system:admin", "system:masters")),
	}, nil
}

// ServiceNames are the names and addresses of the API server inside the cluster.
func ServiceNames(network kube.Network) ([]string, error) {
	var names []string
	for _, name := range []string{"kubernetes", "openshift"} {
		for _, suffix := range []string{"", ".default", ".default.svc", ".default.svc.cluster.local"} {
			names = append(names, name+suffix)
		}
	}
	for _, cidr := range network.ServiceNetworks {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, err
		}
		names = append(names, prefix.Masked().Addr().Next().String())
	}
	return names, nil
}

func chain(signer string, bundle kube.Ref, validityDays, refreshDays time.Duration, leaves ...certs.LeafPlace) certs.Chain {
	return certs.Chain{
		Component: "kube-apiserver",
		Signer:    certs.SignerPlace{Ref: atOperator(signer), Validity: validityDays * day, Refresh: refreshDays * day},
		Bundle:    bundle,
		Leaves:    leaves,
	}
}

func leaf(at kube.Ref, leaf certs.Leaf) certs.LeafPlace {
	return certs.LeafPlace{Ref: at, Leaf: leaf, Validity: 30 * day, Refresh: 15 * day}
}
