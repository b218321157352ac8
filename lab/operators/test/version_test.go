package test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"hardway.dev/lab/operators/internal/clusteroperators"
	"hardway.dev/lab/operators/internal/command"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/labtest"
	"hardway.dev/lab/operators/internal/version"
)

// packed is the lab's release as the version operator finds it.
func packed(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	images := map[string]string{}
	for _, name := range []string{
		"cluster-etcd-operator", "cluster-kube-apiserver-operator", "cluster-kube-controller-manager-operator", "cluster-kube-scheduler-operator",
		"cluster-network-operator", "cluster-policy-controller", "etcd", "hyperkube", "kube-proxy", "cluster-version-operator", "lab-operator", "machine-config-operator",
	} {
		images[name] = "registry.example.com/" + name
	}
	folder := filepath.Join(root, "release-manifests")
	if err := command.Pack("../manifests", folder, labtest.Version, "", images); err != nil {
		t.Fatal(err)
	}
	metadata, _ := json.Marshal(map[string]string{"kind": "cincinnati-metadata-v0", "version": labtest.Version})
	if err := os.WriteFile(filepath.Join(folder, "release-metadata"), metadata, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

// The release goes in next to what the bootstrap host created, and is complete when every operator is available.
func TestTheReleaseIsApplied(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	override(t, world, map[string]any{"group": "apps", "kind": "Deployment", "namespace": "openshift-etcd-operator", "name": "etcd-operator", "unmanaged": true})
	// Here, where a failure ends the test.
	root := packed(t)
	go func() {
		done <- version.Run(ctx, world.Clients, version.Options{
			Root: root, ReleaseImage: "registry.example.com/release", Profile: "self-managed-high-availability",
			NodeName: "bootstrap", GateWait: time.Minute, Every: 500 * time.Millisecond,
		})
	}()
	t.Cleanup(func() { stop(); <-done })

	untilVersion(t, world, "Progressing", kube.True, "waiting on")
	untilVersion(t, world, "Failing", kube.False, "")
	lease, err := world.Kube.CoordinationV1().Leases("openshift-cluster-version").Get(ctx, "version", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		t.Errorf("%v %v", lease, err)
	}
	deployment := func(namespace, name string) (*appsv1.Deployment, error) {
		return world.Kube.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	if _, err := deployment("openshift-etcd-operator", "etcd-operator"); !apierrors.IsNotFound(err) {
		t.Errorf("what is overridden must not be touched: %v", err)
	}
	own, err := deployment("openshift-cluster-version", "cluster-version-operator")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range own.Spec.Template.Spec.Containers[0].Env {
		if variable.Name == "KUBERNETES_SERVICE_HOST" && variable.Value != "api-int.ocp4.example.com" {
			t.Errorf("its own pod asks %s", variable.Value)
		}
	}
	namespace, err := world.Kube.CoreV1().Namespaces().Get(ctx, "openshift-cluster-version", metav1.GetOptions{})
	if err != nil || len(namespace.OwnerReferences) != 1 {
		t.Errorf("what existed gets an owner: %v %v", namespace.OwnerReferences, err)
	}

	// The overrides go, as at the end of bootstrapping, and what was left out comes.
	override(t, world, nil)
	labtest.Until(t, "the Deployment that was overridden", func() error {
		_, err := deployment("openshift-etcd-operator", "etcd-operator")
		return err
	})
	// What somebody changes comes back; what is only ever created does not.
	replicas := []byte(`{"spec":{"replicas":0}}`)
	if _, err := world.Kube.AppsV1().Deployments("openshift-etcd-operator").Patch(ctx, "etcd-operator", types.MergePatchType, replicas, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	unmanaged := []byte(`{"spec":{"managementState":"Unmanaged"}}`)
	if _, err := world.Dynamic.Resource(kube.OperatorResource("etcds")).Patch(ctx, "cluster", types.MergePatchType, unmanaged, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	labtest.Until(t, "the replicas are back", func() error {
		found, err := deployment("openshift-etcd-operator", "etcd-operator")
		if err == nil && *found.Spec.Replicas != 1 {
			err = fmt.Errorf("%d replicas", *found.Spec.Replicas)
		}
		return err
	})
	etcds, err := world.ReadOperator(ctx, kube.OperatorResource("etcds"))
	if err != nil || etcds.ManagementState() != "Unmanaged" {
		t.Errorf("a create-only object was changed: %v", err)
	}

	settle(t, world)
	untilVersion(t, world, "Available", kube.True, "Done applying "+labtest.Version)
	untilVersion(t, world, "Progressing", kube.False, "Cluster version is "+labtest.Version)
}

// Without capabilities there are fewer ClusterOperators, and the release is complete without them. What is turned on later is added.
func TestCapabilitiesAreLeftOut(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "ClusterVersion", "version") {
			object.Object["spec"].(map[string]any)["capabilities"] = map[string]any{"baselineCapabilitySet": "None"}
		}
		return object
	}})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	root := packed(t)
	go func() {
		done <- version.Lead(ctx, world.Clients, version.Options{
			Root: root, ReleaseImage: "registry.example.com/release", Profile: "self-managed-high-availability",
			AlwaysEnabled: []string{"Ingress"}, GateWait: time.Minute, Every: 500 * time.Millisecond,
		})
	}()
	exists := func(name string) error {
		_, err := world.Dynamic.Resource(kube.ClusterOperators).Get(ctx, name, metav1.GetOptions{})
		return err
	}
	labtest.Until(t, "monitoring is there", func() error { return exists("monitoring") })
	if err := exists("ingress"); err != nil {
		t.Errorf("ingress cannot be turned off: %v", err)
	}
	for _, name := range []string{"console", "image-registry", "machine-api", "cluster-autoscaler", "operator-lifecycle-manager", "olm", "storage"} {
		if err := exists(name); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	untilVersion(t, world, "Progressing", kube.True, "waiting on")
	object, err := version.ReadClusterVersion(ctx, world.Clients)
	if err != nil {
		t.Fatal(err)
	}
	enabled, _, _ := unstructured.NestedStringSlice(object.Object, "status", "capabilities", "enabledCapabilities")
	known, _, _ := unstructured.NestedStringSlice(object.Object, "status", "capabilities", "knownCapabilities")
	if fmt.Sprint(enabled) != "[Ingress]" || len(known) != len(version.Known) {
		t.Errorf("%v of %v", enabled, known)
	}
	patch := []byte(`{"spec":{"capabilities":{"additionalEnabledCapabilities":["Console"]}}}`)
	if _, err := world.Dynamic.Resource(kube.ClusterVersions).Patch(ctx, "version", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	labtest.Until(t, "console is there", func() error { return exists("console") })
	stop()
	if err := <-done; err != nil {
		t.Errorf("the version operator: %v", err)
	}
}

// settle lets every ClusterOperator become available: the five with stand-ins of their own by decree, the others because
// the nodes are there.
func settle(t testing.TB, world *labtest.World) {
	t.Helper()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "network"} {
		labtest.Until(t, name+" says that it is available", func() error {
			return world.WriteClusterOperator(context.Background(), name, clusteroperators.Conditions(nil), nil)
		})
	}
	world.AddMasters()
	for i := range labtest.Masters {
		path := filepath.Join(t.TempDir(), "node-annotations.json")
		text := []byte(`{"machineconfiguration.openshift.io/currentConfig":"rendered-master-1"}`)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := clusteroperators.Annotate(context.Background(), world.Clients, labtest.NodeName("master", i), path); err != nil {
			t.Fatal(err)
		}
	}
	operators := func() error { return clusteroperators.Pass(context.Background(), world.Clients, labtest.Version) }
	labtest.Until(t, "two passes", operators)
	if ingress, err := world.ReadClusterOperator(context.Background(), "ingress"); err != nil || kube.FindCondition(ingress, "Available").Status == kube.True {
		t.Errorf("there is no worker yet, and ingress is available (%v)", err)
	}
	world.AddNode(labtest.NodeName("worker", 0), "192.168.126.110", "worker")
	world.AddNode(labtest.NodeName("worker", 1), "192.168.126.111", "worker")
	labtest.Until(t, "console is available", func() error {
		if err := operators(); err != nil {
			return err
		}
		console, err := world.ReadClusterOperator(context.Background(), "console")
		if err == nil && kube.FindCondition(console, "Available").Status != kube.True {
			err = fmt.Errorf("%+v", console)
		}
		return err
	})
	if _, err := world.Kube.CoreV1().ConfigMaps("openshift-config-managed").Get(context.Background(), "default-ingress-cert", metav1.GetOptions{}); err != nil {
		t.Errorf("the router's CA: %v", err)
	}
}

// override replaces ClusterVersion's overrides.
func override(t testing.TB, world *labtest.World, entries ...map[string]any) {
	t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := version.ReadClusterVersion(context.Background(), world.Clients)
		if err != nil {
			return err
		}
		var list []any
		for _, entry := range entries {
			if entry != nil {
				list = append(list, entry)
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, list, "spec", "overrides"); err != nil {
			return err
		}
		_, err = world.Dynamic.Resource(kube.ClusterVersions).Update(context.Background(), object, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func untilVersion(t testing.TB, world *labtest.World, name, status, message string) {
	t.Helper()
	labtest.Until(t, "ClusterVersion: "+name+" "+status, func() error {
		object, err := version.ReadClusterVersion(context.Background(), world.Clients)
		if err != nil {
			return err
		}
		found := kube.FindCondition(kube.ClusterOperatorConditions(object), name)
		if found.Status != status || !strings.Contains(found.Message, message) {
			return fmt.Errorf("%+v", found)
		}
		return nil
	})
}
