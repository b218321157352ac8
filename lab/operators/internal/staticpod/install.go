package staticpod

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Nodes brings nodeStatuses in line with the masters there are.
func (c *Controller) Nodes(ctx context.Context, status *kube.Status) error {
	masters, err := c.Masters(ctx)
	if err != nil {
		return err
	}
	var statuses []kube.NodeStatus
	var notReady []string
	for _, master := range masters {
		at := slices.IndexFunc(status.NodeStatuses, func(node kube.NodeStatus) bool { return node.NodeName == master.Name })
		if at >= 0 {
			statuses = append(statuses, status.NodeStatuses[at])
		} else {
			statuses = append(statuses, kube.NodeStatus{NodeName: master.Name})
		}
		if !kube.IsReady(&master) {
			notReady = append(notReady, fmt.Sprintf("node %q not ready", master.Name))
		}
	}
	status.NodeStatuses = statuses
	if len(notReady) > 0 {
		status.Set("NodeControllerDegraded", kube.True, "MasterNodesReady", "The master nodes not ready: "+strings.Join(notReady, ", "))
	} else {
		status.Set("NodeControllerDegraded", kube.False, "MasterNodesReady", "All master nodes are ready")
	}
	return nil
}

// Install does the next thing of the rollout.
func (c *Controller) Install(ctx context.Context, status *kube.Status) error {
	defer SetConditions(status)
	contents, err := ReadContents(ctx, c.Clients, c.Operand.Namespace)
	if err != nil {
		return err
	}
	if configMaps, secrets := c.Operand.Missing(contents, status.LatestAvailableRevision); len(configMaps)+len(secrets) > 0 {
		return fmt.Errorf("missing required resources: [%s]", missing(configMaps, secrets))
	}
	view, err := c.view(ctx, status)
	if err != nil {
		return err
	}
	action := Next(view)
	if action.Delete != "" {
		err := c.Kube.CoreV1().Pods(c.Operand.Namespace).Delete(ctx, action.Delete, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	if action.Create != "" {
		at := slices.IndexFunc(status.NodeStatuses, func(node kube.NodeStatus) bool { return InstallerName(node) == action.Create })
		pod := c.InstallerPod(status.NodeStatuses[at])
		if _, err := c.Kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		log.Printf("created %s", pod.Name)
	}
	if action.Node != nil {
		at := slices.IndexFunc(status.NodeStatuses, func(node kube.NodeStatus) bool { return node.NodeName == action.Node.NodeName })
		log.Printf("%s: %s", action.Node.NodeName, action.Reason)
		status.NodeStatuses[at] = *action.Node
	}
	return nil
}

func missing(configMaps, secrets []string) string {
	var parts []string
	for kind, names := range map[string][]string{"configmaps": configMaps, "secrets": secrets} {
		if len(names) > 0 {
			slices.Sort(names)
			parts = append(parts, kind+": "+strings.Join(names, ","))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (c *Controller) view(ctx context.Context, status *kube.Status) (View, error) {
	view := View{
		Nodes: status.NodeStatuses, Latest: status.LatestAvailableRevision, Now: time.Now(),
		Pods: map[string]Pod{}, Installers: map[string]Installer{},
	}
	list, err := c.Kube.CoreV1().Pods(c.Operand.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return view, err
	}
	for _, pod := range list.Items {
		if pod.Labels["app"] == "installer" {
			view.Installers[pod.Name] = installerOf(&pod)
		} else if pod.Name == c.Operand.MirrorPrefix+"-"+pod.Spec.NodeName {
			view.Pods[pod.Spec.NodeName] = podOf(&pod)
		}
	}
	return view, nil
}

func podOf(pod *corev1.Pod) Pod {
	revision, _ := strconv.Atoi(pod.Labels["revision"])
	seen := Pod{Found: true, Revision: int32(revision), Message: pod.Status.Message, Failed: pod.Status.Phase == corev1.PodFailed}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && pod.Status.Phase == corev1.PodRunning {
			seen.Ready = condition.Status == corev1.ConditionTrue
		}
	}
	return seen
}

func installerOf(pod *corev1.Pod) Installer {
	seen := Installer{
		Found:     pod.DeletionTimestamp == nil,
		Succeeded: pod.Status.Phase == corev1.PodSucceeded,
		Failed:    pod.Status.Phase == corev1.PodFailed,
		Message:   pod.Status.Message,
	}
	for _, container := range pod.Status.ContainerStatuses {
		if container.State.Terminated != nil && container.State.Terminated.Message != "" {
			seen.Message = container.Name + ": " + container.State.Terminated.Message
		}
	}
	return seen
}
