package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/labtest"
)

// Set in the process that is nobody.
const asNobody = "LAB_TEST_NODE_DIR"

// A node without apiserver-url.env has no network operator: it ends, and says why.
func TestTheNetworkOperatorEndsWithoutItsFile(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "kubeconfig"), []byte("clusters: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := runNetworkOperator(context.Background(), []string{"--node-dir=" + folder})
	if err == nil || err.Error() != "Error: "+folder+"/apiserver-url.env is missing" {
		t.Errorf("%v", err)
	}
}

// It is nobody in the pod, so the file is for everybody's eyes, or there is no network.
func TestTheNetworkOperatorIsNobody(t *testing.T) {
	if folder := os.Getenv(asNobody); folder != "" {
		if err := useNodeAddress(folder); err != nil {
			t.Fatal(err)
		}
		if host := os.Getenv("KUBERNETES_SERVICE_HOST"); host != "api-int.ocp4.example.com" {
			t.Errorf("%q", host)
		}
		return
	}
	text, err := os.ReadFile("../../manifests/0000_70_cluster-network-operator_03_deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					SecurityContext struct {
						RunAsUser    uint32
						RunAsNonRoot bool
					}
					Containers []struct{ SecurityContext map[string]any }
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	if pod.SecurityContext.RunAsUser != 65534 || !pod.SecurityContext.RunAsNonRoot || pod.Containers[0].SecurityContext != nil {
		t.Fatalf("%+v", pod)
	}
	if os.Getuid() != 0 {
		labtest.Skip(t, "only root becomes somebody else")
	}
	folder, err := os.MkdirTemp("", "node")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o644: "", 0o600: "permission denied"} {
		path := filepath.Join(folder, "apiserver-url.env")
		if err := os.WriteFile(path, []byte("KUBERNETES_SERVICE_HOST='api-int.ocp4.example.com'\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		output, err := asUser(t, pod.SecurityContext.RunAsUser, folder)
		if (err == nil) != (want == "") || !strings.Contains(output, want) {
			t.Errorf("mode %o: %v\n%s", mode, err, output)
		}
	}
}

// asUser runs this very test in another process, from a copy that everybody may run.
func asUser(t *testing.T, id uint32, folder string) (string, error) {
	t.Helper()
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "test")
	if err := os.WriteFile(copied, program, 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(copied, "-test.run=^TestTheNetworkOperatorIsNobody$")
	command.Dir = folder
	command.Env = append(os.Environ(), asNobody+"="+folder)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	output, err := command.CombinedOutput()
	return string(output), err
}
