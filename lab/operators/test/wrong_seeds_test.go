package test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"hardway.dev/lab/operators/internal/apiserver"
	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/controllermanager"
	"hardway.dev/lab/operators/internal/etcd"
	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/labtest"
	"hardway.dev/lab/operators/internal/network"
	"hardway.dev/lab/operators/internal/scheduler"
	"hardway.dev/lab/operators/internal/version"
)

// is tells whether an object is the one that a test spoils.
func is(object *unstructured.Unstructured, kind, name string) bool {
	return object.GetKind() == kind && object.GetName() == name
}

// Without a FeatureGate no operator starts. The version operator does, with the default feature set, and so nobody is there
// to become available.
func TestWithoutAFeatureGateNoOperatorStarts(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "FeatureGate", "cluster") {
			return nil
		}
		return object
	}})
	if _, err := gates.Await(context.Background(), world.Clients, labtest.Version, 2*time.Second); !errors.Is(err, gates.ErrMissing) {
		t.Errorf("operators: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- version.Lead(ctx, world.Clients, version.Options{
			Root: packed(t), ReleaseImage: "registry.example.com/release", Profile: "self-managed-high-availability",
			GateWait: time.Minute, Every: 500 * time.Millisecond,
		})
	}()
	untilVersion(t, world, "Progressing", kube.True, "waiting on")
	stop()
	if err := <-done; err != nil {
		t.Errorf("the version operator: %v", err)
	}
}

// A FeatureGate that says nothing of this version is as good as none for operators, and their exit shows it.
func TestAFeatureGateOfAnotherVersion(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "FeatureGate", "cluster") {
			delete(object.Object, "status")
		}
		return object
	}})
	_, err := gates.Await(context.Background(), world.Clients, labtest.Version, 2*time.Second)
	if !errors.Is(err, gates.ErrMissing) || !strings.Contains(err.Error(), labtest.Version) {
		t.Errorf("%v", err)
	}
}

// A signer without its annotations is replaced, its clients with it, and etcd, which trusts the old one, refuses them.
func TestASignerWithoutAnnotations(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "Secret", "etcd-signer") {
			object.SetAnnotations(nil)
		}
		return object
	}})
	world.AddMasters()
	before := secret(t, world, etcd.Namespace, "etcd-signer")
	pass(t, runners(t, world)[0])
	after := secret(t, world, etcd.Namespace, "etcd-signer")
	if string(before.Data["tls.crt"]) == string(after.Data["tls.crt"]) {
		t.Fatal("the signer was kept")
	}
	bundle, err := world.Kube.CoreV1().ConfigMaps(etcd.Namespace).Get(context.Background(), "etcd-ca-bundle", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := certs.Decode([]byte(bundle.Data["ca-bundle.crt"])); err != nil || len(found) != 2 {
		t.Errorf("the bundle has %d certificates, %v", len(found), err)
	}
	if c := condition(t, world, etcd.Kind, "ClusterMemberControllerDegraded"); c.Status != kube.True || !strings.Contains(c.Message, "failed to get member list") {
		t.Errorf("%+v", c)
	}
	if c := condition(t, world, etcd.Kind, "EtcdMembersAvailable"); c.Status == kube.True {
		t.Errorf("%+v", c)
	}
}

// A signer with an ECDSA key is taken over, and signs nothing: certificates that came with it stay as they are, and one that is
// missing is never made.
func TestAnECDSASigner(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "Secret", "aggregator-client-signer") {
			object.Object["data"] = map[string]any{}
			object.Object["stringData"] = ellipticSigner(t, object.GetAnnotations()[certs.Issuer])
		}
		return object
	}})
	pass(t, runners(t, world)[1])
	c := condition(t, world, apiserver.Kind, "CertRotation_AggregatorProxyClientCert_Degraded")
	if c.Status != kube.True || c.Reason != "RotationError" || c.Message != "x509: requested SignatureAlgorithm does not match private key type" {
		t.Errorf("%+v", c)
	}
	if c := condition(t, world, apiserver.Kind, "CertRotation_LocalhostServing_Degraded"); c.Status != kube.False {
		t.Errorf("%+v", c)
	}
	if _, err := world.Kube.CoreV1().Secrets(apiserver.Namespace).Get(context.Background(), "aggregator-client", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it was signed: %v", err)
	}
}

func ellipticSigner(t testing.TB, name string) map[string]any {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(1), NotBefore: time.Now(), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"tls.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"tls.key": string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})),
	}
}

// What was written under another prefix is not there for the masters' API servers.
func TestAnotherEtcdPrefix(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{EtcdPrefix: "/registry"})
	document, err := apiserver.Observe(apiserver.Facts{
		Infrastructure: kube.Infrastructure{APIServerInternalURI: "https://api-int.x:6443", ControlPlaneTopology: "SingleReplica"},
		EtcdURLs:       []string{"https://" + labtest.Bootstrap + ":2379"},
	})
	if err != nil {
		t.Fatal(err)
	}
	prefix := document["apiServerArguments"].(map[string]any)["etcd-prefix"].([]any)[0].(string)
	if _, err := world.Kube.CoreV1().Namespaces().Get(context.Background(), etcd.Namespace, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	world.APIServer.Stop()
	world.StartAPIServer(prefix)
	if _, err := world.Kube.CoreV1().Namespaces().Get(context.Background(), etcd.Namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the cluster should look empty: %v", err)
	}
	if _, err := world.ReadInfrastructure(context.Background()); err == nil {
		t.Error("the cluster should look empty, and there is an Infrastructure")
	}
}

// Under a wrong name the internal address is not known: no certificate for it, no kubeconfig, no network, no revision.
func TestTheInternalAddressUnderAWrongName(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "Infrastructure", "cluster") {
			status := object.Object["status"].(map[string]any)
			status["apiServerInternalURL"] = status["apiServerInternalURI"]
			delete(status, "apiServerInternalURI")
		}
		return object
	}})
	world.AddMasters()
	for _, runner := range runners(t, world)[1:] {
		pass(t, runner)
		operator, err := world.ReadOperator(context.Background(), runner.Kind)
		if err != nil || operator.Status.LatestAvailableRevision != 0 {
			t.Errorf("%s made a revision (%v)", runner.ClusterOperator, err)
		}
	}
	for _, kind := range []schema.GroupVersionResource{controllermanager.Kind, scheduler.Kind} {
		if c := condition(t, world, kind, "TargetConfigControllerDegraded"); c.Status != kube.True || !strings.Contains(c.Message, "apiServerInternalURI") {
			t.Errorf("%s: %+v", kind, c)
		}
	}
	if c := condition(t, world, apiserver.Kind, "CertRotation_InternalLoadBalancerServing_Degraded"); c.Status != kube.True || c.Reason != "RotationError" || c.Message != "no hostnames set" {
		t.Errorf("%+v", c)
	}
	if c := condition(t, world, apiserver.Kind, "CertRotation_ExternalLoadBalancerServing_Degraded"); c.Status != kube.False {
		t.Errorf("%+v", c)
	}
	createClusterOperator(t, world, "network")
	if err := (&network.Operator{Clients: world.Clients, OperatorImage: image, ProxyImage: image}).Pass(context.Background()); err != nil {
		t.Fatal(err)
	}
	conditions, err := world.ReadClusterOperator(context.Background(), "network")
	if c := kube.FindCondition(conditions, "Degraded"); err != nil || c.Status != kube.True || !strings.Contains(c.Message, "apiServerInternalURI") {
		t.Errorf("%+v %v", c, err)
	}
	if c := kube.FindCondition(conditions, "Available"); c.Status != kube.False {
		t.Errorf("%+v", c)
	}
}

// Without the public key of old-style tokens there is no revision of the API server.
func TestWithoutTheServiceAccountPublicKey(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "ConfigMap", "sa-token-signing-certs") {
			return nil
		}
		return singleNode(object)
	}})
	all := runners(t, world)
	// What the etcd operator passes on is all that is needed of it here.
	pass(t, all[0])
	untilTokens(t, world, all[1].Pass)
	c := condition(t, world, apiserver.Kind, "RevisionControllerDegraded")
	if c.Status != kube.True || c.Message != `configmaps "sa-token-signing-certs" not found` {
		t.Errorf("%+v", c)
	}
	c = condition(t, world, apiserver.Kind, "InstallerControllerDegraded")
	if c.Status != kube.True || !strings.Contains(c.Message, "sa-token-signing-certs-0") {
		t.Errorf("%+v", c)
	}
}

// With another key in its place the API server comes up and rejects the tokens that are about.
func TestAnotherServiceAccountPublicKey(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{Edit: func(object *unstructured.Unstructured) *unstructured.Unstructured {
		if is(object, "ConfigMap", "sa-token-signing-certs") {
			other, err := certs.NewTokenKeys()
			if err != nil {
				t.Fatal(err)
			}
			object.Object["data"] = map[string]any{"service-account-001.pub": string(other["service-account.pub"])}
		}
		return singleNode(object)
	}})
	all := runners(t, world)
	// What the etcd operator passes on is all that is needed of it here.
	pass(t, all[0])
	world.AddNode(labtest.NodeName("master", 0), labtest.Masters[0], "master")
	kubelets := world.Kubelets()[:1]
	world.RunKubelets(kubelets)
	keepRunning(t, all[1:2])
	untilCondition(t, world, apiserver.Kind, "StaticPodsAvailable", kube.True, "")
	master := startMasterAPIServer(t, world, kubelets[0])
	config := rest.AnonymousClientConfig(master.Config)
	config.BearerToken = string(secret(t, world, apiserver.Namespace, "localhost-recovery-client-token").Data["token"])
	clients, err := kube.ForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = clients.Kube.AuthenticationV1().SelfSubjectReviews().Create(context.Background(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if !apierrors.IsUnauthorized(err) {
		t.Errorf("the token should be rejected: %v", err)
	}
}

// singleNode makes the cluster one of a single node, so that the bootstrap etcd is endpoint enough.
func singleNode(object *unstructured.Unstructured) *unstructured.Unstructured {
	if is(object, "Infrastructure", "cluster") {
		object.Object["status"].(map[string]any)["controlPlaneTopology"] = "SingleReplica"
	}
	return object
}

// untilTokens makes passes until the token controller has done its part.
func untilTokens(t testing.TB, world *labtest.World, pass func(context.Context) error) {
	t.Helper()
	labtest.Until(t, "the recovery token is there", func() error {
		if err := pass(context.Background()); err != nil {
			return err
		}
		if c := condition(t, world, apiserver.Kind, "TargetConfigControllerDegraded"); c.Status != kube.False {
			return errors.New(c.Message)
		}
		return nil
	})
}

func createClusterOperator(t testing.TB, world *labtest.World, name string) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": map[string]any{"name": name}, "spec": map[string]any{},
	}}
	if _, err := world.Dynamic.Resource(kube.ClusterOperators).Create(context.Background(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
