package apiserver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/etcd"
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
	// Image is hyperkube's, OperatorImage this program's.
	Image, OperatorImage string
}

// Steps are its controllers, named as upstream names them.
func (o *Operator) Steps() []operator.Step {
	controller := &staticpod.Controller{Clients: o.Clients, Operand: Operand, Image: o.OperatorImage}
	steps := []operator.Step{
		controlplane.Plain("BackingResourceController", controller.EnsureInstallerAccount),
		controlplane.Plain("BoundSATokenSignerController", func(ctx context.Context) error { return EnsureTokenKeys(ctx, o.Clients) }),
		controlplane.Plain("ResourceSyncController", o.sync),
		{Name: "ConfigObservation", Run: o.observe},
		controlplane.Plain("TargetConfigController", o.target),
	}
	steps = slices.Insert(steps, 1, o.rotations()...)
	return append(steps, controlplane.Rollout(controller)...)
}

// rotations are a step for each certificate. The first of them reads what all of them depend on.
func (o *Operator) rotations() []operator.Step {
	var chains []Rotation
	var unread error
	var steps []operator.Step
	for i, name := range rotationNames {
		steps = append(steps, operator.Step{
			Name: "CertRotation_" + name + "_", Reason: "RotationError",
			Run: func(ctx context.Context, _ *kube.Operator) error {
				if i == 0 {
					chains, unread = o.chains(ctx)
				}
				if unread != nil {
					return unread
				}
				return chains[i].Ensure(ctx, o.Clients)
			},
		})
	}
	return steps
}

func (o *Operator) chains(ctx context.Context) ([]Rotation, error) {
	infrastructure, err := o.ReadInfrastructure(ctx)
	if err != nil {
		return nil, err
	}
	network, err := o.ReadNetwork(ctx)
	if err != nil {
		return nil, err
	}
	return Chains(infrastructure, network)
}

// sync copies what others own (cluster-kube-apiserver-operator pkg/operator/resourcesynccontroller).
func (o *Operator) sync(ctx context.Context) error {
	all := []error{o.SyncSecret(ctx, here("etcd-client"), inConfig("etcd-client"))}
	for _, pair := range [][2]kube.Ref{
		{here("etcd-serving-ca"), inConfig("etcd-serving-ca")},
		{here("sa-token-signing-certs"), inManaged("sa-token-signing-certs")},
		{here("aggregator-client-ca"), inManaged("kube-apiserver-aggregator-client-ca")},
		{here("kubelet-serving-ca"), inManaged("csr-controller-ca")},
		{inManaged("kube-apiserver-client-ca"), here("client-ca")},
		{inManaged("kubelet-serving-ca"), here("kubelet-serving-ca")},
		{inManaged("kube-apiserver-server-ca"), here("kube-apiserver-server-ca")},
		{inManaged("bound-sa-token-signing-certs"), here("bound-sa-token-signing-certs")},
	} {
		all = append(all, o.SyncConfigMap(ctx, pair[0], pair[1]))
	}
	return errors.Join(all...)
}

// observe writes the configuration.
func (o *Operator) observe(ctx context.Context, operator *kube.Operator) error {
	facts, err := o.facts(ctx)
	if err != nil {
		return err
	}
	document, err := Observe(facts)
	if err != nil {
		return err
	}
	observed := map[string]any{
		"apiServerArguments": map[string]any{
			"etcd-servers":  document["apiServerArguments"].(map[string]any)["etcd-servers"],
			"feature-gates": document["apiServerArguments"].(map[string]any)["feature-gates"],
		},
		"servicesSubnet": document["servicesSubnet"],
	}
	if err := o.WriteObservedConfig(ctx, Kind, operator, observed); err != nil {
		return err
	}
	return controlplane.ConfigMap(ctx, o.Clients, Namespace, "config", "config.yaml", document.Text())
}

func (o *Operator) facts(ctx context.Context) (Facts, error) {
	facts := Facts{Gates: o.Gates}
	var err error
	if facts.Infrastructure, err = o.ReadInfrastructure(ctx); err != nil {
		return facts, err
	}
	if facts.Network, err = o.ReadNetwork(ctx); err != nil {
		return facts, err
	}
	endpoints, err := etcd.ReadEndpoints(ctx, o.Clients)
	if err != nil {
		return facts, err
	}
	if facts.EtcdURLs, err = endpoints.URLs(true); err != nil {
		return facts, err
	}
	if facts.PublicKeys, err = o.keys(ctx, "sa-token-signing-certs"); err != nil {
		return facts, err
	}
	facts.BoundPublicKeys, err = o.keys(ctx, publicKeys)
	return facts, err
}

// keys lists the files of a ConfigMap. That it is missing is reported by the revision, which then is not made.
func (o *Operator) keys(ctx context.Context, name string) ([]string, error) {
	found, err := o.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(found.Data)), nil
}

// target writes the pod and what is made from several sources.
func (o *Operator) target(ctx context.Context) error {
	serverCA := controlplane.RecoveryKubeconfig("/etc/kubernetes/static-pod-resources/configmaps/kube-apiserver-server-ca/ca-bundle.crt")
	return errors.Join(
		controlplane.ConfigMap(ctx, o.Clients, Namespace, "kube-apiserver-pod", "pod.yaml", controlplane.Images(podTemplate, o.Image, o.OperatorImage)),
		controlplane.ConfigMap(ctx, o.Clients, Namespace, "kube-apiserver-cert-syncer-kubeconfig", "kubeconfig", serverCA.Text()),
		controlplane.ConfigMap(ctx, o.Clients, Namespace, "kube-apiserver-audit-policies", "policy.yaml", auditPolicy),
		certs.Combine(ctx, o.Clients, "kube-apiserver", here("client-ca"),
			inConfig("admin-kubeconfig-client-ca"), inManaged("csr-controller-ca"), atOperator("kube-apiserver-to-kubelet-client-ca"),
			atOperator("kube-control-plane-signer-ca"), here("user-client-ca"), inManaged("kubelet-bootstrap-kubeconfig"),
			atOperator("node-system-admin-ca")),
		certs.Combine(ctx, o.Clients, "kube-apiserver", here("kube-apiserver-server-ca"),
			atOperator("loadbalancer-serving-ca"), atOperator("localhost-serving-ca"), atOperator("service-network-serving-ca"),
			atOperator("localhost-recovery-serving-ca")),
		o.recoveryToken(ctx),
	)
}

func (o *Operator) recoveryToken(ctx context.Context) error {
	if err := controlplane.EnsureRecoveryToken(ctx, o.Clients, Namespace); err != nil {
		return fmt.Errorf("%q: %w", "serviceaccount/localhost-recovery-client", err)
	}
	return nil
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: None}]
`
