package test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hardway.dev/lab/operators/internal/apiserver"
	"hardway.dev/lab/operators/internal/clusteroperators"
	"hardway.dev/lab/operators/internal/controllermanager"
	"hardway.dev/lab/operators/internal/etcd"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/labtest"
	"hardway.dev/lab/operators/internal/scheduler"
)

// The whole way with the assets as they are: etcd moves to the masters member by member, the control plane rolls out,
// and the bootstrap member goes only after the bootstrap host has said that it is done.
func TestTheControlPlaneMovesToTheMasters(t *testing.T) {
	world := labtest.NewWorld(t, labtest.Options{})
	ctx := context.Background()
	serviceCA(t, world)
	world.AddMasters()
	kubelets := world.Kubelets()
	stopKubelets := world.RunKubelets(kubelets)
	signerBefore := secret(t, world, "openshift-etcd", "etcd-signer")
	stopOperators := keepRunning(t, runners(t, world))

	untilCondition(t, world, etcd.Kind, "EtcdRunningInCluster", kube.True, "enough members found")
	if now := secret(t, world, "openshift-etcd", "etcd-signer"); string(now.Data["tls.crt"]) != string(signerBefore.Data["tls.crt"]) {
		t.Error("the seeded signer was replaced")
	}
	for _, operand := range []struct {
		name string
		kind func(*kube.Clients) (*kube.Operator, error)
	}{
		{"etcd", func(c *kube.Clients) (*kube.Operator, error) { return c.ReadOperator(ctx, etcd.Kind) }},
		{"kube-apiserver", func(c *kube.Clients) (*kube.Operator, error) { return c.ReadOperator(ctx, apiserver.Kind) }},
		{"kube-controller-manager", func(c *kube.Clients) (*kube.Operator, error) { return c.ReadOperator(ctx, controllermanager.Kind) }},
		{"kube-scheduler", func(c *kube.Clients) (*kube.Operator, error) { return c.ReadOperator(ctx, scheduler.Kind) }},
	} {
		labtest.Until(t, operand.name+" is on all masters", func() error {
			operator, err := operand.kind(world.Clients)
			if err != nil {
				return err
			}
			active := 0
			for _, node := range operator.Status.NodeStatuses {
				if node.CurrentRevision > 0 {
					active++
				}
			}
			if active == 3 {
				return nil
			}
			var problems []string
			for _, condition := range operator.Status.Conditions {
				if condition.Status == kube.True && len(condition.Type) > 8 && condition.Type[len(condition.Type)-8:] == "Degraded" {
					problems = append(problems, condition.Type+": "+condition.Message)
				}
			}
			return fmt.Errorf("on %d: %+v %q", active, operator.Status.NodeStatuses, problems)
		})
	}

	// Nobody has said that bootstrapping is over: the member stays, however healthy the others are.
	time.Sleep(3 * time.Second)
	if removed := condition(t, world, etcd.Kind, "EtcdBootstrapMemberRemoved"); removed.Status == kube.True {
		t.Fatal("the bootstrap member was removed before kube-system/bootstrap was there")
	}
	if !hasMember(t, world, etcd.BootstrapMember) {
		t.Fatal("the bootstrap member is gone")
	}
	// No version of the operator takes the lead away from it before it goes.
	if leader := leader(t, world); leader != etcd.BootstrapMember {
		t.Errorf("%s leads before the bootstrap member is removed", leader)
	}

	// What the installer wrote must be an API server that knows this cluster and trusts who is in it.
	master := startMasterAPIServer(t, world, kubelets[0])
	checkMaster(t, world, master)

	// The pivot: everybody talks to a master's API server now, and the bootstrap one ends.
	stopOperators()
	stopKubelets()
	world.APIServer.Stop()
	world.Clients, world.Kubeconfig = master, world.Through("kubeconfigs/admin-internal.kubeconfig", kubelets[0].Address)
	world.RunKubelets(kubelets)
	keepRunning(t, runners(t, world))
	complete := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap"}, Data: map[string]string{"status": "complete"}}
	if _, err := world.Kube.CoreV1().ConfigMaps("kube-system").Create(ctx, complete, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	untilCondition(t, world, etcd.Kind, "EtcdBootstrapMemberRemoved", kube.True, "is removed")
	if hasMember(t, world, etcd.BootstrapMember) {
		t.Error("the condition says that the bootstrap member is removed, and it is there")
	}
	labtest.Until(t, "the bootstrap address is forgotten", func() error {
		endpoints, err := etcd.ReadEndpoints(ctx, world.Clients)
		if err == nil && (endpoints.Bootstrap != "" || len(endpoints.Members) != 3) {
			err = fmt.Errorf("%+v", endpoints)
		}
		return err
	})
	// The bootstrap API server is gone, which knew one key only: there is another now, and API servers learn of it first.
	labtest.Until(t, "the next key of service accounts is published", func() error {
		published, err := world.Kube.CoreV1().ConfigMaps(apiserver.Namespace).Get(ctx, "sa-token-signing-certs", metav1.GetOptions{})
		if err == nil && len(published.Data) != 2 {
			err = fmt.Errorf("%d keys", len(published.Data))
		}
		return err
	})
	seeded, used := secret(t, world, "openshift-config", "initial-service-account-private-key"), secret(t, world, controllermanager.Namespace, "service-account-private-key")
	if string(seeded.Data["service-account.key"]) != string(used.Data["service-account.key"]) {
		t.Error("it is used before API servers had time to learn of it")
	}
	labtest.Until(t, "etcd runs without it everywhere", func() error {
		pod, err := world.Kube.CoreV1().ConfigMaps(etcd.Namespace).Get(ctx, "etcd-pod", metav1.GetOptions{})
		if err != nil {
			return err
		}
		operator, err := world.ReadOperator(ctx, etcd.Kind)
		if err == nil && (strings.Contains(pod.Data["pod.yaml"], labtest.Bootstrap) || !operator.Status.IsStable()) {
			err = fmt.Errorf("%+v", operator.Status.NodeStatuses)
		}
		return err
	})
	reportInstallers(t, world)
}

// reportInstallers waits for all revisions to be everywhere, and says how many were installed: what a lab's install spends its time on.
func reportInstallers(t testing.TB, world *labtest.World) {
	t.Helper()
	for _, kind := range []schema.GroupVersionResource{etcd.Kind, apiserver.Kind, controllermanager.Kind, scheduler.Kind} {
		var namespace string
		labtest.Until(t, kind.Resource+" are at their last revision", func() error {
			operator, err := world.ReadOperator(context.Background(), kind)
			if err == nil && !operator.Status.IsStable() {
				err = fmt.Errorf("%+v", operator.Status.NodeStatuses)
			}
			return err
		})
		switch kind {
		case etcd.Kind:
			namespace = etcd.Namespace
		case apiserver.Kind:
			namespace = apiserver.Namespace
		case controllermanager.Kind:
			namespace = controllermanager.Namespace
		case scheduler.Kind:
			namespace = scheduler.Namespace
		}
		pods, err := world.Kube.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{LabelSelector: "app=installer"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, pod := range pods.Items {
			names = append(names, pod.Name)
		}
		t.Logf("%s: %d installers %v", kind.Resource, len(names), names)
	}
}

func hasMember(t testing.TB, world *labtest.World, name string) bool {
	t.Helper()
	for _, member := range members(t, world) {
		if member.Name == name {
			return true
		}
	}
	return false
}

func members(t testing.TB, world *labtest.World) []etcd.Member {
	t.Helper()
	client := dial(t, world)
	defer client.Close()
	found, err := client.Members(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// leader is the name of the member that leads.
func leader(t testing.TB, world *labtest.World) string {
	t.Helper()
	client := dial(t, world)
	defer client.Close()
	id, err := client.Leader(context.Background(), "https://"+labtest.Bootstrap+":2379")
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range members(t, world) {
		if member.ID == id {
			return member.Name
		}
	}
	return fmt.Sprintf("nobody known (%x)", id)
}

func dial(t testing.TB, world *labtest.World) *etcd.Client {
	t.Helper()
	credentials, err := etcd.Credentials(context.Background(), world.Clients)
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{"https://" + labtest.Bootstrap + ":2379"}
	for _, address := range labtest.Masters {
		urls = append(urls, "https://"+address+":2379")
	}
	client, err := etcd.Dial(urls, credentials)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func secret(t testing.TB, world *labtest.World, namespace, name string) *corev1.Secret {
	t.Helper()
	found, err := world.Kube.CoreV1().Secrets(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// serviceCA makes what the service-ca operator makes as soon as pods have a network.
func serviceCA(t testing.TB, world *labtest.World) {
	t.Helper()
	if err := clusteroperators.SideEffect(context.Background(), world.Clients, "service-ca", clusteroperators.Facts{}); err != nil {
		t.Fatal(err)
	}
}
