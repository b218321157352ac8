package version

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCapabilities(t *testing.T) {
	spec := func(set string, added ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"capabilities": map[string]any{"baselineCapabilitySet": set, "additionalEnabledCapabilities": added}}}
	}
	withStatus := spec("None")
	withStatus["status"] = map[string]any{"capabilities": map[string]any{"enabledCapabilities": []any{"Console"}}}
	for name, c := range map[string]struct {
		object  map[string]any
		enabled string
	}{
		"nothing said":  {map[string]any{}, "all"},
		"current":       {spec("vCurrent"), "all"},
		"4.18":          {spec("v4.18"), "all"},
		"4.11":          {spec("v4.11"), "Ingress MachineAPI baremetal marketplace openshift-samples"},
		"4.12":          {spec("v4.12"), "CSISnapshot Console Ingress Insights MachineAPI Storage baremetal marketplace openshift-samples"},
		"none":          {spec("None"), "Ingress"},
		"none, and two": {spec("None", "baremetal", "MachineAPI"), "Ingress MachineAPI baremetal"},
		"on stays on":   {withStatus, "Console Ingress"},
	} {
		found, err := CapabilitiesOf(&unstructured.Unstructured{Object: c.object}, []string{"Ingress"})
		enabled := strings.Join(found.Enabled, " ")
		if len(found.Disabled) == 0 {
			enabled = "all"
		}
		if err != nil || enabled != c.enabled || len(found.Enabled)+len(found.Disabled) != len(Known) {
			t.Errorf("%s: %s, %v", name, enabled, err)
		}
	}
	if _, err := CapabilitiesOf(&unstructured.Unstructured{Object: spec("v4.19")}, nil); err == nil {
		t.Error("a set of another release was taken")
	}
	if !slices.IsSortedFunc(Known, func(a, b Capability) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not in order")
	}
}
