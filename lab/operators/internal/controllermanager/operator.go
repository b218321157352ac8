package controllermanager

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/operator"
	"hardway.dev/lab/operators/internal/staticpod"
)

//go:embed pod.yaml
var podTemplate string

// Operator is the stand-in.
type Operator struct {
	*kube.Clients
	Gates gates.Gates
	// Image is hyperkube's, PolicyImage the cluster policy controller's, OperatorImage this program's.
	Image, PolicyImage, OperatorImage string
}

// Steps are its controllers, named as upstream names them.
func (o *Operator) Steps() []operator.Step {
	controller := &staticpod.Controller{Clients: o.Clients, Operand: Operand, Image: o.OperatorImage}
	steps := []operator.Step{
		controlplane.Plain("BackingResourceController", controller.EnsureInstallerAccount),
		{Name: "CertRotation_CSRSigningCert_", Reason: "RotationError",
			Run: func(ctx context.Context, _ *kube.Operator) error { return EnsureSigner(ctx, o.Clients) }},
		controlplane.Plain("SATokenSigner", (&TokenKey{Clients: o.Clients}).Ensure),
		controlplane.Plain("ResourceSyncController", o.sync),
		controlplane.Plain("TargetConfigController", o.target),
	}
	return append(steps, controlplane.Rollout(controller)...)
}

func (o *Operator) sync(ctx context.Context) error {
	const client = "kube-controller-manager-client-cert-key"
	all := []error{o.SyncSecret(ctx, here(client), inManaged(client))}
	for _, pair := range [][2]kube.Ref{
		{here("service-ca"), inManaged("service-ca")},
		{here("client-ca"), inManaged("kube-apiserver-client-ca")},
		{here("aggregator-client-ca"), inManaged("kube-apiserver-aggregator-client-ca")},
	} {
		all = append(all, o.SyncConfigMap(ctx, pair[0], pair[1]))
	}
	return errors.Join(all...)
}

func (o *Operator) target(ctx context.Context) error {
	infrastructure, err := o.ReadInfrastructure(ctx)
	if err != nil {
		return err
	}
	network, err := o.ReadNetwork(ctx)
	if err != nil {
		return err
	}
	document, err := Observe(Facts{Infrastructure: infrastructure, Network: network, Gates: o.Gates})
	if err != nil {
		return err
	}
	internal, err := infrastructure.InternalURL()
	if err != nil {
		return fmt.Errorf("%q: %w", "configmap/controller-manager-kubeconfig", err)
	}
	arguments, err := json.Marshal(Arguments(document))
	if err != nil {
		return err
	}
	pod := strings.NewReplacer("${ARGUMENTS}", string(arguments), "${POLICY_IMAGE}", o.PolicyImage).
		Replace(controlplane.Images(podTemplate, o.Image, o.OperatorImage))
	const trust = "/etc/kubernetes/static-pod-resources/configmaps/serviceaccount-ca/ca-bundle.crt"
	const identity = "/etc/kubernetes/static-pod-certs/secrets/kube-controller-manager-client-cert-key/"
	kubeconfig := controlplane.Kubeconfig{
		Server: internal.String(), CAFile: trust, CertFile: identity + "tls.crt", KeyFile: identity + "tls.key",
	}
	write := func(name, file, text string) error {
		return controlplane.ConfigMap(ctx, o.Clients, Namespace, name, file, text)
	}
	return errors.Join(
		write("config", "config.yaml", document.Text()),
		write("kube-controller-manager-pod", "pod.yaml", pod),
		write("controller-manager-kubeconfig", "kubeconfig", kubeconfig.Text()),
		write("kube-controller-cert-syncer-kubeconfig", "kubeconfig", controlplane.RecoveryKubeconfig(trust).Text()),
		write("cluster-policy-controller-config", "config.yaml", policyConfig),
		write("recycler-config", "recycler-pod.yaml", "{}\n"),
		certs.Combine(ctx, o.Clients, "kube-controller-manager", here("serviceaccount-ca"),
			inManaged("kube-apiserver-server-ca"), inManaged("default-ingress-cert")),
		controlplane.EnsureRecoveryToken(ctx, o.Clients, Namespace),
	)
}

const policyConfig = `apiVersion: openshiftcontrolplane.config.openshift.io/v1
kind: OpenShiftControllerManagerConfig
servingInfo:
  bindAddress: 0.0.0.0:10357
  certFile: /etc/kubernetes/static-pod-certs/secrets/csr-signer/tls.crt
  keyFile: /etc/kubernetes/static-pod-certs/secrets/csr-signer/tls.key
`
