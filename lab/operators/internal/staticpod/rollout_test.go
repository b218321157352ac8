package staticpod

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// now is any moment.
var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func node(name string, current, target int32) kube.NodeStatus {
	return kube.NodeStatus{NodeName: name, CurrentRevision: current, TargetRevision: target}
}

func ready(revision int32) Pod { return Pod{Found: true, Ready: true, Revision: revision} }

func TestNext(t *testing.T) {
	minuteAgo := metav1.NewTime(now.Add(-time.Minute))
	justNow := metav1.NewTime(now.Add(-time.Second))
	failedOnce := func(at *metav1.Time) kube.NodeStatus {
		status := node("a", 0, 1)
		status.LastFailedRevision, status.LastFailedCount, status.LastFailedTime = 1, 1, at
		return status
	}
	for name, c := range map[string]struct {
		view   View
		node   string
		target int32
		create string
		delete string
		reason string
	}{
		"no masters":  {view: View{Latest: 1}, reason: "no masters"},
		"no revision": {view: View{Nodes: []kube.NodeStatus{node("a", 0, 0)}}, reason: "no revision"},
		"the first node starts": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 0, 0), node("b", 0, 0)}}, node: "a", target: 1, reason: "needs revision 1",
		},
		"its installer is created": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 0, 1), node("b", 0, 0)}}, create: "installer-1-a", reason: "to be created",
		},
		"the others wait for it": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 0, 1), node("b", 0, 0)},
				Installers: map[string]Installer{"installer-1-a": {Found: true}}}, reason: "not finished",
		},
		"and for its pod": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 0, 1), node("b", 0, 0)},
				Installers: map[string]Installer{"installer-1-a": {Found: true, Succeeded: true}},
				Pods:       map[string]Pod{"a": {Found: true, Revision: 1}}}, reason: "is not ready",
		},
		"an older pod does not count": {
			view: View{Latest: 2, Nodes: []kube.NodeStatus{node("a", 1, 2)},
				Installers: map[string]Installer{"installer-2-a": {Found: true, Succeeded: true}},
				Pods:       map[string]Pod{"a": ready(1)}}, reason: "waiting for static pod of revision 2, found 1",
		},
		"a ready pod ends it": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 0, 1), node("b", 0, 0)},
				Installers: map[string]Installer{"installer-1-a": {Found: true, Succeeded: true}},
				Pods:       map[string]Pod{"a": ready(1)}}, node: "a", target: 0, reason: "is ready",
		},
		"then the next without a pod": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 1, 0), node("b", 0, 0)}, Pods: map[string]Pod{"a": ready(1)}},
			node: "b", target: 1, reason: "needs revision 1",
		},
		"an unready pod is replaced before ready ones": {
			view: View{Latest: 2, Nodes: []kube.NodeStatus{node("a", 1, 0), node("b", 1, 0)},
				Pods: map[string]Pod{"a": ready(1), "b": {Found: true, Revision: 1}}}, node: "b", target: 2, reason: "needs revision 2",
		},
		"a newer revision overtakes": {
			view: View{Latest: 2, Nodes: []kube.NodeStatus{node("a", 0, 1)},
				Installers: map[string]Installer{"installer-1-a": {Found: true}}},
			node: "a", target: 2, delete: "installer-1-a", reason: "new revision pending",
		},
		"a failed installer is noted": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 0, 1)},
				Installers: map[string]Installer{"installer-1-a": {Found: true, Failed: true, Message: "disk full"}}},
			node: "a", target: 1, reason: "disk full",
		},
		"and not tried again at once": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{failedOnce(&justNow)}}, reason: "next try",
		},
		"but later, under another name": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{failedOnce(&minuteAgo)}}, create: "installer-1-retry-1-a", reason: "to be created",
		},
		"nothing to do": {
			view: View{Latest: 1, Nodes: []kube.NodeStatus{node("a", 1, 0)}, Pods: map[string]Pod{"a": ready(1)}}, reason: "latest revision",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.view.Now = now
			action := Next(c.view)
			if !strings.Contains(action.Reason, c.reason) || action.Create != c.create || action.Delete != c.delete {
				t.Errorf("%+v", action)
			}
			if (action.Node != nil) != (c.node != "") || (action.Node != nil && (action.Node.NodeName != c.node || action.Node.TargetRevision != c.target)) {
				t.Errorf("node %+v", action.Node)
			}
		})
	}
}

// From nothing to everywhere: at no time are two nodes in transition.
func TestARolloutTouchesOneNodeAtATime(t *testing.T) {
	view := View{Latest: 3, Nodes: []kube.NodeStatus{node("a", 1, 0), node("b", 2, 0), node("c", 0, 0)}, Now: now,
		Pods: map[string]Pod{"a": ready(1), "b": ready(2)}, Installers: map[string]Installer{}}
	for step := 0; ; step++ {
		if step > 50 {
			t.Fatal("it never ends")
		}
		inTransition := 0
		for _, status := range view.Nodes {
			if status.TargetRevision != 0 {
				inTransition++
			}
		}
		if inTransition > 1 {
			t.Fatalf("%+v", view.Nodes)
		}
		action := Next(view)
		switch {
		case action.Create != "":
			view.Installers[action.Create] = Installer{Found: true, Succeeded: true}
			view.Pods[action.Create[len("installer-3-"):]] = ready(3)
		case action.Node != nil:
			for i := range view.Nodes {
				if view.Nodes[i].NodeName == action.Node.NodeName {
					view.Nodes[i] = *action.Node
				}
			}
		default:
			for _, status := range view.Nodes {
				if status.CurrentRevision != 3 {
					t.Errorf("it ended with %+v", view.Nodes)
				}
			}
			return
		}
	}
}

func TestConditions(t *testing.T) {
	status := kube.Status{LatestAvailableRevision: 2, NodeStatuses: []kube.NodeStatus{node("a", 2, 0), node("b", 0, 2)}}
	SetConditions(&status)
	if c := kube.FindCondition(status.Conditions, "StaticPodsAvailable"); c.Status != kube.True || c.Message != "1 nodes are active; 1 node is at revision 0; 1 node is at revision 2" {
		t.Errorf("%+v", c)
	}
	if c := kube.FindCondition(status.Conditions, "NodeInstallerProgressing"); c.Status != kube.True {
		t.Errorf("%+v", c)
	}
	status.NodeStatuses = []kube.NodeStatus{node("a", 0, 0)}
	SetConditions(&status)
	if c := kube.FindCondition(status.Conditions, "StaticPodsAvailable"); c.Status != kube.False || c.Reason != "ZeroNodesActive" {
		t.Errorf("%+v", c)
	}
	status.NodeStatuses = []kube.NodeStatus{node("a", 2, 0)}
	SetConditions(&status)
	if c := kube.FindCondition(status.Conditions, "NodeInstallerProgressing"); c.Status != kube.False || c.Reason != "AllNodesAtLatestRevision" {
		t.Errorf("%+v", c)
	}
}
