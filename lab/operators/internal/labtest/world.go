package labtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/version"
)

// World is a bootstrap host as far as operators see it: its etcd, its API server, its controller manager, and the
// objects that it creates.
type World struct {
	testing.TB
	// Dir is the test's, Assets what hardway made.
	Dir, Assets string
	// Kubeconfig leads to the API server that Clients talk to.
	Kubeconfig string
	*kube.Clients
	APIServer *Process
}

// Options change what is found.
type Options struct {
	// EtcdPrefix is kubernetes.io unless a test wants it wrong.
	EtcdPrefix string
	// Edit changes an object before it is created; nil leaves it out.
	Edit func(*unstructured.Unstructured) *unstructured.Unstructured
}

// Version is the sample release's.
const Version = "4.18.99"

// NewWorld starts everything and creates the objects.
func NewWorld(t testing.TB, options Options) *World {
	t.Helper()
	Tool(t, "etcd")
	world := &World{TB: t, Dir: t.TempDir(), Assets: Assets(t, "ha")}
	if options.EtcdPrefix == "" {
		options.EtcdPrefix = "kubernetes.io"
	}
	world.startEtcd()
	world.StartAPIServer(options.EtcdPrefix)
	Start(t, world.Dir, "kube-controller-manager", nil, Tool(t, "kube-controller-manager"),
		"--kubeconfig="+world.asset("kubeconfigs/loopback.kubeconfig"), "--leader-elect=false",
		"--service-account-private-key-file="+world.asset("secrets/service-account.key"),
		"--root-ca-file="+world.asset("pki/kube-apiserver-complete-server-ca-bundle.crt"),
		"--controllers=serviceaccount-token-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,namespace-controller",
	)
	world.create(options.Edit)
	return world
}

func (w *World) asset(path string) string { return filepath.Join(w.Assets, path) }

// startEtcd runs the bootstrap member as its static pod says, with the files that its certificates are.
func (w *World) startEtcd() {
	w.Helper()
	text, err := os.ReadFile(w.asset("static-pods/etcd-member-pod.yaml"))
	if err != nil {
		w.Fatal(err)
	}
	certs := filepath.Join(w.Dir, "etcd-certs")
	copies := map[string]string{"pki/etcd-ca-bundle.crt": "ca.crt"}
	for _, use := range []string{"peer", "serving", "serving-metrics"} {
		name := "etcd-" + use + "-bootstrap.ocp4.example.com"
		copies["pki/"+name+".crt"], copies["secrets/"+name+".key"] = "etcd-all-certs/"+name+".crt", "etcd-all-certs/"+name+".key"
	}
	for from, to := range copies {
		w.copy(w.asset(from), filepath.Join(certs, to))
	}
	container := ReadContainer(w, text, "etcd", "/etc/ssl/etcd", certs, "/var/lib/etcd", filepath.Join(w.Dir, "etcd"))
	Start(w, w.Dir, "etcd-bootstrap", container.Environment(), append([]string{Tool(w, "etcd")}, container.Args...)...)
}

// StartAPIServer runs an API server with the identities and trust of the bootstrap one.
func (w *World) StartAPIServer(prefix string) {
	w.Helper()
	pki, secrets := w.asset("pki/"), w.asset("secrets/")
	w.APIServer = Start(w, w.Dir, "kube-apiserver", nil, Tool(w, "kube-apiserver"),
		"--bind-address=127.0.0.1", "--secure-port=6443", "--advertise-address="+Bootstrap,
		"--etcd-servers=https://"+Bootstrap+":2379", "--etcd-prefix="+prefix,
		"--etcd-cafile="+pki+"/etcd-ca-bundle.crt", "--etcd-certfile="+pki+"/etcd-client.crt", "--etcd-keyfile="+secrets+"/etcd-client.key",
		"--tls-cert-file="+pki+"/kube-apiserver-localhost-server.crt", "--tls-private-key-file="+secrets+"/kube-apiserver-localhost-server.key",
		"--client-ca-file="+pki+"/kube-apiserver-complete-client-ca-bundle.crt",
		"--service-account-key-file="+pki+"/service-account.pub", "--service-account-key-file="+pki+"/bound-service-account-signing-key.pub",
		"--service-account-signing-key-file="+secrets+"/bound-service-account-signing-key.key",
		"--service-account-issuer=https://kubernetes.default.svc", "--api-audiences=https://kubernetes.default.svc",
		"--service-cluster-ip-range=172.30.0.0/16", "--authorization-mode=Node,RBAC", "--allow-privileged=true",
	)
	var err error
	w.Kubeconfig = w.asset("kubeconfigs/loopback.kubeconfig")
	if w.Clients, err = kube.Connect(w.Kubeconfig); err != nil {
		w.Fatal(err)
	}
	w.APIServer.Until("the API server is ready", func() error {
		_, err := w.Kube.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background())
		return err
	})
}

// create does what the bootstrap host does: it creates every object, and writes status where there is one.
func (w *World) create(edit func(*unstructured.Unstructured) *unstructured.Unstructured) {
	w.Helper()
	applier, err := version.NewApplier(w.Clients)
	if err != nil {
		w.Fatal(err)
	}
	objects := Objects(w, w.Assets, "release/crds", "operator-seeds", "manifests", "openshift")
	for _, object := range objects {
		if edit != nil {
			if object = edit(object); object == nil {
				continue
			}
		}
		Until(w, object.GetKind()+" "+object.GetName()+" exists", func() error {
			return CreateWithStatus(applier, object)
		})
	}
}

// CreateWithStatus creates an object and writes its status, which creating drops.
func CreateWithStatus(applier *version.Applier, object *unstructured.Unstructured) error {
	client, err := applier.Client(object)
	if err != nil {
		return err
	}
	created, err := client.Create(context.Background(), object.DeepCopy(), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil || object.Object["status"] == nil {
		return err
	}
	created.Object["status"] = object.Object["status"]
	if _, err = client.UpdateStatus(context.Background(), created, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Through makes a copy of a kubeconfig that leads to another address and still checks the name that stands in it.
func (w *World) Through(kubeconfig, address string) string {
	w.Helper()
	config, err := clientcmd.LoadFromFile(w.asset(kubeconfig))
	if err != nil {
		w.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.TLSServerName = strings.TrimSuffix(strings.TrimPrefix(cluster.Server, "https://"), ":6443")
		cluster.Server = "https://" + address + ":6443"
	}
	path := filepath.Join(w.Dir, filepath.Base(kubeconfig)+"-"+address)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		w.Fatal(err)
	}
	return path
}

// NodeName is a host's name in the scenario.
func NodeName(role string, i int) string { return fmt.Sprintf("%s-%d.ocp4.example.com", role, i) }

// AddMasters registers three masters, as their kubelets would.
func (w *World) AddMasters() {
	w.Helper()
	for i, address := range Masters {
		w.AddNode(NodeName("master", i), address, "master")
	}
}

// AddNode registers a node that is Ready.
func (w *World) AddNode(name, address, role string) {
	w.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/" + role: ""}}}
	created, err := w.Kube.CoreV1().Nodes().Create(context.Background(), node, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	created.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
	created.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if _, err := w.Kube.CoreV1().Nodes().UpdateStatus(context.Background(), created, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *World) copy(from, to string) {
	w.Helper()
	text, err := os.ReadFile(from)
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755)); err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		w.Fatal(err)
	}
}
