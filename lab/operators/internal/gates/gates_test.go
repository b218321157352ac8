package gates

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func gate(version string) *unstructured.Unstructured {
	entry := map[string]any{
		"version": version, "enabled": []any{map[string]any{"name": "A"}}, "disabled": []any{map[string]any{"name": "B"}},
	}
	return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"featureGates": []any{entry}}}}
}

func TestOf(t *testing.T) {
	found, err := Of(gate("4.18.1"), "4.18.1")
	if err != nil || !found.Equal(Gates{Enabled: []string{"A"}, Disabled: []string{"B"}}) {
		t.Errorf("%+v, %v", found, err)
	}
	if flags := found.Flags(); len(flags) != 2 || flags[0] != "A=true" || flags[1] != "B=false" {
		t.Error(flags)
	}
	for _, object := range []*unstructured.Unstructured{gate("4.18.2"), gate(""), {Object: map[string]any{}}} {
		if _, err := Of(object, "4.18.1"); !errors.Is(err, ErrMissing) {
			t.Errorf("%v", err)
		}
	}
}
