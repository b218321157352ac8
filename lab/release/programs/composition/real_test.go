package composition

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The scripts as they are, with real layers; only what takes a built lab is left out: the shell, the stand-ins' program, and that program
// itself, which fills in manifests.
const realScript = `
set -euo pipefail
here=$1 repo=$1/../.. work=$2 bin=$2/bin version=4.18.99-lab registry=registry.example.com operators=$1/../operators architecture=$(go env GOARCH)
tag=real given_programs=$3 given_release=$4 release_tag_there=$5 kept_stand_ins=" $6 " payload='' layout=$2/layout manifests=$2/sample operator=''
. "$here/../common.sh"
. "$here/oci.sh"
. "$here/images.sh"
. "$here/real.sh"
. "$here/payload.sh"
mkdir -p "$bin" "$work/empty" "$manifests"/{crds,manifests}
empty=$(layer "$work/empty")
shell_layer() { echo "$empty"; }
operator_layer() { echo "$empty"; }
iptables_layer() { echo "$empty"; }
tools_layer() { echo "$empty"; }
for name in $(grep -v '^#' "$here/components.txt" | tr ' ' '\n' | grep -v '^@' | sort -u); do
  touch "$bin/$name"
done
cat >"$bin/lab-operator" <<'PROGRAM'
#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=$2 && shift ;;
    --to) to=$2 && shift ;;
    --version) version=$2 && shift ;;
  esac
  shift
done
for file in "$from"/*.yaml; do sed "s/0.0.1-snapshot/$version/" "$file" >"$to/${file##*/}"; done
PROGRAM
chmod +x "$bin/lab-operator"
printf 'kind: CustomResourceDefinition\nmetadata:\n  name: clusterversions.config.openshift.io\n' >"$manifests/crds/0000_00_cluster-version-operator_01.yaml"
printf 'kind: CustomResourceDefinition\nmetadata:\n  name: etcds.operator.openshift.io\n' >"$manifests/crds/0000_12_etcd_01_sample.yaml"
read_real
component_images
release=$(release_image)
files_of release release-manifests "$work"
files_of release manifests "$work"
config=$(jq -r '.config.digest | ltrimstr("sha256:")' "$(manifest_of release)")
cp "$layout/blobs/sha256/$config" "$work/config.json"
`

// composed is what came of a composition.
type composed struct {
	folder   string
	metadata map[string]string
	// Of each component: what is in it, where it is, and of which versions it says it is.
	kinds, images, versions map[string]string
}

func compose(t *testing.T, programs, release, releaseTag, standIn string) (composed, error) {
	t.Helper()
	folder := t.TempDir()
	output, err := exec.Command("bash", "-c", realScript, "bash", "../..", folder, programs, release, releaseTag, standIn).CombinedOutput()
	if err != nil {
		return composed{}, errors.New(string(output))
	}
	made := composed{folder: folder, kinds: map[string]string{}, images: map[string]string{}, versions: map[string]string{}}
	var said metadata
	decode(t, filepath.Join(folder, "release-manifests/release-metadata"), &said)
	made.metadata = said.Metadata
	var stream struct {
		Spec struct {
			Tags []struct {
				Name        string
				Annotations map[string]string
				From        struct{ Name string }
			}
		}
	}
	decode(t, filepath.Join(folder, "release-manifests/image-references"), &stream)
	for _, tag := range stream.Spec.Tags {
		made.kinds[tag.Name], made.images[tag.Name] = tag.Annotations["hardway.dev/lab"], tag.From.Name
		made.versions[tag.Name] = tag.Annotations["io.openshift.build.versions"]
	}
	return made, nil
}

// has says whether these manifests are in the release.
func (c composed) has(t *testing.T, wanted map[string]bool) {
	t.Helper()
	for name, isWanted := range wanted {
		_, err := os.Stat(filepath.Join(c.folder, "release-manifests", name))
		if isThere := err == nil; isThere != isWanted {
			t.Errorf("%s: wanted %v, there %v", name, isWanted, isThere)
		}
	}
}

func TestGivenProgramsAreReal(t *testing.T) {
	programs := t.TempDir()
	write(t, programs, "cluster-etcd-operator/usr/bin/cluster-etcd-operator", "#!/bin/sh\n", 0o755)
	manifests := "cluster-etcd-operator/manifests/"
	write(t, programs, manifests+"image-references", "{}", 0o644)
	write(t, programs, manifests+"0000_20_etcd-operator_06_deployment.yaml", "kind: Deployment\nreal: 0.0.1-snapshot\n", 0o644)
	write(t, programs, manifests+"0000_12_etcd_01_etcds.crd.yaml", "kind: CustomResourceDefinition\nmetadata:\n  name: etcds.operator.openshift.io\n", 0o644)
	write(t, programs, manifests+"0000_12_etcd_01_etcds-tech-preview.crd.yaml", "kind: CustomResourceDefinition\nmetadata:\n  name: etcds.operator.openshift.io\n", 0o644)
	write(t, programs, manifests+"0000_90_etcd-operator_03_servicemonitor.yaml", "kind: ServiceMonitor\n", 0o644)
	write(t, programs, "etcd/usr/bin/etcd", "#!/bin/sh\n", 0o755)
	write(t, programs, "hyperkube/usr/bin/hyperkube", "#!/bin/sh\necho Kubernetes v1.31.7\n", 0o755)
	made, err := compose(t, programs, "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	for tag, kind := range map[string]string{
		"cluster-etcd-operator": "real", "etcd": "real", "hyperkube": "real", "cluster-kube-apiserver-operator": "stand-in", "ovn-kubernetes": "empty",
	} {
		if made.kinds[tag] != kind {
			t.Errorf("%s is %q", tag, made.kinds[tag])
		}
	}
	if made.metadata["real from"] != "a folder of programs" || strings.Contains(made.metadata["stand-ins"], "cluster-etcd-operator") {
		t.Errorf("%v", made.metadata)
	}
	if made.versions["hyperkube"] != "kubernetes=1.31.7" {
		t.Errorf("hyperkube: %q", made.versions["hyperkube"])
	}
	text, _ := os.ReadFile(filepath.Join(made.folder, "release-manifests/0000_20_etcd-operator_06_deployment.yaml"))
	if string(text) != "kind: Deployment\nreal: 4.18.99-lab\n" {
		t.Errorf("the real operator's Deployment: %q", text)
	}
	made.has(t, map[string]bool{
		"0000_12_etcd_01_etcds.crd.yaml": true, "0000_12_etcd_01_etcds-tech-preview.crd.yaml": true, "0000_12_etcd_01_sample.yaml": false, "0000_90_etcd-operator_03_servicemonitor.yaml": true,
		"0000_05_monitoring_00_servicemonitors.crd.yaml": true, "0000_05_machine-api_00_machines.crd.yaml": true,
	})
}

// With the lab's own operators, those that are real have theirs alone.
func TestManifestsOfStandInsGoWithThem(t *testing.T) {
	folder := t.TempDir()
	script := strings.Replace(realScript, "operator=''", "operator=layer", 1)
	script = script[:strings.Index(script, "release=$(release_image)")] + `standing_in "$work/left"`
	programs := t.TempDir()
	write(t, programs, "service-ca-operator/usr/bin/service-ca-operator", "#!/bin/sh\n", 0o755)
	if output, err := exec.Command("bash", "-c", script, "bash", "../..", folder, programs, "", "", "").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	all, _ := filepath.Glob("../../../operators/manifests/*.yaml")
	left, _ := filepath.Glob(folder + "/left/*.yaml")
	if len(left) != len(all)-1 {
		t.Errorf("%d of %d are left", len(left), len(all))
	}
	if _, err := os.Stat(folder + "/left/0000_50_service-ca-operator_07_clusteroperator.yaml"); err == nil {
		t.Error("the stand-in's ClusterOperator is left")
	}
}

// Every word of the table is one that manifests are called by, as far as there are stand-ins for them.
func TestWordsAreThoseOfManifests(t *testing.T) {
	text, err := os.ReadFile("../../real.txt")
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) != 3 {
			t.Fatalf("%q", line)
		}
		tags[fields[0]] = true
		// The CRDs of cluster-config-api are the sample release's otherwise.
		isElsewhere := fields[1] == "-" || fields[1] == "cluster-config-api"
		if files, _ := filepath.Glob("../../../operators/manifests/0000_*_" + fields[1] + "_*.yaml"); !isElsewhere && len(files) == 0 {
			t.Errorf("%s: no stand-in has manifests of that word", line)
		}
		for _, needed := range strings.Split(fields[2], ",") {
			if needed != "-" && !strings.Contains(string(text), "\n"+needed+" ") {
				t.Errorf("%s: %s is not in the table", line, needed)
			}
		}
	}
	if len(tags) < 10 {
		t.Errorf("%v", tags)
	}
}

// A kept stand-in is one, whatever is given.
func TestAStandInCanBeKept(t *testing.T) {
	programs := t.TempDir()
	write(t, programs, "etcd/usr/bin/etcd", "#!/bin/sh\n", 0o755)
	made, err := compose(t, programs, "", "", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	if _, isSaid := made.metadata["real from"]; isSaid {
		t.Errorf("%v", made.metadata)
	}
}

// Images, manifests, CRDs and version are those of the release that is given.
func TestAReleaseIsTakenApart(t *testing.T) {
	made, err := compose(t, "", mirrored(t, "4.20.3-x86_64", ""), "4.20.3-x86_64", "cluster-policy-controller")
	if err != nil {
		t.Fatal(err)
	}
	if made.kinds["cluster-etcd-operator"] != "real" || made.kinds["cluster-policy-controller"] == "real" || made.kinds["only-there"] != "empty" {
		t.Errorf("%v", made.kinds)
	}
	if made.metadata["real from"] != "release 4.20.3" || made.versions["hyperkube"] != "kubernetes=1.33.2" {
		t.Errorf("%v %v", made.metadata, made.versions["hyperkube"])
	}
	if image := made.images["cluster-etcd-operator"]; !strings.HasPrefix(image, "registry.example.com/hardway-lab/cluster-etcd-operator@sha256:") {
		t.Errorf("%s", image)
	}
	text, err := os.ReadFile(filepath.Join(made.folder, "release-manifests/0000_20_etcd-operator_06_deployment.yaml"))
	if want := "image: " + made.images["cluster-etcd-operator"]; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v: %s in %q", err, want, text)
	}
	made.has(t, map[string]bool{
		"0000_12_etcd_01_etcds.crd.yaml": true, "0000_12_etcd_01_sample.yaml": false, "0000_50_cluster-config-api_featureGate.yaml": true,
		"0000_70_ovn_01_daemonset.yaml": false,
	})
	// The version operator is the release's, with what it brings.
	own, err := os.ReadFile(filepath.Join(made.folder, "manifests/0000_00_cluster-version-operator_03_deployment.yaml"))
	if err != nil || string(own) != "image: '{{.ReleaseImage}}'\n" {
		t.Errorf("%v %q", err, own)
	}
	var config struct {
		Config struct {
			Entrypoint []string
			Labels     map[string]string
		}
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(t, filepath.Join(made.folder, "config.json"), &config)
	isReal := slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/real-version-operator"})
	if !isReal || config.Config.Labels["io.openshift.release"] != "4.20.3" || len(config.Rootfs.DiffIDs) != 2 {
		t.Errorf("%+v", config)
	}
}

func TestWhatAReleaseLacksIsNamed(t *testing.T) {
	_, err := compose(t, "", mirrored(t, "4.20.3-x86_64", "service-ca-operator"), "4.20.3-x86_64", "")
	if err == nil || !strings.Contains(err.Error(), "has no image 4.20.3-x86_64-service-ca-operator") || !strings.Contains(err.Error(), "--stand-in") {
		t.Errorf("%v", err)
	}
}

const mirrorScript = `
set -euo pipefail
here=$1 work=$2 layout=$2/mirror tag=$3 without=$4 architecture=$(go env GOARCH)
. "$here/oci.sh"
references='[]'
for name in $(grep -v '^#' "$here/real.txt" | cut -d' ' -f1) only-there; do
  mkdir -p "$work/$name/usr/bin"
  echo "$name" >"$work/$name/usr/bin/$name"
  if [[ $name == cluster-version-operator ]]; then
    mkdir "$work/$name/manifests"
    echo "image: '{{.ReleaseImage}}'" >"$work/$name/manifests/0000_00_cluster-version-operator_03_deployment.yaml"
    printf 'kind: CustomResourceDefinition\n' >"$work/$name/manifests/0000_00_cluster-version-operator_01_clusterversions.crd.yaml"
  fi
  if [[ $name != "$without" ]]; then
    image "$tag-$name" '{"Entrypoint": ["/usr/bin/real-version-operator"]}' "$(layer "$work/$name")" >/dev/null
  fi
  references=$(jq -c --arg name "$name" '. + [{name: $name, from: {name: "quay.example.com/release@sha256:\($name)"},
    annotations: (if $name == "hyperkube" then {"io.openshift.build.versions": "kubernetes=1.33.2"} else {} end)}]' <<<"$references")
done
manifests=$work/last/release-manifests
mkdir -p "$manifests"
jq -n --argjson tags "$references" '{spec: {$tags}}' >"$manifests/image-references"
echo '{"version": "4.20.3"}' >"$manifests/release-metadata"
printf 'image: quay.example.com/release@sha256:cluster-etcd-operator\n' >"$manifests/0000_20_etcd-operator_06_deployment.yaml"
printf 'kind: DaemonSet\n' >"$manifests/0000_70_ovn_01_daemonset.yaml"
printf 'kind: CustomResourceDefinition\nmetadata:\n  name: etcds.operator.openshift.io\n' >"$manifests/0000_12_etcd_01_etcds.crd.yaml"
printf 'apiVersion: "config.openshift.io/v1"\nkind: "FeatureGate"\n' >"$manifests/0000_50_cluster-config-api_featureGate.yaml"
image "$tag" '{}' "$(layer "$work/cluster-version-operator")" "$(layer "$work/last")" >/dev/null
`

// mirrored makes a folder like that of `hardway release mirror --to-dir`.
func mirrored(t *testing.T, tag, without string) string {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.Command("bash", "-c", mirrorScript, "bash", "../..", folder, tag, without).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return filepath.Join(folder, "mirror")
}

func write(t *testing.T, folder, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
