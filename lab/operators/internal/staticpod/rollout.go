package staticpod

import (
	"fmt"
	"math"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Pod is what is known of the static pod on one node.
type Pod struct {
	Found, Ready, Failed bool
	Revision             int32
	Message              string
}

// Installer is what is known of one installer pod.
type Installer struct {
	Found, Succeeded, Failed bool
	Message                  string
}

// View is everything a decision looks at.
type View struct {
	Nodes      []kube.NodeStatus
	Latest     int32
	Pods       map[string]Pod
	Installers map[string]Installer
	Now        time.Time
}

// Action is the one thing to do next.
type Action struct {
	// Node is the status to write, nil if nothing changes.
	Node *kube.NodeStatus
	// Create and Delete name installer pods.
	Create, Delete string
	// Reason says why, or what is waited for.
	Reason string
}

// Next decides. One node is in transition at any time; the others wait until its pod is ready
// (library-go pkg/operator/staticpod/controller/installer/installer_controller.go manageInstallationPods).
func Next(view View) Action {
	if len(view.Nodes) == 0 {
		return Action{Reason: "there are no masters yet"}
	}
	if view.Latest == 0 {
		return Action{Reason: "there is no revision yet"}
	}
	start := worst(view)
	for offset := range view.Nodes {
		index := (start + offset) % len(view.Nodes)
		node := view.Nodes[index]
		if node.TargetRevision > node.CurrentRevision {
			return transition(view, node)
		}
		var previous *kube.NodeStatus
		if offset > 0 {
			previous = &view.Nodes[(start+offset-1)%len(view.Nodes)]
		}
		if revision := toStart(node, previous, view.Latest); revision != 0 {
			node.TargetRevision = revision
			return Action{Node: &node, Reason: fmt.Sprintf("node %s needs revision %d", node.NodeName, revision)}
		}
	}
	return Action{Reason: "all nodes are at the latest revision"}
}

// InstallerName is the name of the installer pod of a node in transition.
func InstallerName(node kube.NodeStatus) string {
	if node.TargetRevision == node.LastFailedRevision && node.LastFailedCount > 0 {
		return fmt.Sprintf("installer-%d-retry-%d-%s", node.TargetRevision, node.LastFailedCount, node.NodeName)
	}
	return fmt.Sprintf("installer-%d-%s", node.TargetRevision, node.NodeName)
}

// worst finds the node to begin with: the one in transition, else one without a pod, else the oldest unready, else the
// oldest. Healthy pods are ended last.
func worst(view View) int {
	for i, node := range view.Nodes {
		if node.TargetRevision != 0 {
			return i
		}
	}
	for i, node := range view.Nodes {
		if !view.Pods[node.NodeName].Found {
			return i
		}
	}
	oldest := func(skip func(kube.NodeStatus) bool) int {
		found, revision := -1, int32(math.MaxInt32)
		for i, node := range view.Nodes {
			if !skip(node) && node.CurrentRevision < revision {
				found, revision = i, node.CurrentRevision
			}
		}
		return found
	}
	if i := oldest(func(node kube.NodeStatus) bool { return view.Pods[node.NodeName].Ready }); i >= 0 {
		return i
	}
	return max(0, oldest(func(kube.NodeStatus) bool { return false }))
}

// toStart is the revision that a node at rest should go to, or 0. The first node takes the newest; the others follow
// only what the node before them runs already.
func toStart(node kube.NodeStatus, previous *kube.NodeStatus, latest int32) int32 {
	if previous == nil {
		if node.CurrentRevision == latest {
			return 0
		}
		return latest
	}
	isAhead := previous.TargetRevision == 0 && previous.CurrentRevision > node.CurrentRevision
	if isAhead && node.LastFailedRevision != previous.CurrentRevision {
		return previous.CurrentRevision
	}
	return 0
}

func transition(view View, node kube.NodeStatus) Action {
	name := InstallerName(node)
	installer := view.Installers[name]
	if view.Latest > node.TargetRevision {
		action := Action{Reason: "new revision pending"}
		if installer.Found && !installer.Succeeded && !installer.Failed {
			action.Delete = name
		}
		node.TargetRevision = view.Latest
		action.Node = &node
		return action
	}
	switch {
	case !installer.Found:
		if wait := backoff(node, view.Now); wait > 0 {
			return Action{Reason: fmt.Sprintf("next try on %s in %s", node.NodeName, wait.Round(time.Second))}
		}
		return Action{Create: name, Reason: "installer pod " + name + " is to be created"}
	case installer.Failed:
		return Action{Node: failed(node, "InstallerFailed", installer.Message, view.Now), Reason: "installer pod failed: " + installer.Message}
	case !installer.Succeeded:
		return Action{Reason: "installer pod " + name + " is not finished"}
	}
	pod := view.Pods[node.NodeName]
	switch {
	case !pod.Found:
		return Action{Reason: "static pod on " + node.NodeName + " is pending"}
	case pod.Revision != node.TargetRevision:
		return Action{Reason: "waiting for static pod of revision " + strconv.Itoa(int(node.TargetRevision)) + ", found " + strconv.Itoa(int(pod.Revision))}
	case pod.Failed:
		return Action{Node: failed(node, "OperandFailed", pod.Message, view.Now), Reason: "operand pod failed: " + pod.Message}
	case !pod.Ready:
		return Action{Reason: "static pod on " + node.NodeName + " is not ready"}
	}
	node.CurrentRevision, node.TargetRevision = node.TargetRevision, 0
	return Action{Node: &node, Reason: "static pod is ready"}
}

func failed(node kube.NodeStatus, reason, message string, now time.Time) *kube.NodeStatus {
	if node.LastFailedRevision != node.TargetRevision {
		node.LastFailedCount = 0
	}
	at := metav1.NewTime(now).Rfc3339Copy()
	node.LastFailedRevision, node.LastFailedTime = node.TargetRevision, &at
	node.LastFailedReason, node.LastFailedRevisionErrors = reason, []string{message}
	node.LastFailedCount++
	return &node
}

// backoff grows from ten seconds by half, up to ten minutes.
func backoff(node kube.NodeStatus, now time.Time) time.Duration {
	if node.LastFailedRevision != node.TargetRevision || node.LastFailedTime == nil {
		return 0
	}
	wait := 10 * time.Second
	for range min(node.LastFailedCount-1, 20) {
		wait = wait * 3 / 2
	}
	return node.LastFailedTime.Add(min(wait, 10*time.Minute)).Sub(now)
}
