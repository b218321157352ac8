package apiserver

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
)

//go:embed config.yaml
var defaults string

// Facts are what the configuration is observed from.
type Facts struct {
	Infrastructure kube.Infrastructure
	Network        kube.Network
	Gates          gates.Gates
	// EtcdURLs are those of etcd-endpoints, the bootstrap member included.
	EtcdURLs []string
	// PublicKeys are the files under sa-token-signing-certs, BoundPublicKeys those of the bound keys.
	PublicKeys, BoundPublicKeys []string
}

// Observe computes the configuration. With fewer than three etcd endpoints, the local one among them, it refuses on a
// highly available cluster: the first API server then waits for the first master's etcd
// (cluster-kube-apiserver-operator pkg/operator/targetconfigcontroller isRequiredConfigPresent).
func Observe(facts Facts) (controlplane.Document, error) {
	servers := append([]string{"https://localhost:2379"}, facts.EtcdURLs...)
	slices.Sort(servers)
	servers = slices.Compact(servers)
	if len(facts.EtcdURLs) == 0 {
		return nil, errors.New("apiServerArguments.etcd-servers empty in config")
	}
	if !facts.Infrastructure.IsSingleNode() && len(servers) < 3 {
		return nil, fmt.Errorf("apiServerArguments.etcd-servers has less than three endpoints: %v", servers)
	}
	if _, err := facts.Infrastructure.InternalURL(); err != nil {
		return nil, err
	}
	document := controlplane.ReadDocument(defaults)
	set := func(name string, values ...any) { document.SetArguments("apiServerArguments", name, values...) }
	set("etcd-servers", controlplane.Any(servers)...)
	set("feature-gates", facts.Gates.Flags()...)
	// Upstream names the two folders; which files they hold is known here, and a plain API server takes files only.
	var keys []any
	for _, file := range facts.PublicKeys {
		keys = append(keys, "/etc/kubernetes/static-pod-resources/configmaps/sa-token-signing-certs/"+file)
	}
	for _, file := range facts.BoundPublicKeys {
		keys = append(keys, "/etc/kubernetes/static-pod-resources/configmaps/bound-sa-token-signing-certs/"+file)
	}
	set("service-account-key-file", keys...)
	if facts.Infrastructure.IsSingleNode() {
		set("shutdown-delay-duration", "0s")
	}
	document["servicesSubnet"] = strings.Join(facts.Network.ServiceNetworks, ",")
	serving := document["servingInfo"].(map[string]any)
	serving["namedCertificates"] = namedCertificates()
	// With two families it stays IPv4's (cluster-kube-apiserver-operator pkg/operator/configobservation/network).
	if len(facts.Network.ServiceNetworks) == 1 && strings.Contains(facts.Network.ServiceNetworks[0], ":") {
		serving["bindAddress"], serving["bindNetwork"] = "[::]:6443", "tcp6"
	}
	plugins := document["admission"].(map[string]any)["pluginConfig"].(map[string]any)
	plugins["network.openshift.io/RestrictedEndpointsAdmission"] = map[string]any{"configuration": map[string]any{
		"apiVersion": "network.openshift.io/v1", "kind": "RestrictedEndpointsAdmissionConfig",
		"restrictedCIDRs": restricted(facts.Network),
	}}
	return document, nil
}

func restricted(network kube.Network) []any {
	var networks []any
	for _, pods := range network.PodNetworks {
		networks = append(networks, pods.CIDR.String())
	}
	return append(networks, controlplane.Any(network.ServiceNetworks)...)
}

// namedCertificates says which certificate answers to which name; the load balancers' carry their names themselves.
func namedCertificates() []any {
	pair := func(folder string, names ...any) map[string]any {
		entry := map[string]any{"certFile": folder + "/tls.crt", "keyFile": folder + "/tls.key"}
		if len(names) > 0 {
			entry["names"] = names
		}
		return entry
	}
	const live, fixed = "/etc/kubernetes/static-pod-certs/secrets/", "/etc/kubernetes/static-pod-resources/secrets/"
	return []any{
		pair(live+"localhost-serving-cert-certkey", "localhost", "127.0.0.1"),
		pair(live+"service-network-serving-certkey",
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
		pair(live + "external-loadbalancer-serving-certkey"),
		pair(live + "internal-loadbalancer-serving-certkey"),
		pair(fixed+"localhost-recovery-serving-certkey", "localhost-recovery"),
	}
}
