package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hardway.dev/lab/operators/internal/clusteroperators"
	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/installer"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/network"
	"hardway.dev/lab/operators/internal/policy"
	"hardway.dev/lab/operators/internal/version"
)

func runVersionOperator(ctx context.Context, arguments []string) error {
	flags := newFlags("start")
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig; the pod's account without it")
	options := version.Options{
		Root: "/", Profile: os.Getenv("CLUSTER_PROFILE"), NodeName: os.Getenv("NODE_NAME"), GateWait: 25 * time.Second, Every: 5 * time.Second,
	}
	flags.StringVar(&options.ReleaseImage, "release-image", "", "the image this runs from")
	flags.Bool("enable-auto-update", false, "not used: the lab does not update")
	flags.Func("always-enable-capabilities", "capabilities that cannot be turned off", func(names string) error {
		options.AlwaysEnabled = append(options.AlwaysEnabled, strings.Split(names, ",")...)
		return nil
	})
	for _, name := range []string{"listen", "serving-cert-file", "serving-key-file"} {
		flags.String(name, "", "not used")
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if options.ReleaseImage == "" || options.NodeName == "" {
		return errors.New("--release-image and NODE_NAME must be given")
	}
	if options.Profile == "" {
		options.Profile = "self-managed-high-availability"
	}
	if root := os.Getenv("PAYLOAD_OVERRIDE"); root != "" {
		options.Root = root
	}
	clients, err := kube.Connect(*kubeconfig)
	if err != nil {
		return err
	}
	return version.Run(ctx, clients, options)
}

// printImage prints the pull spec of a component, as `podman run RELEASE image NAME` does.
func printImage(_ context.Context, arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: cluster-version-operator image NAME")
	}
	root := os.Getenv("PAYLOAD_OVERRIDE")
	if root == "" {
		root = "/"
	}
	text, err := os.ReadFile(filepath.Join(root, "release-manifests", "image-references"))
	if err != nil {
		return err
	}
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string
				From struct{ Name string }
			}
		}
	}
	if err := json.Unmarshal(text, &stream); err != nil {
		return err
	}
	for _, tag := range stream.Spec.Tags {
		if tag.Name == arguments[0] {
			fmt.Println(tag.From.Name)
			return nil
		}
	}
	return fmt.Errorf("no image tag %q exists in the release image", arguments[0])
}

func runClusterOperators(ctx context.Context, arguments []string) error {
	flags := newFlags("cluster-operators")
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig; the pod's account without it")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	clients, err := kube.Connect(*kubeconfig)
	if err != nil {
		return err
	}
	clusteroperators.Run(ctx, clients, os.Getenv("OPERATOR_IMAGE_VERSION"), 3*time.Second)
	return nil
}

func runMachineConfigDaemon(ctx context.Context, arguments []string) error {
	flags := newFlags("start")
	root := flags.String("root-mount", "/rootfs", "where the node's root is mounted")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	clients, err := kube.Connect("")
	if err != nil {
		return err
	}
	return clusteroperators.RunMachineConfigDaemon(ctx, clients, os.Getenv("NODE_NAME"), *root)
}

func runPolicyController(ctx context.Context, arguments []string) error {
	flags := newFlags("start")
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig")
	config := flags.String("config", "", "configuration file")
	flags.String("namespace", "", "not used")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	read, err := policy.ReadConfig(*config)
	if err != nil {
		return err
	}
	clients, err := kube.Connect(*kubeconfig)
	if err != nil {
		return err
	}
	return policy.Run(ctx, clients, read)
}

// runNetworkOperator runs before there is a pod network or a service address, so it reaches the API server as the
// node does.
func runNetworkOperator(ctx context.Context, arguments []string) error {
	flags := newFlags("start")
	node := flags.String("node-dir", "/etc/kubernetes", "the node's /etc/kubernetes")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := useNodeAddress(*node); err != nil {
		return err
	}
	clients, err := kube.Connect("")
	if err != nil {
		return err
	}
	operator := &network.Operator{
		Clients: clients, OperatorImage: os.Getenv("OPERATOR_IMAGE"), ProxyImage: os.Getenv("KUBE_PROXY_IMAGE"), Version: os.Getenv("OPERATOR_IMAGE_VERSION"),
	}
	last := ""
	for ctx.Err() == nil {
		err := operator.Pass(ctx)
		if text := fmt.Sprint(err); err != nil && text != last {
			log.Print(text)
			last = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(passEvery):
		}
	}
	return nil
}

// useNodeAddress takes the address from apiserver-url.env, which the machine-config-operator renders onto every node. Without it
// there is nothing to go on with (cluster-network-operator manifests/0000_70_cluster-network-operator_03_deployment.yaml).
func useNodeAddress(folder string) error {
	path := filepath.Join(folder, "apiserver-url.env")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("Error: %s is missing", path)
	}
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.HasPrefix(name, "KUBERNETES_SERVICE_") {
			os.Setenv(name, strings.Trim(value, "'\""))
		}
	}
	return nil
}

func runNodeNetwork(ctx context.Context, arguments []string) error {
	flags := newFlags("node-network")
	folder := flags.String("cni-dir", "/etc/cni/net.d", "where CNI configurations are")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	clients, err := kube.Connect("")
	if err != nil {
		return err
	}
	return network.RunNode(ctx, clients, os.Getenv("NODE_NAME"), *folder)
}

// writeKubeconfig writes one with the pod's own account, for a program that needs a file.
func writeKubeconfig(_ context.Context, arguments []string) error {
	flags := newFlags("write-kubeconfig")
	server := flags.String("server", "", "the API server")
	to := flags.String("to", "", "file")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	kubeconfig := controlplane.Kubeconfig{Server: *server, CAFile: account + "ca.crt", TokenFile: account + "token"}
	return installer.WriteAtomically(*to, []byte(kubeconfig.Text()), 0o600)
}
