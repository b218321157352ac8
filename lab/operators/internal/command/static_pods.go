package command

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hardway.dev/lab/operators/internal/apiserver"
	"hardway.dev/lab/operators/internal/controllermanager"
	"hardway.dev/lab/operators/internal/etcd"
	"hardway.dev/lab/operators/internal/installer"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/scheduler"
	"hardway.dev/lab/operators/internal/staticpod"
)

// install is the installer pod.
func install(ctx context.Context, arguments []string) error {
	flags := newFlags("installer")
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig; the pod's account without it")
	options := installer.Options{NodeName: os.Getenv("NODE_NAME")}
	flags.IntVar(&options.Revision, "revision", 0, "number of the revision")
	flags.StringVar(&options.Namespace, "namespace", "", "where the objects are")
	flags.StringVar(&options.Pod, "pod", "", "ConfigMap of the pod, without its revision")
	flags.StringVar(&options.ResourceDir, "resource-dir", "", "where revisions go")
	flags.StringVar(&options.PodDir, "pod-manifest-dir", "", "where the kubelet looks")
	flags.StringVar(&options.CertDir, "cert-dir", "", "where objects without revision go")
	configMaps, optionalConfigMaps := list(flags, "configmaps"), list(flags, "optional-configmaps")
	secrets, optionalSecrets := list(flags, "secrets"), list(flags, "optional-secrets")
	certConfigMaps, optionalCertConfigMaps := list(flags, "cert-configmaps"), list(flags, "optional-cert-configmaps")
	certSecrets, optionalCertSecrets := list(flags, "cert-secrets"), list(flags, "optional-cert-secrets")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	options.Revisioned = installer.Names{ConfigMaps: *configMaps, OptionalConfigMaps: *optionalConfigMaps, Secrets: *secrets, OptionalSecrets: *optionalSecrets}
	options.Certs = installer.Names{ConfigMaps: *certConfigMaps, OptionalConfigMaps: *optionalCertConfigMaps, Secrets: *certSecrets, OptionalSecrets: *optionalCertSecrets}
	clients, err := kube.Connect(*kubeconfig)
	if err != nil {
		return err
	}
	return retry(ctx, 5, func() error { return installer.Run(ctx, clients, options) })
}

// retry outlasts an API server that is just being replaced.
func retry(ctx context.Context, times int, do func() error) (err error) {
	for range times {
		if err = do(); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
	return err
}

// syncCerts is the sidecar that keeps certificates up to date.
func syncCerts(ctx context.Context, arguments []string) error {
	flags := newFlags("cert-syncer")
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig")
	namespace := flags.String("namespace", "", "where the objects are")
	folder := flags.String("destination-dir", "", "where they go")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	for _, operand := range []staticpod.Operand{apiserver.Operand, controllermanager.Operand, scheduler.Operand} {
		if operand.Namespace != *namespace {
			continue
		}
		clients, err := kube.Connect(*kubeconfig)
		if err != nil {
			return err
		}
		names := installer.Names{
			ConfigMaps: staticpod.Required(operand.CertConfigMaps), OptionalConfigMaps: staticpod.Optional(operand.CertConfigMaps),
			Secrets: staticpod.Required(operand.CertSecrets), OptionalSecrets: staticpod.Optional(operand.CertSecrets),
		}
		installer.SyncCerts(ctx, clients, *namespace, *folder, names, 10*time.Second)
		return nil
	}
	return fmt.Errorf("no operand runs in %q", *namespace)
}

// serveInsecureReadyz answers load balancers that cannot speak TLS (cluster-kube-apiserver-operator
// pkg/cmd/insecurereadyz).
func serveInsecureReadyz(ctx context.Context, arguments []string) error {
	flags := newFlags("insecure-readyz")
	port := flags.String("insecure-port", "6080", "port")
	url := flags.String("delegate-url", "", "what to ask")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	// Whether it is ready is no secret, and nothing is sent: the certificate does not matter.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	handler := http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		response, err := client.Get(*url)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		answer.WriteHeader(response.StatusCode)
		_, _ = io.Copy(answer, response.Body)
	})
	server := &http.Server{Addr: ":" + *port, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

func serveEtcdReadyz(ctx context.Context, arguments []string) error {
	flags := newFlags("readyz")
	var options etcd.ReadyzOptions
	flags.StringVar(&options.Target, "target", "https://localhost:2379", "the member")
	flags.StringVar(&options.ListenPort, "listen-port", "9980", "port")
	flags.StringVar(&options.ServingCert, "serving-cert-file", "", "certificate to serve with")
	flags.StringVar(&options.ServingKey, "serving-key-file", "", "its key")
	flags.StringVar(&options.Cert, "client-cert-file", "", "certificate to ask with")
	flags.StringVar(&options.Key, "client-key-file", "", "its key")
	flags.StringVar(&options.CACert, "client-cacert-file", "", "CAs of etcd")
	flags.String("listen-cipher-suites", "", "not used")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	return etcd.ServeReadyz(ctx, options)
}

func runEtcd(ctx context.Context, arguments []string) error {
	flags := newFlags("run-etcd")
	var options etcd.RunOptions
	endpoints := list(flags, "endpoints")
	flags.StringVar(&options.CACert, "cacert", "", "CAs of etcd")
	flags.StringVar(&options.Cert, "cert", "", "certificate to ask with")
	flags.StringVar(&options.Key, "key", "", "its key")
	flags.StringVar(&options.DataDir, "data-dir", "/var/lib/etcd", "etcd's data")
	flags.StringVar(&options.Name, "name", "", "this member")
	flags.StringVar(&options.PeerURL, "peer-url", "", "where its peers reach it")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	options.Endpoints, options.Command = *endpoints, flags.Args()
	if len(options.Command) == 0 || options.Name == "" || strings.Contains(options.PeerURL, "$(") {
		return fmt.Errorf("usage: lab-operator run-etcd --name=N --peer-url=U … -- etcd …")
	}
	return etcd.Run(ctx, options)
}

// copySelf puts this program where a container of another image can run it.
func copySelf(_ context.Context, arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: lab-operator copy-self PATH")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(arguments[0]), 0o755); err != nil {
		return err
	}
	return installer.WriteAtomically(arguments[0], text, 0o755)
}
