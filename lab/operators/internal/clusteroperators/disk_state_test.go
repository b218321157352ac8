package clusteroperators

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"hardway.dev/lab/operators/internal/kube"
)

// disk is a node's, as its rendered configuration has it.
func disk(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	file := func(path, source string, mode int) map[string]any {
		return map[string]any{"path": path, "mode": mode, "contents": map[string]any{"source": source}}
	}
	config := map[string]any{
		"metadata": map[string]any{"name": "rendered-master-1"},
		"spec": map[string]any{"config": map[string]any{"storage": map[string]any{"files": []any{
			file("/etc/plain", "data:,a%20b", 0o644), file("/etc/coded", "data:text/plain;charset=utf-8;base64,YWI=", 0o600),
			file("/etc/kubernetes/kubelet-ca.crt", "data:,old", 0o644), file("/var/elsewhere", "data:,x", 0o644),
		}}}},
	}
	text, _ := json.Marshal(config)
	for name, content := range map[string]string{
		contentFile: string(text), "etc/plain": "a b", "etc/coded": "ab", "etc/kubernetes/kubelet-ca.crt": "new",
		"etc/machine-config-daemon/node-annotations.json": `{"machineconfiguration.openshift.io/currentConfig": "rendered-master-1", "machineconfiguration.openshift.io/state": "Done"}`,
	} {
		put(t, root, name, content)
	}
	if err := os.Chmod(filepath.Join(root, "etc/coded"), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func put(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestADiskIsAsRendered(t *testing.T) {
	if err := CheckDisk(disk(t), "rendered-master-1"); err != nil {
		t.Error(err)
	}
}

func TestEveryDifferenceOnDiskIsFound(t *testing.T) {
	for want, change := range map[string]func(root string) error{
		`content mismatch for file "/etc/plain"`: func(root string) error { return os.WriteFile(root+"/etc/plain", []byte("other"), 0o644) },
		`mode mismatch for file "/etc/coded"`:    func(root string) error { return os.Chmod(root+"/etc/coded", 0o644) },
		`could not stat file "/etc/plain"`:       func(root string) error { return os.Remove(root + "/etc/plain") },
		"missing MachineConfig":                  func(root string) error { return os.Remove(filepath.Join(root, contentFile)) },
	} {
		root := disk(t)
		if err := change(root); err != nil {
			t.Fatal(err)
		}
		if err := CheckDisk(root, "rendered-master-1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, wanted %s", err, want)
		}
	}
	if err := CheckDisk(disk(t), "rendered-master-2"); err == nil || !strings.Contains(err.Error(), "missing MachineConfig rendered-master-2") {
		t.Errorf("%v", err)
	}
}

// A node that is not as rendered says so itself, and is well again when it is.
func TestADriftedNodeIsDegraded(t *testing.T) {
	root := disk(t)
	clients := &kube.Clients{Kube: fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "master-0"}})}
	pass := func() map[string]string {
		if err := ReportNode(context.Background(), clients, "master-0", root); err != nil {
			t.Fatal(err)
		}
		node, err := clients.Kube.CoreV1().Nodes().Get(context.Background(), "master-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return node.Annotations
	}
	if said := pass(); said[nodeState] != "Done" || said[currentConfig] != "rendered-master-1" {
		t.Errorf("%v", said)
	}
	put(t, root, "etc/plain", "other")
	said := pass()
	if said[nodeState] != "Degraded" || !strings.Contains(said[nodeReason], "content mismatch") {
		t.Errorf("%v", said)
	}
	facts := Facts{}
	facts.nodes([]corev1.Node{{ObjectMeta: metav1.ObjectMeta{
		Name: "master-0", Labels: map[string]string{masterRole: ""}, Annotations: said,
	}}})
	if missing := annotatedMasters.Missing(facts); !strings.Contains(missing, "master-0") || !strings.Contains(missing, "content mismatch") {
		t.Errorf("%q", missing)
	}
	put(t, root, "etc/plain", "a b")
	if said := pass(); said[nodeState] != "Done" || said[nodeReason] != "" {
		t.Errorf("%v", said)
	}
}
