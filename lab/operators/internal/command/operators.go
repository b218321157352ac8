package command

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hardway.dev/lab/operators/internal/apiserver"
	"hardway.dev/lab/operators/internal/controllermanager"
	"hardway.dev/lab/operators/internal/etcd"
	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/operator"
	"hardway.dev/lab/operators/internal/scheduler"
)

const (
	passEvery = 2 * time.Second
	gateWait  = time.Minute
)

// environment is what Deployments of operators set, under upstream's names.
type environment struct{ image, operatorImage, version, operandVersion string }

func readEnvironment() (environment, error) {
	e := environment{
		image: os.Getenv("IMAGE"), operatorImage: os.Getenv("OPERATOR_IMAGE"),
		version: os.Getenv("OPERATOR_IMAGE_VERSION"), operandVersion: os.Getenv("OPERAND_IMAGE_VERSION"),
	}
	if e.image == "" || e.operatorImage == "" || e.version == "" {
		return e, errors.New("IMAGE, OPERATOR_IMAGE and OPERATOR_IMAGE_VERSION must be set")
	}
	if e.operandVersion == "" {
		e.operandVersion = e.version
	}
	return e, nil
}

// runOperator waits for the feature gates and runs the steps.
func runOperator(ctx context.Context, arguments []string, name string, kind schema.GroupVersionResource, steps func(*kube.Clients, environment, gates.Gates) []operator.Step) error {
	flags := newFlags(name)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig; the pod's account without it")
	flags.String("config", "", "configuration of the server that the real operator has (not used)")
	flags.Func("terminate-on-files", "not used", func(string) error { return nil })
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	environment, err := readEnvironment()
	if err != nil {
		return err
	}
	clients, err := kube.Connect(*kubeconfig)
	if err != nil {
		return err
	}
	found, err := gates.Await(ctx, clients, environment.version, gateWait)
	if err != nil {
		return err
	}
	log.Printf("FeatureGates initialized: %d on, %d off", len(found.Enabled), len(found.Disabled))
	runner := &operator.Runner{
		Clients: clients, Kind: kind, ClusterOperator: name, Version: environment.version, Gates: found,
		Versions: []kube.OperandVersion{
			{Name: "raw-internal", Version: environment.version},
			{Name: name, Version: environment.operandVersion},
			{Name: "operator", Version: environment.version},
		},
		Steps: steps(clients, environment, found),
	}
	if kind == etcd.Kind {
		runner.Inertia = etcd.Inertia
	}
	return runner.Run(ctx, passEvery)
}

func runEtcdOperator(ctx context.Context, arguments []string) error {
	return runOperator(ctx, arguments, "etcd", etcd.Kind, func(clients *kube.Clients, e environment, _ gates.Gates) []operator.Step {
		return (&etcd.Operator{Clients: clients, Image: e.image, OperatorImage: e.operatorImage}).Steps()
	})
}

func runAPIServerOperator(ctx context.Context, arguments []string) error {
	return runOperator(ctx, arguments, "kube-apiserver", apiserver.Kind, func(clients *kube.Clients, e environment, gates gates.Gates) []operator.Step {
		return (&apiserver.Operator{Clients: clients, Gates: gates, Image: e.image, OperatorImage: e.operatorImage}).Steps()
	})
}

func runControllerManagerOperator(ctx context.Context, arguments []string) error {
	policy := os.Getenv("CLUSTER_POLICY_CONTROLLER_IMAGE")
	if policy == "" {
		return fmt.Errorf("CLUSTER_POLICY_CONTROLLER_IMAGE must be set")
	}
	return runOperator(ctx, arguments, "kube-controller-manager", controllermanager.Kind, func(clients *kube.Clients, e environment, gates gates.Gates) []operator.Step {
		return (&controllermanager.Operator{Clients: clients, Gates: gates, Image: e.image, PolicyImage: policy, OperatorImage: e.operatorImage}).Steps()
	})
}

func runSchedulerOperator(ctx context.Context, arguments []string) error {
	return runOperator(ctx, arguments, "kube-scheduler", scheduler.Kind, func(clients *kube.Clients, e environment, _ gates.Gates) []operator.Step {
		return (&scheduler.Operator{Clients: clients, Image: e.image, OperatorImage: e.operatorImage}).Steps()
	})
}
