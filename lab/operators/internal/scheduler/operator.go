// Package scheduler stands in for cluster-kube-scheduler-operator.
package scheduler

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/operator"
	"hardway.dev/lab/operators/internal/staticpod"
)

//go:embed pod.yaml
var podTemplate string

// Namespace is where the operand runs.
const Namespace = "openshift-kube-scheduler"

// Kind is kubeschedulers.operator.openshift.io.
var Kind = kube.OperatorResource("kubeschedulers")

// Operand is the scheduler on the masters (cluster-kube-scheduler-operator pkg/operator/starter.go).
var Operand = staticpod.Operand{
	Name:         "kube-scheduler",
	Namespace:    Namespace,
	PodPrefix:    "kube-scheduler",
	MirrorPrefix: "openshift-kube-scheduler",
	Kind:         Kind,
	Command:      "cluster-kube-scheduler-operator",
	ConfigMaps: []staticpod.Resource{
		{Name: "kube-scheduler-pod"}, {Name: "config"}, {Name: "serviceaccount-ca"}, {Name: "policy-configmap", Optional: true},
		{Name: "scheduler-kubeconfig"}, {Name: "kube-scheduler-cert-syncer-kubeconfig"},
	},
	Secrets:     []staticpod.Resource{{Name: "serving-cert", Optional: true}, {Name: controlplane.RecoveryToken}},
	CertDir:     "kube-scheduler-certs",
	CertSecrets: []staticpod.Resource{{Name: "kube-scheduler-client-cert-key"}},
}

// Operator is the stand-in.
type Operator struct {
	*kube.Clients
	// Image is hyperkube's, OperatorImage this program's.
	Image, OperatorImage string
}

// Steps are its controllers, named as upstream names them.
func (o *Operator) Steps() []operator.Step {
	controller := &staticpod.Controller{Clients: o.Clients, Operand: Operand, Image: o.OperatorImage}
	steps := []operator.Step{
		controlplane.Plain("BackingResourceController", controller.EnsureInstallerAccount),
		controlplane.Plain("ResourceSyncController", o.sync),
		controlplane.Plain("TargetConfigController", o.target),
	}
	return append(steps, controlplane.Rollout(controller)...)
}

func (o *Operator) sync(ctx context.Context) error {
	const client = "kube-scheduler-client-cert-key"
	return o.SyncSecret(ctx, here(client), kube.Ref{Namespace: "openshift-config-managed", Name: client})
}

func (o *Operator) target(ctx context.Context) error {
	infrastructure, err := o.ReadInfrastructure(ctx)
	if err != nil {
		return err
	}
	internal, err := infrastructure.InternalURL()
	if err != nil {
		return fmt.Errorf("%q: %w", "configmap/scheduler-kubeconfig", err)
	}
	const trust = "/etc/kubernetes/static-pod-resources/configmaps/serviceaccount-ca/ca-bundle.crt"
	const identity = "/etc/kubernetes/static-pod-certs/secrets/kube-scheduler-client-cert-key/"
	kubeconfig := controlplane.Kubeconfig{
		Server: internal.String(), CAFile: trust, CertFile: identity + "tls.crt", KeyFile: identity + "tls.key",
	}
	write := func(name, file, text string) error {
		return controlplane.ConfigMap(ctx, o.Clients, Namespace, name, file, text)
	}
	return errors.Join(
		write("config", "config.yaml", config),
		write("kube-scheduler-pod", "pod.yaml", controlplane.Images(podTemplate, o.Image, o.OperatorImage)),
		write("scheduler-kubeconfig", "kubeconfig", kubeconfig.Text()),
		write("kube-scheduler-cert-syncer-kubeconfig", "kubeconfig", controlplane.RecoveryKubeconfig(trust).Text()),
		certs.Combine(ctx, o.Clients, "kube-scheduler", here("serviceaccount-ca"),
			kube.Ref{Namespace: "openshift-config-managed", Name: "kube-apiserver-server-ca"}),
		controlplane.EnsureRecoveryToken(ctx, o.Clients, Namespace),
	)
}

func here(name string) kube.Ref { return kube.Ref{Namespace: Namespace, Name: name} }

// As cluster-kube-scheduler-operator bindata/assets/config/defaultconfig.yaml, but for the times: upstream's lease of
// 137 s is made for API servers that are away for a minute, and the lab would wait for it at every rollout.
const config = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: /etc/kubernetes/static-pod-resources/configmaps/scheduler-kubeconfig/kubeconfig
leaderElection:
  leaderElect: true
  leaseDuration: 30s
  renewDeadline: 20s
  retryPeriod: 3s
  resourceLock: leases
  resourceNamespace: openshift-kube-scheduler
enableProfiling: false
enableContentionProfiling: false
`
