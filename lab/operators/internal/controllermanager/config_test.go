package controllermanager

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
)

func facts(pods []string, services ...string) Facts {
	facts := Facts{Infrastructure: kube.Infrastructure{Name: "ocp4-abcde"}, Gates: gates.Gates{Enabled: []string{"A"}}}
	for _, cidr := range pods {
		facts.Network.PodNetworks = append(facts.Network.PodNetworks, kube.PodNetwork{CIDR: netip.MustParsePrefix(cidr)})
	}
	facts.Network.ServiceNetworks = services
	return facts
}

func TestObserveNetworks(t *testing.T) {
	for name, c := range map[string]struct {
		facts Facts
		flags []string
	}{
		"IPv4": {facts([]string{"10.128.0.0/14"}, "172.30.0.0/16"), []string{"--cluster-cidr=10.128.0.0/14", "--service-cluster-ip-range=172.30.0.0/16"}},
		"IPv6": {facts([]string{"fd01::/48"}, "fd02::/112"), []string{"--cluster-cidr=fd01::/48", "--service-cluster-ip-range=fd02::/112"}},
		"both": {facts([]string{"10.128.0.0/14", "fd01::/48"}, "172.30.0.0/16", "fd02::/112"),
			[]string{"--cluster-cidr=10.128.0.0/14", "--cluster-cidr=fd01::/48", "--service-cluster-ip-range=172.30.0.0/16,fd02::/112"}},
	} {
		document, err := Observe(c.facts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		isNetwork := func(flag string) bool {
			return !strings.HasPrefix(flag, "--cluster-cidr=") && !strings.HasPrefix(flag, "--service-cluster-ip-range=")
		}
		if found := slices.DeleteFunc(Arguments(document), isNetwork); !slices.Equal(found, c.flags) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestObserveRefuses(t *testing.T) {
	nameless := facts([]string{"10.128.0.0/14"}, "172.30.0.0/16")
	nameless.Infrastructure.Name = ""
	if _, err := Observe(nameless); err == nil || !strings.Contains(err.Error(), "cluster-name") {
		t.Errorf("%v", err)
	}
	ungated := facts([]string{"10.128.0.0/14"}, "172.30.0.0/16")
	ungated.Gates = gates.Gates{}
	if _, err := Observe(ungated); err == nil || !strings.Contains(err.Error(), "feature-gates") {
		t.Errorf("%v", err)
	}
}
