// Package test holds the tests that need real servers: what the stand-ins do with the assets that hardway generates, and
// with assets that are wrong.
package test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hardway.dev/lab/operators/internal/apiserver"
	"hardway.dev/lab/operators/internal/controllermanager"
	"hardway.dev/lab/operators/internal/etcd"
	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/labtest"
	"hardway.dev/lab/operators/internal/operator"
	"hardway.dev/lab/operators/internal/scheduler"
)

func TestMain(m *testing.M) { labtest.Main(m) }

const image = "lab.invalid/operator"

// runners are the four operators of the control plane.
func runners(t testing.TB, world *labtest.World) []*operator.Runner {
	t.Helper()
	found, err := gates.Await(context.Background(), world.Clients, labtest.Version, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	runner := func(name string, kind schema.GroupVersionResource, steps []operator.Step) *operator.Runner {
		ensureOperator(t, world, kind)
		return &operator.Runner{Clients: world.Clients, Kind: kind, ClusterOperator: name, Version: labtest.Version, Gates: found, Steps: steps}
	}
	return []*operator.Runner{
		runner("etcd", etcd.Kind, (&etcd.Operator{Clients: world.Clients, Image: "etcd", OperatorImage: image}).Steps()),
		runner("kube-apiserver", apiserver.Kind, (&apiserver.Operator{Clients: world.Clients, Gates: found, Image: "hyperkube", OperatorImage: image}).Steps()),
		runner("kube-controller-manager", controllermanager.Kind, (&controllermanager.Operator{Clients: world.Clients, Gates: found, Image: "hyperkube", PolicyImage: image, OperatorImage: image}).Steps()),
		runner("kube-scheduler", scheduler.Kind, (&scheduler.Operator{Clients: world.Clients, Image: "hyperkube", OperatorImage: image}).Steps()),
	}
}

// ensureOperator creates an operator's object and namespace, as the version operator does.
func ensureOperator(t testing.TB, world *labtest.World, kind schema.GroupVersionResource) {
	t.Helper()
	names := map[string]string{"etcds": "Etcd", "kubeapiservers": "KubeAPIServer", "kubecontrollermanagers": "KubeControllerManager", "kubeschedulers": "KubeScheduler"}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operator.openshift.io/v1", "kind": names[kind.Resource],
		"metadata": map[string]any{"name": "cluster"}, "spec": map[string]any{"managementState": "Managed"},
	}}
	if _, err := world.Dynamic.Resource(kind).Create(context.Background(), object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if kind == etcd.Kind {
		namespace := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": etcd.OperatorNamespace},
		}}
		resource := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
		if _, err := world.Dynamic.Resource(resource).Create(context.Background(), namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

// keepRunning makes passes of all operators until the returned function is called, or the test ends.
func keepRunning(t testing.TB, all []*operator.Runner) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, runner := range all {
		done.Add(1)
		go func() {
			defer done.Done()
			_ = runner.Run(ctx, 500*time.Millisecond)
		}()
	}
	stop = func() { cancel(); done.Wait() }
	t.Cleanup(stop)
	return stop
}

// untilCondition waits for a condition of an operator.
func untilCondition(t testing.TB, world *labtest.World, kind schema.GroupVersionResource, name, status, message string) {
	t.Helper()
	labtest.Until(t, fmt.Sprintf("%s of %s is %s", name, kind.Resource, status), func() error {
		operator, err := world.ReadOperator(context.Background(), kind)
		if err != nil {
			return err
		}
		condition := kube.FindCondition(operator.Status.Conditions, name)
		if condition.Status == status && strings.Contains(condition.Message, message) {
			return nil
		}
		return fmt.Errorf("it is %q: %s", condition.Status, condition.Message)
	})
}

// condition reads one now.
func condition(t testing.TB, world *labtest.World, kind schema.GroupVersionResource, name string) kube.Condition {
	t.Helper()
	operator, err := world.ReadOperator(context.Background(), kind)
	if err != nil {
		t.Fatal(err)
	}
	return kube.FindCondition(operator.Status.Conditions, name)
}

// pass runs one operator once and fails on anything but its own findings.
func pass(t testing.TB, runner *operator.Runner) {
	t.Helper()
	if err := runner.Pass(context.Background()); err != nil && !errors.Is(err, operator.ErrGatesChanged) {
		t.Fatal(err)
	}
}
