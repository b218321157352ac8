package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const manifests = "../../manifests"

func images(t *testing.T) map[string]string {
	t.Helper()
	references, err := readReferences(filepath.Join(manifests, "image-references"))
	if err != nil || len(references) == 0 {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, reference := range references {
		all[reference.name] = "registry.example.com/" + reference.name + "@sha256:0"
	}
	return all
}

func TestPackReplacesEverything(t *testing.T) {
	to := t.TempDir()
	if err := Pack(manifests, to, "4.18.7", "", images(t)); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(to + "/*.yaml")
	originals, _ := filepath.Glob(manifests + "/*.yaml")
	if len(files) != len(originals) {
		t.Errorf("%d of %d files", len(files), len(originals))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "lab.invalid") || strings.Contains(string(text), "0.0.1-snapshot") {
			t.Errorf("%s has a placeholder left", file)
		}
	}
	deployment, err := os.ReadFile(filepath.Join(to, "0000_20_etcd-operator_06_deployment.yaml"))
	if err != nil || !strings.Contains(string(deployment), "value: registry.example.com/etcd@sha256:0}") {
		t.Errorf("%v\n%s", err, deployment)
	}
}

func TestPackGivesEveryFileAPlace(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"image-references": "{}", "00_roles.yaml": "{}", "01_crd.yml": "{}", "0000_10_service-ca_00_namespace.yaml": "{}", "gensccroles.sh": "",
	} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Pack(from, to, "4.18.7", "service-ca-operator", nil); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(to + "/*")
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	wanted := []string{"0000_10_service-ca_00_namespace.yaml", "0000_50_service-ca-operator_00_roles.yaml", "0000_50_service-ca-operator_01_crd.yml"}
	if !slices.Equal(files, wanted) {
		t.Errorf("%v", files)
	}
}

func TestPackNamesWhatIsMissing(t *testing.T) {
	all := images(t)
	delete(all, "etcd")
	delete(all, "hyperkube")
	err := Pack(manifests, t.TempDir(), "4.18.7", "", all)
	if err == nil || !strings.Contains(err.Error(), "etcd") || !strings.Contains(err.Error(), "hyperkube") {
		t.Errorf("%v", err)
	}
}

func TestRunKnowsItsNames(t *testing.T) {
	for _, arguments := range [][]string{{"kubectl"}, {"lab-operator"}, {"cluster-etcd-operator", "dance"}, {"lab-operator", "cluster-etcd-operator"}} {
		if Run(context.Background(), arguments) == nil {
			t.Errorf("%v was taken", arguments)
		}
	}
	target := filepath.Join(t.TempDir(), "a", "copy")
	if err := Run(context.Background(), []string{"lab-operator", "copy-self", target}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info, err)
	}
}
