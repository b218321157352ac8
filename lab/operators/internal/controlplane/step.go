package controlplane

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/operator"
	"hardway.dev/lab/operators/internal/staticpod"
)

// Plain is a step that has nothing to do with the status.
func Plain(name string, run func(context.Context) error) operator.Step {
	return operator.Step{Name: name, Run: func(ctx context.Context, _ *kube.Operator) error { return run(ctx) }}
}

// OnStatus is a step that reads or writes the status.
func OnStatus(name string, run func(context.Context, *kube.Status) error) operator.Step {
	return operator.Step{Name: name, Run: func(ctx context.Context, operator *kube.Operator) error { return run(ctx, &operator.Status) }}
}

// Rollout are the last steps of every static pod operator.
func Rollout(controller *staticpod.Controller) []operator.Step {
	return []operator.Step{
		OnStatus("NodeInventory", controller.Nodes),
		OnStatus("RevisionController", controller.Revise),
		OnStatus("InstallerController", controller.Install),
	}
}

// ConfigMap writes a ConfigMap with one file in it.
func ConfigMap(ctx context.Context, clients *kube.Clients, namespace, name, file, text string) error {
	_, err := clients.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{file: text},
	})
	if err != nil {
		return fmt.Errorf("%q: %w", "configmap/"+name, err)
	}
	return nil
}

// Images fills the images into a pod's template.
func Images(template, image, operatorImage string) string {
	return strings.NewReplacer("${IMAGE}", image, "${OPERATOR_IMAGE}", operatorImage).Replace(template)
}
