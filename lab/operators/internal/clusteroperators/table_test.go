package clusteroperators

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hardway.dev/lab/operators/internal/version"
)

const manifests = "../../manifests"

// Every row has a ClusterOperator in the release and every ClusterOperator somebody who reports it.
func TestTheTableAndTheManifestsAgree(t *testing.T) {
	reported := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "network"}
	for _, row := range Table {
		reported = append(reported, row.Name)
		if row.Source == "" || len(row.Needs) == 0 {
			t.Errorf("%s needs nothing, or nobody knows why", row.Name)
		}
	}
	var inRelease []string
	files, err := filepath.Glob(manifests + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	rules := version.Rules{Profile: "self-managed-high-availability"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := version.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, object := range objects {
			if reason := rules.Exclusion(object); reason != "" {
				t.Errorf("%s: %s %s is left out: %s", file, object.GetKind(), object.GetName(), reason)
			}
			if object.GetKind() == "ClusterOperator" {
				inRelease = append(inRelease, object.GetName())
			}
		}
	}
	slices.Sort(reported)
	slices.Sort(inRelease)
	if !slices.Equal(reported, inRelease) {
		t.Errorf("reported %v\nin the release %v", reported, inRelease)
	}
	if len(inRelease) != 34 {
		t.Errorf("4.18 has 34 ClusterOperators, here are %d", len(inRelease))
	}
}

// settle lets operators become available until nothing changes, and returns what is not.
func settle(facts Facts) []string {
	for {
		changed := false
		var waiting []string
		for _, row := range Table {
			if len(row.Missing(facts)) > 0 {
				waiting = append(waiting, row.Name)
			} else if !facts.Available[row.Name] {
				facts.Available[row.Name], changed = true, true
			}
		}
		if !changed {
			return waiting
		}
	}
}

func complete() Facts {
	facts := Facts{
		Available:    map[string]bool{"network": true, "etcd": true, "kube-apiserver": true, "kube-controller-manager": true, "kube-scheduler": true},
		ReadyWorkers: []string{"w0", "w1"}, ReadyMasters: []string{"m0", "m1", "m2"}, HasMasters: true,
		ControlPlaneTopology: "HighlyAvailable", InfrastructureTopology: "HighlyAvailable",
		IngressDomain: "apps.x", IngressPlacement: "Workers", BaseDomain: "x",
	}
	for _, row := range Table {
		facts.Available[row.Name] = false
	}
	return facts
}

func TestPrerequisites(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Facts)
		waiting string
	}{
		"all there":                   {func(*Facts) {}, ""},
		"no worker":                   {func(f *Facts) { f.ReadyWorkers = nil }, "authentication console ingress monitoring"},
		"one worker":                  {func(f *Facts) { f.ReadyWorkers = f.ReadyWorkers[:1] }, "monitoring"},
		"one worker, single":          {func(f *Facts) { f.ReadyWorkers, f.InfrastructureTopology = f.ReadyWorkers[:1], "SingleReplica" }, ""},
		"masters take pods":           {func(f *Facts) { f.ReadyWorkers, f.MastersSchedulable = nil, true }, ""},
		"no domain for apps":          {func(f *Facts) { f.IngressDomain = "" }, "authentication console ingress"},
		"no base domain":              {func(f *Facts) { f.BaseDomain = "" }, "authentication console dns ingress"},
		"no machine config":           {func(f *Facts) { f.UnannotatedMasters = []string{"m1"} }, "machine-config"},
		"status never written":        {func(f *Facts) { f.ControlPlaneTopology = "" }, "config-operator"},
		"kubeadmin not believed":      {func(f *Facts) { f.KubeadminError = "too young" }, "authentication console"},
		"no registry in this cluster": {func(f *Facts) { delete(f.Available, "image-registry") }, ""},
		"no API server on a master":   {func(f *Facts) { f.Available["kube-apiserver"] = false }, "authentication console openshift-apiserver openshift-controller-manager openshift-samples operator-lifecycle-manager-packageserver"},
	} {
		facts := complete()
		c.change(&facts)
		waiting := settle(facts)
		slices.Sort(waiting)
		if got := strings.Join(waiting, " "); got != c.waiting {
			t.Errorf("%s: %s", name, got)
		}
	}
	facts := complete()
	facts.Available["network"] = false
	if waiting := settle(facts); len(waiting) < 25 {
		t.Errorf("without a network only %v wait", waiting)
	}
}
