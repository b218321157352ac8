package apiserver

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
)

func facts() Facts {
	return Facts{
		Infrastructure: kube.Infrastructure{APIServerURL: "https://api.x:6443", APIServerInternalURI: "https://api-int.x:6443", ControlPlaneTopology: "HighlyAvailable"},
		Network:        kube.Network{PodNetworks: []kube.PodNetwork{{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: 23}}, ServiceNetworks: []string{"172.30.0.0/16"}},
		Gates:          gates.Gates{Enabled: []string{"A"}},
		EtcdURLs:       []string{"https://10.0.0.100:2379", "https://10.0.0.1:2379"},
		PublicKeys:     []string{"service-account-001.pub"}, BoundPublicKeys: []string{"service-account-001.pub"},
	}
}

func TestObserve(t *testing.T) {
	document, err := Observe(facts())
	if err != nil {
		t.Fatal(err)
	}
	text := document.Text()
	for _, part := range []string{
		"etcd-prefix:\n  - kubernetes.io\n", "- https://localhost:2379\n", "- https://10.0.0.100:2379\n", "servicesSubnet: 172.30.0.0/16\n",
		"- /etc/kubernetes/static-pod-resources/configmaps/sa-token-signing-certs/service-account-001.pub\n",
		"- /etc/kubernetes/static-pod-resources/configmaps/bound-sa-token-signing-certs/service-account-001.pub\n", "- 10.128.0.0/14\n", "- A=true\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// Both families, in the order that the cluster's Network has them.
func TestObserveNetworks(t *testing.T) {
	four, six := "172.30.0.0/16", "fd02::/112"
	for name, c := range map[string]struct {
		services []string
		parts    []string
		first    []string
	}{
		"IPv4":             {[]string{four}, []string{"servicesSubnet: 172.30.0.0/16\n", "bindAddress: 0.0.0.0:6443\n", "bindNetwork: tcp4\n"}, []string{"172.30.0.1"}},
		"IPv6":             {[]string{six}, []string{"servicesSubnet: fd02::/112\n", "bindAddress: '[::]:6443'\n", "bindNetwork: tcp6\n"}, []string{"fd02::1"}},
		"both":             {[]string{four, six}, []string{"servicesSubnet: 172.30.0.0/16,fd02::/112\n", "bindAddress: 0.0.0.0:6443\n", "bindNetwork: tcp4\n"}, []string{"172.30.0.1", "fd02::1"}},
		"both, IPv6 first": {[]string{six, four}, []string{"servicesSubnet: fd02::/112,172.30.0.0/16\n", "bindNetwork: tcp4\n"}, []string{"fd02::1", "172.30.0.1"}},
	} {
		given := facts()
		given.Network.ServiceNetworks = c.services
		document, err := Observe(given)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, part := range c.parts {
			if !strings.Contains(document.Text(), part) {
				t.Errorf("%s: no %q in\n%s", name, part, document.Text())
			}
		}
		names, err := ServiceNames(given.Network)
		if err != nil || !slices.Equal(names[8:], c.first) {
			t.Errorf("%s: %v, %v", name, names, err)
		}
	}
}

func TestObserveRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Facts)
		want   string
	}{
		"the bootstrap member alone": {func(f *Facts) { f.EtcdURLs = f.EtcdURLs[:1] }, "less than three endpoints"},
		"no etcd":                    {func(f *Facts) { f.EtcdURLs = nil }, "etcd-servers empty"},
		"no internal address":        {func(f *Facts) { f.Infrastructure.APIServerInternalURI = "" }, "apiServerInternalURI"},
	} {
		given := facts()
		c.change(&given)
		if _, err := Observe(given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	single := facts()
	single.EtcdURLs, single.Infrastructure.ControlPlaneTopology = single.EtcdURLs[:1], "SingleReplica"
	if _, err := Observe(single); err != nil {
		t.Errorf("a single node has fewer: %v", err)
	}
}

func TestChains(t *testing.T) {
	given := facts()
	chains, err := Chains(given.Infrastructure, given.Network)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, chain := range chains {
		for _, leaf := range chain.Leaves {
			names[leaf.Name] = leaf.Hostnames
		}
	}
	if got := names["internal-loadbalancer-serving-certkey"]; !slices.Equal(got, []string{"api-int.x"}) {
		t.Error(got)
	}
	if got := names["service-network-serving-certkey"]; !slices.Contains(got, "172.30.0.1") || !slices.Contains(got, "kubernetes.default.svc") {
		t.Error(got)
	}
	// Everything that an installer pod must find beside the revision is made by one of the chains.
	for _, secret := range Operand.CertSecrets {
		if _, ok := names[secret.Name]; !ok && secret.Name != signingKey {
			t.Errorf("nobody makes %s", secret.Name)
		}
	}
	var found []string
	for _, chain := range chains {
		found = append(found, chain.Name)
	}
	if !slices.Equal(found, rotationNames) {
		t.Errorf("%v have no step of their own, or %v no chain", found, rotationNames)
	}
}
