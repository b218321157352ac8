package clusteroperators

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/version"
)

// A ClusterOperator without the mark is a real operator's: neither its status is written nor its work done.
func TestARealOperatorSpeaksForItself(t *testing.T) {
	clients := fakeClients(clusterOperator("service-ca", ""), clusterOperator("insights", "stand-in"))
	if err := Pass(context.Background(), clients, "4.18.99"); err != nil {
		t.Fatal(err)
	}
	if conditions := conditionsOf(t, clients, "service-ca"); len(conditions) != 0 {
		t.Errorf("the real one was given %+v", conditions)
	}
	if conditions := conditionsOf(t, clients, "insights"); kube.FindCondition(conditions, "Available").Status == "" {
		t.Errorf("nobody reported on the stand-in: %+v", conditions)
	}
	configMaps, err := clients.Kube.CoreV1().ConfigMaps("openshift-config-managed").List(context.Background(), metav1.ListOptions{})
	if err != nil || len(configMaps.Items) != 0 {
		t.Errorf("the real one's work was done: %v (%v)", configMaps, err)
	}
}

// Those of the table have the mark, and no others: the five have operators of their own.
func TestEveryRowIsMarked(t *testing.T) {
	isRow := map[string]bool{}
	for _, row := range Table {
		isRow[row.Name] = true
	}
	files, err := filepath.Glob(manifests + "/*_07_clusteroperator.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := version.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if isMarked := object.GetAnnotations()[standIn] == "stand-in"; isMarked != isRow[object.GetName()] {
				t.Errorf("%s: marked %v, in the table %v", object.GetName(), isMarked, isRow[object.GetName()])
			}
		}
	}
}

func fakeClients(operators ...runtime.Object) *kube.Clients {
	kinds := map[schema.GroupVersionResource]string{
		kube.ClusterOperators: "ClusterOperatorList", kube.Infrastructures: "InfrastructureList", kube.Ingresses: "IngressList", kube.Schedulers: "SchedulerList",
		{Group: "config.openshift.io", Version: "v1", Resource: "dnses"}: "DNSList",
	}
	return &kube.Clients{Kube: fake.NewClientset(), Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, operators...)}
}

func clusterOperator(name, mark string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator"}}
	object.SetName(name)
	object.SetAnnotations(map[string]string{standIn: mark})
	return object
}

func conditionsOf(t *testing.T, clients *kube.Clients, name string) []kube.Condition {
	t.Helper()
	conditions, err := clients.ReadClusterOperator(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return conditions
}
