package apiserver

import (
	"crypto/x509"
	"net/netip"
	"net/url"
	"time"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/kube"
)

const day = 24 * time.Hour

// Chains are the signers of the API server and what each signs (cluster-kube-apiserver-operator
// pkg/operator/certrotationcontroller/certrotationcontroller.go). Signers that were seeded with their annotations are
// taken over; the others are minted, and then nothing that exists trusts what they sign. Each has a name, which its condition
// is called by. An address that is not there leaves its certificate without names, and that one is not made.
func Chains(infrastructure kube.Infrastructure, network kube.Network) ([]Rotation, error) {
	names, err := ServiceNames(network)
	if err != nil {
		return nil, err
	}
	serving := func(name string, hostnames ...string) certs.LeafPlace {
		leafPlace := leaf(here(name), certs.Leaf{Hostnames: hostnames, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		if len(hostnames) > 0 {
			leafPlace.CommonName = hostnames[0]
		} else {
			leafPlace.Hostnames = []string{}
		}
		return leafPlace
	}
	client := func(at kube.Ref, user string, groups ...string) certs.LeafPlace {
		return leaf(at, certs.Leaf{CommonName: user, Groups: groups, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	}
	recovery := serving("localhost-recovery-serving-certkey", "localhost-recovery")
	recovery.Validity, recovery.Refresh = 3650*day, 2920*day
	controlPlane := func(name string, leaf certs.LeafPlace) Rotation {
		return rotation(name, "kube-control-plane-signer", atOperator("kube-control-plane-signer-ca"), 60, 30, leaf)
	}
	return []Rotation{
		rotation("AggregatorProxyClientCert", "aggregator-client-signer", inManaged("kube-apiserver-aggregator-client-ca"), 30, 15,
			client(here("aggregator-client"), "system:openshift-aggregator")),
		rotation("KubeAPIServerToKubeletClientCert", "kube-apiserver-to-kubelet-signer", atOperator("kube-apiserver-to-kubelet-client-ca"), 365, 292,
			client(here("kubelet-client"), "system:kube-apiserver", "kube-master")),
		rotation("LocalhostServing", "localhost-serving-signer", atOperator("localhost-serving-ca"), 3650, 2920,
			serving("localhost-serving-cert-certkey", "localhost", "127.0.0.1")),
		rotation("ServiceNetworkServing", "service-network-serving-signer", atOperator("service-network-serving-ca"), 3650, 2920,
			serving("service-network-serving-certkey", names...)),
		rotation("ExternalLoadBalancerServing", "loadbalancer-serving-signer", atOperator("loadbalancer-serving-ca"), 3650, 2920,
			serving("external-loadbalancer-serving-certkey", hostname(infrastructure.APIServerURL)...)),
		rotation("InternalLoadBalancerServing", "loadbalancer-serving-signer", atOperator("loadbalancer-serving-ca"), 3650, 2920,
			serving("internal-loadbalancer-serving-certkey", hostname(infrastructure.APIServerInternalURI)...)),
		rotation("LocalhostRecoveryServing", "localhost-recovery-serving-signer", atOperator("localhost-recovery-serving-ca"), 3650, 2920, recovery),
		controlPlane("KubeControllerManagerClient", client(inManaged("kube-controller-manager-client-cert-key"), "system:kube-controller-manager")),
		controlPlane("KubeSchedulerClient", client(inManaged("kube-scheduler-client-cert-key"), "system:kube-scheduler")),
		controlPlane("ControlPlaneNodeAdminClient", client(here("control-plane-node-admin-client-cert-key"), "system:control-plane-node-admin", "system:masters")),
		rotation("NodeSystemAdminClient", "node-system-admin-signer", atOperator("node-system-admin-ca"), 365, 292,
			client(atOperator("node-system-admin-client"), "system:admin", "system:masters")),
	}, nil
}

// Rotation is a chain under the name that its condition has: CertRotation_<Name>_Degraded.
type Rotation struct {
	Name string
	certs.Chain
}

// rotationNames are those of Chains, for the steps.
var rotationNames = []string{
	"AggregatorProxyClientCert", "KubeAPIServerToKubeletClientCert", "LocalhostServing", "ServiceNetworkServing",
	"ExternalLoadBalancerServing", "InternalLoadBalancerServing", "LocalhostRecoveryServing", "KubeControllerManagerClient",
	"KubeSchedulerClient", "ControlPlaneNodeAdminClient", "NodeSystemAdminClient",
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

func rotation(name, signer string, bundle kube.Ref, validityDays, refreshDays time.Duration, leaf certs.LeafPlace) Rotation {
	return Rotation{Name: name, Chain: certs.Chain{
		Component: "kube-apiserver",
		Signer:    certs.SignerPlace{Ref: atOperator(signer), Validity: validityDays * day, Refresh: refreshDays * day},
		Bundle:    bundle,
		Leaves:    []certs.LeafPlace{leaf},
	}}
}

// hostname is the host of a URL, or nothing.
func hostname(address string) []string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" {
		return nil
	}
	return []string{parsed.Hostname()}
}

func leaf(at kube.Ref, leaf certs.Leaf) certs.LeafPlace {
	return certs.LeafPlace{Ref: at, Leaf: leaf, Validity: 30 * day, Refresh: 15 * day}
}
