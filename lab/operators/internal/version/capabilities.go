package version

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Capability is a part of the release that a cluster can do without, and the minor since when (openshift/api
// config/v1/types_cluster_version.go of 4.18).
type Capability struct {
	Name  string
	Since int
}

// Known are those of 4.18.
var Known = []Capability{
	{"Build", 14}, {"CSISnapshot", 12}, {"CloudControllerManager", 16}, {"CloudCredential", 15}, {"Console", 12},
	{"DeploymentConfig", 14}, {"ImageRegistry", 14}, {"Ingress", 16}, {"Insights", 12}, {"MachineAPI", 11}, {"NodeTuning", 13},
	{"OperatorLifecycleManager", 15}, {"OperatorLifecycleManagerV1", 18}, {"Storage", 12}, {"baremetal", 11}, {"marketplace", 11},
	{"openshift-samples", 11},
}

// Capabilities are what a ClusterVersion asks for.
type Capabilities struct{ Enabled, Disabled []string }

// CapabilitiesOf reads a ClusterVersion: its set, what it adds, what is on already and so stays, and what is always on. One that
// says nothing has all of them (cluster-version-operator lib/capability).
func CapabilitiesOf(clusterVersion *unstructured.Unstructured, always []string) (Capabilities, error) {
	var found Capabilities
	wanted, isSaid, _ := unstructured.NestedMap(clusterVersion.Object, "spec", "capabilities")
	set, _, _ := unstructured.NestedString(wanted, "baselineCapabilitySet")
	minor, err := minorOf(set)
	if err != nil {
		return found, err
	}
	added, _, _ := unstructured.NestedStringSlice(wanted, "additionalEnabledCapabilities")
	kept, _, _ := unstructured.NestedStringSlice(clusterVersion.Object, "status", "capabilities", "enabledCapabilities")
	extra := slices.Concat(added, kept, always)
	for _, capability := range Known {
		if !isSaid || capability.Since <= minor || slices.Contains(extra, capability.Name) {
			found.Enabled = append(found.Enabled, capability.Name)
		} else {
			found.Disabled = append(found.Disabled, capability.Name)
		}
	}
	return found, nil
}

// status is what ClusterVersion says of them.
func (c Capabilities) status() map[string]any {
	known := slices.Concat(c.Enabled, c.Disabled)
	slices.SortFunc(known, cmp.Compare[string])
	list := func(names []string) []any {
		all := []any{}
		for _, name := range names {
			all = append(all, name)
		}
		return all
	}
	return map[string]any{"enabledCapabilities": list(c.Enabled), "knownCapabilities": list(known)}
}

func minorOf(set string) (int, error) {
	const newest = 18
	switch set {
	case "None":
		return 0, nil
	case "", "vCurrent":
		return newest, nil
	}
	var minor int
	if _, err := fmt.Sscanf(strings.TrimPrefix(set, "v4."), "%d", &minor); err != nil || minor < 11 || minor > newest {
		return 0, fmt.Errorf("spec.capabilities.baselineCapabilitySet: %q is no set of this release", set)
	}
	return minor, nil
}
