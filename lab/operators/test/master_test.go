package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/labtest"
)

// startMasterAPIServer runs a real kube-apiserver from the files that an installer pod wrote on a master. Upstream does
// not read OpenShift's configuration file, so its lists become flags here, without what upstream does not know.
func startMasterAPIServer(t testing.TB, world *labtest.World, kubelet *labtest.Kubelet) *kube.Clients {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(kubelet.Root, "manifests/kube-apiserver-pod.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pod struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := yaml.Unmarshal(manifest, &pod); err != nil {
		t.Fatal(err)
	}
	resources := filepath.Join(kubelet.Root, "static-pod-resources/kube-apiserver-pod-"+pod.Metadata.Labels["revision"])
	arguments := upstreamArguments(t, filepath.Join(resources, "configmaps/config/config.yaml"),
		"/etc/kubernetes/static-pod-resources", resources,
		"/etc/kubernetes/static-pod-certs", filepath.Join(kubelet.Root, "static-pod-resources/kube-apiserver-certs"))
	arguments = append(arguments, "--secure-port=6443", "--advertise-address="+kubelet.Address)
	process := kubelet.Start("kube-apiserver-master", append([]string{labtest.Tool(t, "kube-apiserver")}, arguments...)...)
	clients := connect(t, world.Through("kubeconfigs/admin-internal.kubeconfig", kubelet.Address))
	process.Until("the master's API server is ready", func() error {
		_, err := clients.Kube.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background())
		return err
	})
	return clients
}

func connect(t testing.TB, kubeconfig string) *kube.Clients {
	t.Helper()
	clients, err := kube.Connect(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func upstreamArguments(t testing.TB, path string, replace ...string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		APIServerArguments map[string][]string
		ServicesSubnet     string
		ServingInfo        struct {
			NamedCertificates []struct {
				CertFile, KeyFile string
				Names             []string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(strings.NewReplacer(replace...).Replace(string(text))), &config); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"--service-cluster-ip-range=" + config.ServicesSubnet}
	for name, values := range config.APIServerArguments {
		for _, value := range values {
			isForeign := name == "feature-gates" || strings.Contains(value, ".openshift.io/") || value == "Scope" || value == "SystemMasters"
			if !isForeign {
				arguments = append(arguments, "--"+name+"="+value)
			}
		}
	}
	for _, named := range config.ServingInfo.NamedCertificates {
		value := named.CertFile + "," + named.KeyFile
		if len(named.Names) > 0 {
			value += ":" + strings.Join(named.Names, ",")
		}
		arguments = append(arguments, "--tls-sni-cert-key="+value)
	}
	return arguments
}

// checkMaster asks the master's API server for what must have come with the pivot.
func checkMaster(t testing.TB, world *labtest.World, master *kube.Clients) {
	t.Helper()
	ctx := context.Background()
	if _, err := master.ReadInfrastructure(ctx); err != nil {
		t.Errorf("the master's API server reads another cluster: %v", err)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(master.Config.Host, "https://"), ":6443")
	who := func(config *rest.Config) string {
		clients, err := kube.ForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		review, err := clients.Kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return err.Error()
		}
		return review.Status.UserInfo.Username
	}
	bootstrapper := connect(t, world.Through("kubeconfigs/kubelet.kubeconfig", address)).Config
	if found := who(bootstrapper); found != "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" {
		t.Errorf("nodes' first identity: %s", found)
	}
	withToken := func(token string) *rest.Config {
		config := rest.AnonymousClientConfig(master.Config)
		config.BearerToken = token
		return config
	}
	old := secret(t, world, "openshift-kube-apiserver", "localhost-recovery-client-token")
	if found := who(withToken(string(old.Data["token"]))); found != "system:serviceaccount:openshift-kube-apiserver:localhost-recovery-client" {
		t.Errorf("a token of the bootstrap controller manager: %s", found)
	}
	for name, signer := range map[string]*kube.Clients{"bootstrap": world.Clients, "master": master} {
		request, err := signer.Kube.CoreV1().ServiceAccounts("openshift-etcd").CreateToken(ctx, "installer-sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if found := who(withToken(request.Status.Token)); found != "system:serviceaccount:openshift-etcd:installer-sa" {
			t.Errorf("a token of the %s API server is not accepted by the master's: %s", name, found)
		}
		onBootstrap := rest.AnonymousClientConfig(world.Config)
		onBootstrap.BearerToken = request.Status.Token
		if found := who(onBootstrap); found != "system:serviceaccount:openshift-etcd:installer-sa" {
			t.Errorf("a token of the %s API server is not accepted by the bootstrap one: %s", name, found)
		}
	}
	if fmt.Sprint(master.Config.TLSClientConfig.ServerName) != "api-int.ocp4.example.com" {
		t.Errorf("the name that was checked is %s", master.Config.TLSClientConfig.ServerName)
	}
}
