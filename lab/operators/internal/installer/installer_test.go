package installer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"hardway.dev/lab/operators/internal/kube"
)

func configMap(name string, data map[string]string) runtime.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}, Data: data}
}

func secret(name string, data map[string]string) runtime.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}, Data: map[string][]byte{"tls.key": []byte(data["tls.key"])}}
}

func options(root string) Options {
	return Options{
		Revision: 3, Namespace: "n", Pod: "etcd-pod", NodeName: "master-0.x",
		ResourceDir: filepath.Join(root, "static-pod-resources"), PodDir: filepath.Join(root, "manifests"),
		CertDir:    filepath.Join(root, "static-pod-resources/etcd-certs"),
		Revisioned: Names{ConfigMaps: []string{"etcd-pod", "config"}, OptionalConfigMaps: []string{"absent"}, Secrets: []string{"key"}},
		Certs:      Names{Secrets: []string{"all"}},
	}
}

func objects() []runtime.Object {
	return []runtime.Object{
		configMap("etcd-pod-3", map[string]string{"pod.yaml": "name: NODE_NAME, rev REVISION, $(NODE_NODE_ENVVAR_NAME_IP)"}),
		configMap("config-3", map[string]string{"config.yaml": "c"}),
		secret("key-3", map[string]string{"tls.key": "k"}),
		secret("all", map[string]string{"tls.key": "a"}),
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v", path, info.Mode())
	}
	return string(text)
}

func TestRunWritesAllFiles(t *testing.T) {
	root := t.TempDir()
	clients := &kube.Clients{Kube: fake.NewSimpleClientset(objects()...)}
	for range 2 {
		if err := Run(context.Background(), clients, options(root)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"manifests/etcd-pod.yaml":                                       "name: master-0.x, rev 3, $(NODE_master_0_x_IP)",
		"static-pod-resources/etcd-pod-3/etcd-pod.yaml":                 "name: master-0.x, rev 3, $(NODE_master_0_x_IP)",
		"static-pod-resources/etcd-pod-3/configmaps/config/config.yaml": "c",
		"static-pod-resources/etcd-pod-3/secrets/key/tls.key":           "k",
		"static-pod-resources/etcd-certs/secrets/all/tls.key":           "a",
	} {
		if got := read(t, filepath.Join(root, path)); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	left, _ := filepath.Glob(filepath.Join(root, "manifests", ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A pod that lacks a file would crash for ever; so it is not written, and everything missing is named at once.
func TestRunWritesNoPodWithoutItsFiles(t *testing.T) {
	root := t.TempDir()
	clients := &kube.Clients{Kube: fake.NewSimpleClientset(objects()[:1]...)}
	err := Run(context.Background(), clients, options(root))
	if err == nil || !strings.Contains(err.Error(), "config-3") || !strings.Contains(err.Error(), "key-3") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "manifests/etcd-pod.yaml")); !os.IsNotExist(err) {
		t.Error("the pod was written")
	}
}

func TestRunRefusesBadOptions(t *testing.T) {
	clients := &kube.Clients{Kube: fake.NewSimpleClientset(configMap("etcd-pod-3", nil))}
	for _, change := range []func(*Options){func(o *Options) { o.Revision = 0 }, func(o *Options) { o.NodeName = "" }, func(*Options) {}} {
		o := options(t.TempDir())
		change(&o)
		if Run(context.Background(), clients, o) == nil {
			t.Error("taken")
		}
	}
}

func TestSyncCerts(t *testing.T) {
	folder := t.TempDir()
	clients := &kube.Clients{Kube: fake.NewSimpleClientset(secret("all", map[string]string{"tls.key": "1"}))}
	names := Names{Secrets: []string{"all"}, OptionalConfigMaps: []string{"absent"}}
	path := filepath.Join(folder, "secrets/all/tls.key")
	for _, want := range []string{"1", "2"} {
		update := secret("all", map[string]string{"tls.key": want}).(*corev1.Secret)
		if _, err := clients.Kube.CoreV1().Secrets("n").Update(context.Background(), update, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := SyncCertsOnce(context.Background(), clients, "n", folder, names); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != want {
			t.Errorf("%q", got)
		}
	}
}
