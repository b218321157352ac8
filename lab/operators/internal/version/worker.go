package version

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hardway.dev/lab/operators/internal/kube"
)

// Result is what came of one pass over all manifests.
type Result struct {
	Done, Total int
	// Waiting are ClusterOperators that are not available yet.
	Waiting []string
	// Errors are everything else that kept a group from its end.
	Errors []error
}

// IsComplete tells whether everything was applied and every operator is available.
func (r Result) IsComplete() bool { return r.Done == r.Total }

// workers is how many groups are applied at a time. Upstream takes one for each group while it installs; the lab has
// two cores.
const workers = 4

// Pass applies every group once. A group stops at its first obstacle, the others go on.
func (a *Applier) Pass(ctx context.Context, payload *Payload, clusterVersion *unstructured.Unstructured) Result {
	overrides := Overrides(clusterVersion)
	result := Result{Total: len(payload.Manifests)}
	// Each ClusterOperator is there before its operator starts, so that it is never missed.
	for _, manifest := range payload.Manifests {
		if manifest.Object.GetKind() == "ClusterOperator" && !IsUnmanaged(overrides, manifest.Object) {
			_ = a.Apply(ctx, manifest.Object, clusterVersion)
		}
	}
	var lock sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, group := range payload.Groups() {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			done, waiting, err := a.group(ctx, group, overrides, clusterVersion)
			lock.Lock()
			defer lock.Unlock()
			result.Done += done
			if waiting != "" {
				result.Waiting = append(result.Waiting, waiting)
			}
			if err != nil {
				result.Errors = append(result.Errors, err)
			}
		}()
	}
	wait.Wait()
	slices.Sort(result.Waiting)
	return result
}

func (a *Applier) group(ctx context.Context, group []Manifest, overrides []Override, clusterVersion *unstructured.Unstructured) (done int, waiting string, err error) {
	for _, manifest := range group {
		if IsUnmanaged(overrides, manifest.Object) {
			done++
			continue
		}
		if err := a.Apply(ctx, manifest.Object, clusterVersion); err != nil {
			return done, "", fmt.Errorf("%s %s of %s: %w", manifest.Object.GetKind(), manifest.Object.GetName(), manifest.File, err)
		}
		if manifest.Object.GetKind() == "ClusterOperator" {
			conditions, err := a.ReadClusterOperator(ctx, manifest.Object.GetName())
			if err != nil {
				return done, "", err
			}
			if kube.FindCondition(conditions, "Available").Status != kube.True {
				return done, manifest.Object.GetName(), nil
			}
		}
		done++
	}
	return done, "", nil
}

// ReadClusterVersion reads the object `version`.
func ReadClusterVersion(ctx context.Context, clients *kube.Clients) (*unstructured.Unstructured, error) {
	return clients.Dynamic.Resource(kube.ClusterVersions).Get(ctx, "version", metav1.GetOptions{})
}
