// Package composition tests what the lab's release says of itself: which components are stand-ins.
package composition

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The scripts as they are, with images that are made of nothing.
const script = `
set -euo pipefail
here=$1 repo=$1/../.. work=$2 bin=$2/bin version=4.18.99-lab registry=registry.example.com operator=layer
tag=lab given_programs='' given_release='' release_tag_there='' kept_stand_ins=' ' payload='' architecture=amd64 layout=$2/layout
. "$here/../common.sh"
. "$here/oci.sh"
. "$here/images.sh"
. "$here/real.sh"
. "$here/payload.sh"
shell_layer() { echo layer; }
operator_layer() { echo layer; }
iptables_layer() { echo layer; }
layer() { echo layer; }
image() { printf 'sha256:%064d' 0; }
mkdir -p "$bin"
for name in $(grep -v '^#' "$here/components.txt" | tr ' ' '\n' | grep -v '^@' | sort -u) lab-operator; do
  touch "$bin/$name"
done

read_real
component_images
release_metadata
image_references
`

type metadata struct{ Metadata map[string]string }

type references struct {
	Spec struct {
		Tags []struct {
			Name        string
			Annotations map[string]string
		}
	}
}

func TestTheReleaseSaysWhatIsReal(t *testing.T) {
	output, err := exec.Command("bash", "-c", script, "bash", "../..", t.TempDir()).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	var said metadata
	var images references
	if err := decoder.Decode(&said); err != nil {
		t.Fatal(err)
	}
	if err := decoder.Decode(&images); err != nil {
		t.Fatal(err)
	}
	standIns := strings.Split(said.Metadata["stand-ins"], ", ")
	kinds := map[string]string{}
	for _, tag := range images.Spec.Tags {
		kinds[tag.Name] = tag.Annotations["hardway.dev/lab"]
		if isListed := slices.Contains(standIns, tag.Name); isListed != (kinds[tag.Name] == "stand-in") {
			t.Errorf("%s is %q, and the list has %v", tag.Name, kinds[tag.Name], standIns)
		}
	}
	for tag, programs := range components(t) {
		if strings.Contains(programs, "@") && kinds[tag] != "stand-in" {
			t.Errorf("%s is %q", tag, kinds[tag])
		}
	}
	for tag, kind := range map[string]string{
		"etcd": "real", "kube-proxy": "real", "hyperkube": "stand-in", "cli": "stand-in", "pod": "stand-in", "machine-config-operator": "stand-in",
		"ovn-kubernetes": "empty",
	} {
		if kinds[tag] != kind {
			t.Errorf("%s is %q", tag, kinds[tag])
		}
	}
	want := "etcd, kube-apiserver, kube-controller-manager, kube-scheduler (in hyperkube), kube-proxy, kubectl (in cli)"
	if said.Metadata["real"] != want {
		t.Errorf("real: %s", said.Metadata["real"])
	}
	if !strings.HasSuffix(said.Metadata["without a program"], " components, whose image only says so") {
		t.Errorf("%v", said.Metadata)
	}
}

// components are the lines of components.txt.
func components(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("../../components.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	found := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if tag, programs, ok := strings.Cut(lines.Text(), " "); ok && !strings.HasPrefix(tag, "#") {
			found[tag] = programs
		}
	}
	return found
}
