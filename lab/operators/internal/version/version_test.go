package version

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hardway.dev/lab/operators/internal/kube"
)

const profile = "include.release.openshift.io/self-managed-high-availability"

func object(kind, namespace, name string, annotations map[string]string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	made.SetNamespace(namespace)
	made.SetName(name)
	made.SetAnnotations(annotations)
	return made
}

func TestExclusion(t *testing.T) {
	rules := Rules{Profile: "self-managed-high-availability", DisabledCapabilities: []string{"Console"}}
	preview := Rules{Profile: "self-managed-high-availability", FeatureSet: "TechPreviewNoUpgrade"}
	for name, c := range map[string]struct {
		rules       Rules
		annotations map[string]string
		reason      string
	}{
		"ours":                     {rules, map[string]string{profile: "true"}, ""},
		"no annotations":           {rules, nil, "no annotations"},
		"another profile":          {rules, map[string]string{"include.release.openshift.io/hypershift": "true"}, "not for profile"},
		"a value that is not true": {rules, map[string]string{profile: "false-except-for-the-config-operator"}, "not for profile"},
		"default set":              {rules, map[string]string{profile: "true", "release.openshift.io/feature-set": "Default,TechPreviewNoUpgrade"}, ""},
		"another set":              {rules, map[string]string{profile: "true", "release.openshift.io/feature-set": "TechPreviewNoUpgrade"}, "feature set Default"},
		"preview":                  {preview, map[string]string{profile: "true", "release.openshift.io/feature-set": "TechPreviewNoUpgrade"}, ""},
		"unknown set":              {rules, map[string]string{profile: "true", "release.openshift.io/feature-set": "Default,New"}, "unknown feature set New"},
		"capability off":           {rules, map[string]string{profile: "true", "capability.openshift.io/name": "Ingress+Console"}, "Console is off"},
	} {
		reason := c.rules.Exclusion(object("ConfigMap", "n", "x", c.annotations))
		if (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: %q", name, reason)
		}
	}
}

func TestIsUnmanaged(t *testing.T) {
	overrides := []Override{
		{Kind: "ConfigMap", Namespace: "n", Name: "x", Unmanaged: true},
		{Kind: "Secret", Namespace: "n", Name: "x"},
		{Kind: "Namespace", Namespace: "ignored", Name: "n", Unmanaged: true},
		{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "d", Unmanaged: true},
	}
	for _, c := range []struct {
		object *unstructured.Unstructured
		want   bool
	}{
		{object("ConfigMap", "n", "x", nil), true},
		{object("ConfigMap", "other", "x", nil), false},
		{object("ConfigMap", "n", "y", nil), false},
		{object("Secret", "n", "x", nil), false},
		{object("Namespace", "", "n", nil), true},
		{object("Deployment", "n", "d", nil), false},
	} {
		if got := IsUnmanaged(overrides, c.object); got != c.want {
			t.Errorf("%s %s/%s: %v", c.object.GetKind(), c.object.GetNamespace(), c.object.GetName(), got)
		}
	}
}

func TestGroups(t *testing.T) {
	payload := &Payload{}
	for _, file := range []string{"0000_20_etcd-operator_00_a.yaml", "0000_20_etcd-operator_06_b.yaml", "0000_20_kube_00_a.yaml", "0000_25_etcd-operator_00_a.yaml", "other.yaml"} {
		payload.Manifests = append(payload.Manifests, Manifest{File: file})
	}
	var sizes []int
	for _, group := range payload.Groups() {
		sizes = append(sizes, len(group))
	}
	if len(sizes) != 4 || sizes[0] != 2 {
		t.Error(sizes)
	}
}

func TestLoad(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, "release-manifests", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(root, "img", Rules{}); err == nil {
		t.Error("a release without metadata was taken")
	}
	write("release-metadata", `{"kind":"cincinnati-metadata-v0","version":"4.18.1"}`)
	write("image-references", `{}`)
	annotations := "metadata: {name: x, annotations: {" + profile + `: "true"}}` + "\n"
	write("0000_00_cluster-version-operator_03_deployment.yaml", "apiVersion: v1\nkind: A\n"+annotations+"image: \"{{.ReleaseImage}}\"\n---\napiVersion: v1\nkind: B\nmetadata: {name: y}\n")
	payload, err := Load(root, "img", Rules{Profile: "self-managed-high-availability"})
	if err != nil || payload.Version != "4.18.1" || len(payload.Manifests) != 1 || len(payload.Skipped) != 1 {
		t.Fatalf("%+v, %v", payload, err)
	}
	if payload.Manifests[0].Object.Object["image"] != "img" {
		t.Error(payload.Manifests[0].Object.Object)
	}
	write("bad.yaml", "a: [")
	if _, err := Load(root, "img", Rules{}); err == nil || !strings.Contains(err.Error(), "bad.yaml") {
		t.Errorf("%v", err)
	}
}

func TestNextStatus(t *testing.T) {
	payload := &Payload{Version: "4.18.1", Image: "img"}
	now := metav1.Now()
	find := func(status Status, kind string) kube.Condition { return kube.FindCondition(status.Conditions, kind) }
	working := NextStatus(Status{}, payload, Result{Done: 5, Total: 10, Waiting: []string{"etcd", "network"}}, []Override{{}}, now)
	if c := find(working, "Progressing"); c.Status != kube.True || c.Message != "Working towards 4.18.1: 5 of 10 done (50% complete), waiting on etcd, network" {
		t.Errorf("%+v", c)
	}
	if find(working, "Failing").Status != kube.False || find(working, "Available").Status != kube.False || working.History[0].State != "Partial" {
		t.Errorf("%+v", working)
	}
	if find(working, "Upgradeable").Reason != "ClusterVersionOverridesSet" {
		t.Error("overrides keep it from upgrading")
	}
	failing := NextStatus(working, payload, Result{Done: 5, Total: 10, Errors: []error{errors.New("no")}}, nil, now)
	if find(failing, "Failing").Status != kube.True || find(failing, "Progressing").Message != "Unable to apply 4.18.1: no" {
		t.Errorf("%+v", failing)
	}
	done := NextStatus(failing, payload, Result{Done: 10, Total: 10}, nil, now)
	if find(done, "Available").Message != "Done applying 4.18.1" || find(done, "Progressing").Message != "Cluster version is 4.18.1" ||
		find(done, "Progressing").Status != kube.False || done.History[0].State != "Completed" || done.History[0].CompletionTime == nil || len(done.History) != 1 {
		t.Errorf("%+v", done)
	}
	later := NextStatus(done, payload, Result{Done: 9, Total: 10, Waiting: []string{"dns"}}, nil, now)
	if find(later, "Available").Status != kube.True || later.History[0].State != "Completed" {
		t.Error("what was once installed stays available")
	}
}
