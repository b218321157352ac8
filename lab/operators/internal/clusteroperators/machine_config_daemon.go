package clusteroperators

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hardway.dev/lab/operators/internal/kube"
)

const (
	currentConfig = "machineconfiguration.openshift.io/currentConfig"
	nodeState     = "machineconfiguration.openshift.io/state"
	nodeReason    = "machineconfiguration.openshift.io/reason"
	// annotationsFile came with the node's Ignition config; without it the node never counts as configured.
	annotationsFile = "etc/machine-config-daemon/node-annotations.json"
)

// RunMachineConfigDaemon tells the cluster which configuration a node was made from, and whether its disk is still so
// (machine-config-operator pkg/daemon/node.go, pkg/daemon/on_disk_validation.go). root is where the node's root is mounted.
func RunMachineConfigDaemon(ctx context.Context, clients *kube.Clients, node, root string) error {
	for {
		err := ReportNode(ctx, clients, node, root)
		if err != nil {
			log.Print(err)
		}
		wait := 5 * time.Second
		if err == nil {
			wait = time.Minute
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// ReportNode annotates a node, once, and says whether its disk is as rendered, each time.
func ReportNode(ctx context.Context, clients *kube.Clients, name, root string) error {
	if err := Annotate(ctx, clients, name, filepath.Join(root, annotationsFile)); err != nil {
		return err
	}
	node, err := clients.Kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	state, reason := "Done", ""
	if err := CheckDisk(root, node.Annotations[currentConfig]); err != nil {
		state, reason = "Degraded", err.Error()
	}
	if node.Annotations[nodeState] == state && node.Annotations[nodeReason] == reason {
		return nil
	}
	if reason != "" {
		log.Print(reason)
	}
	return annotate(ctx, clients, name, map[string]string{nodeState: state, nodeReason: reason})
}

// Annotate copies the file's annotations onto the node, once: later ones are the operator's.
func Annotate(ctx context.Context, clients *kube.Clients, name, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the node's first annotations cannot be read: %w", err)
	}
	var annotations map[string]string
	if err := json.Unmarshal(text, &annotations); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if annotations[currentConfig] == "" {
		return fmt.Errorf("%s names no %s", path, currentConfig)
	}
	node, err := clients.Kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil || node.Annotations[currentConfig] != "" {
		return err
	}
	return annotate(ctx, clients, name, annotations)
}

func annotate(ctx context.Context, clients *kube.Clients, name string, annotations map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = clients.Kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
