package clusteroperators

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hardway.dev/lab/operators/internal/kube"
)

// RunMachineConfigDaemon tells the cluster which configuration a node was made from. The file came with the node's
// Ignition config; without it the node never counts as configured (machine-config-operator pkg/daemon/node.go).
func RunMachineConfigDaemon(ctx context.Context, clients *kube.Clients, node, path string) error {
	for {
		err := Annotate(ctx, clients, node, path)
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
	const current = "machineconfiguration.openshift.io/currentConfig"
	if annotations[current] == "" {
		return fmt.Errorf("%s names no %s", path, current)
	}
	node, err := clients.Kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil || node.Annotations[current] != "" {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = clients.Kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
