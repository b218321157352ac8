// Package gates reads the feature gates of the release's own version.
package gates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hardway.dev/lab/operators/internal/kube"
)

// Gates are the names that are on and off.
type Gates struct{ Enabled, Disabled []string }

// Flags lists them as Kubernetes components take them.
func (g Gates) Flags() []any {
	var flags []any
	for _, name := range g.Enabled {
		flags = append(flags, name+"=true")
	}
	for _, name := range g.Disabled {
		flags = append(flags, name+"=false")
	}
	return flags
}

// Equal tells whether both are the same sets in the same order.
func (g Gates) Equal(other Gates) bool {
	return slices.Equal(g.Enabled, other.Enabled) && slices.Equal(g.Disabled, other.Disabled)
}

// ErrMissing says that there is nothing for this version: the object, or the entry in its status.
var ErrMissing = errors.New("missing desired version in featuregates.config.openshift.io/cluster")

// Of takes the entry of a version out of a FeatureGate (library-go pkg/operator/configobserver/featuregates).
func Of(object *unstructured.Unstructured, version string) (Gates, error) {
	entries, _, _ := unstructured.NestedSlice(object.Object, "status", "featureGates")
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		if found, _, _ := unstructured.NestedString(fields, "version"); found != version {
			continue
		}
		return Gates{Enabled: names(fields, "enabled"), Disabled: names(fields, "disabled")}, nil
	}
	return Gates{}, fmt.Errorf("%w: %q", ErrMissing, version)
}

// Read reads the gates once.
func Read(ctx context.Context, clients *kube.Clients, version string) (Gates, error) {
	object, err := clients.Dynamic.Resource(kube.FeatureGates).Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Gates{}, fmt.Errorf("%w: there is no such object", ErrMissing)
	}
	if err != nil {
		return Gates{}, err
	}
	return Of(object, version)
}

// Await waits for the gates. The operators give up after a minute and exit, to be started again
// (cluster-etcd-operator pkg/operator/starter.go).
func Await(ctx context.Context, clients *kube.Clients, version string, limit time.Duration) (Gates, error) {
	deadline, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		gates, err := Read(deadline, clients, version)
		if err == nil {
			return gates, nil
		}
		select {
		case <-deadline.Done():
			return Gates{}, fmt.Errorf("timed out waiting for FeatureGate detection: %w", err)
		case <-time.After(time.Second):
		}
	}
}

func names(fields map[string]any, key string) []string {
	entries, _, _ := unstructured.NestedSlice(fields, key)
	var names []string
	for _, entry := range entries {
		gate, _ := entry.(map[string]any)
		if name, ok := gate["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
