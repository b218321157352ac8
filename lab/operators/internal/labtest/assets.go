package labtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/version"
)

// Repository is the root of this project.
func Repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
}

// Assets are made by hardway itself for a scenario: what the stand-ins must accept is what it generates.
func Assets(t testing.TB, scenario string) string {
	t.Helper()
	program := os.Getenv("HARDWAY_BIN")
	if program == "" {
		program = filepath.Join(Repository(), "target", "debug", "hardway")
	}
	if _, err := os.Stat(program); err != nil {
		Skip(t, "there is no hardway to make assets with: set HARDWAY_BIN")
	}
	folder := t.TempDir()
	inputs := filepath.Join(Repository(), "crates/hardway-assets/tests/scenarios", scenario)
	for _, name := range []string{"install-config.yaml", "inventory.yaml"} {
		text, err := os.ReadFile(filepath.Join(inputs, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, err := exec.Command(program, "create", "manifests", "--dir", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("hardway create manifests: %v\n%s", err, output)
	}
	return folder
}

// Objects reads every object of folders of the assets, in file order.
func Objects(t testing.TB, assets string, folders ...string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(assets, folder, "*.y*ml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", folder, err)
		}
		slices.Sort(files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			more, err := version.Decode(text)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			objects = append(objects, more...)
		}
	}
	return objects
}

// Container is the part of a static pod that is run.
type Container struct {
	Name          string   `json:"name"`
	Command, Args []string `json:",omitempty"`
	Env           []struct{ Name, Value string }
}

// ReadContainer takes a container out of a pod's text and expands $(VARIABLES) in its arguments, as the kubelet would.
func ReadContainer(t testing.TB, text []byte, name string, replace ...string) Container {
	t.Helper()
	var pod struct {
		Spec struct{ Containers []Container }
	}
	if err := yaml.Unmarshal(text, &pod); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(pod.Spec.Containers, func(c Container) bool { return c.Name == name })
	if at < 0 {
		t.Fatalf("the pod has no container %s", name)
	}
	container := pod.Spec.Containers[at]
	replacer := strings.NewReplacer(replace...)
	for i := range container.Env {
		container.Env[i].Value = replacer.Replace(container.Env[i].Value)
		replace = append(replace, "$("+container.Env[i].Name+")", container.Env[i].Value)
	}
	replacer = strings.NewReplacer(replace...)
	for i := range container.Args {
		container.Args[i] = replacer.Replace(replacer.Replace(container.Args[i]))
	}
	return container
}

// Environment is the container's, for a process.
func (c Container) Environment() []string {
	var all []string
	for _, variable := range c.Env {
		all = append(all, variable.Name+"="+variable.Value)
	}
	return all
}
