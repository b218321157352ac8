package etcd

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/operator"
	"hardway.dev/lab/operators/internal/staticpod"
)

//go:embed pod.yaml
var podTemplate string

// Operator is the stand-in.
type Operator struct {
	*kube.Clients
	// Image is etcd's, OperatorImage this program's.
	Image, OperatorImage string
}

// Inertia gives nodes and members longer than other troubles before the operator is Degraded (cluster-etcd-operator
// pkg/operator/starter.go).
func Inertia(condition kube.Condition) time.Duration {
	switch condition.Type {
	case "NodeControllerDegraded", "EtcdMembersDegraded":
		return 5 * time.Minute
	}
	return operator.DefaultInertia(condition)
}

// Steps are its controllers, named as upstream names them.
func (o *Operator) Steps() []operator.Step {
	controller := &staticpod.Controller{Clients: o.Clients, Operand: Operand, Image: o.OperatorImage}
	plain := func(run func(context.Context) error) func(context.Context, *kube.Operator) error {
		return func(ctx context.Context, _ *kube.Operator) error { return run(ctx) }
	}
	onStatus := func(run func(context.Context, *kube.Status) error) func(context.Context, *kube.Operator) error {
		return func(ctx context.Context, operator *kube.Operator) error { return run(ctx, &operator.Status) }
	}
	return []operator.Step{
		{Name: "BackingResourceController", Run: plain(controller.EnsureInstallerAccount)},
		{Name: "EtcdCertSignerController", Run: plain(func(ctx context.Context) error { return EnsureCertificates(ctx, o.Clients) })},
		{Name: "ResourceSyncController", Run: plain(o.sync)},
		{Name: "NodeInventory", Run: onStatus(controller.Nodes)},
		{Name: "TargetConfigController", Run: onStatus(func(ctx context.Context, status *kube.Status) error { return o.target(ctx, controller, status) })},
		{Name: "RevisionController", Run: onStatus(controller.Revise)},
		{Name: "InstallerController", Run: onStatus(controller.Install)},
		{Name: "ClusterMemberController", Run: onStatus(o.members)},
	}
}

// sync hands the client certificate and the CA on to the API server's operator (cluster-etcd-operator
// pkg/operator/resourcesynccontroller).
func (o *Operator) sync(ctx context.Context) error {
	maps := [][2]kube.Ref{
		{here("cluster-config-v1"), {Namespace: "kube-system", Name: "cluster-config-v1"}},
		{{Namespace: OperatorNamespace, Name: "etcd-ca-bundle"}, here("etcd-ca-bundle")},
		{{Namespace: "openshift-config", Name: "etcd-ca-bundle"}, here("etcd-ca-bundle")},
		{{Namespace: "openshift-config", Name: "etcd-serving-ca"}, here("etcd-ca-bundle")},
		{{Namespace: OperatorNamespace, Name: "etcd-metric-serving-ca"}, here("etcd-metrics-ca-bundle")},
	}
	for _, pair := range maps {
		if err := o.SyncConfigMap(ctx, pair[0], pair[1]); err != nil {
			return err
		}
	}
	secrets := [][2]kube.Ref{
		{{Namespace: OperatorNamespace, Name: "etcd-metric-client"}, here("etcd-metric-client")},
		{{Namespace: OperatorNamespace, Name: "etcd-client"}, here("etcd-client")},
		{{Namespace: "openshift-config", Name: "etcd-client"}, here("etcd-client")},
	}
	for _, pair := range secrets {
		if err := o.SyncSecret(ctx, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// target writes the pod. It waits for the rollout in progress: the variables change with every member that joins.
func (o *Operator) target(ctx context.Context, controller *staticpod.Controller, status *kube.Status) error {
	if isHeld, err := controller.IsHeld(ctx, status); isHeld || err != nil {
		return err
	}
	endpoints, err := ReadEndpoints(ctx, o.Clients)
	if err != nil {
		return err
	}
	masters, err := o.Masters(ctx)
	if err != nil {
		return err
	}
	config, err := o.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, "cluster-config-v1", metav1.GetOptions{})
	if err != nil {
		return err
	}
	environment, err := Environment(Facts{Endpoints: endpoints, Nodes: masters, InstallConfig: config.Data["install-config"]})
	if err != nil {
		return fmt.Errorf("TargetConfigController missing env var values: %w", err)
	}
	if _, err := o.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, "etcd-all-bundles", metav1.GetOptions{}); err != nil {
		return err
	}
	encoded, err := json.Marshal(environment)
	if err != nil {
		return err
	}
	text := strings.NewReplacer("${IMAGE}", o.Image, "${OPERATOR_IMAGE}", o.OperatorImage, "${ENVIRONMENT}", string(encoded)).Replace(podTemplate)
	_, err = o.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "etcd-pod"},
		Data:       map[string]string{"pod.yaml": text},
	})
	return err
}

// members connects to etcd and does everything that needs the connection.
func (o *Operator) members(ctx context.Context, status *kube.Status) error {
	endpoints, err := ReadEndpoints(ctx, o.Clients)
	if err != nil {
		return err
	}
	urls, err := endpoints.URLs(true)
	if err != nil {
		return err
	}
	credentials, err := Credentials(ctx, o.Clients)
	if err != nil {
		return err
	}
	client, err := Dial(urls, credentials)
	if err != nil {
		return err
	}
	defer client.Close()
	masters, err := o.Masters(ctx)
	if err != nil {
		return err
	}
	pods, err := o.Kube.CoreV1().Pods(Namespace).List(ctx, metav1.ListOptions{LabelSelector: "etcd=true"})
	if err != nil {
		return err
	}
	scaling := &Scaling{Clients: o.Clients, Client: client, Log: log.Printf}
	return scaling.Pass(ctx, status, Candidates(masters, pods.Items))
}
