package kube

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func condition(kind, status, reason, message string, age time.Duration) Condition {
	return Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now.Add(-age))}
}

// As people know it from `oc get clusteroperators`.
func TestUnion(t *testing.T) {
	twoMinutes := func(Condition) time.Duration { return 2 * time.Minute }
	signer := condition("CertRotation_LocalhostServing_Degraded", True, "RotationError", "no hostnames set", 5*time.Minute)
	revision := condition("RevisionControllerDegraded", True, "Error", "a\nb\na", time.Minute)
	fine := condition("NodeControllerDegraded", False, "MasterNodesReady", "All master nodes are ready", time.Hour)
	for name, c := range map[string]struct {
		conditions              []Condition
		kind                    string
		inertia                 Inertia
		status, reason, message string
	}{
		"nothing said":      {nil, "Degraded", nil, Unknown, "NoData", ""},
		"all well":          {[]Condition{fine}, "Degraded", twoMinutes, False, "AsExpected", "NodeControllerDegraded: All master nodes are ready"},
		"without a word":    {[]Condition{condition("ADegraded", False, "", "", 0)}, "Degraded", nil, False, "AsExpected", "All is well"},
		"too young":         {[]Condition{revision, fine}, "Degraded", twoMinutes, False, "AsExpected", "RevisionControllerDegraded: a\nRevisionControllerDegraded: b\nNodeControllerDegraded: All master nodes are ready"},
		"young, at once":    {[]Condition{revision}, "Degraded", nil, True, "RevisionController_Error", "RevisionControllerDegraded: a\nRevisionControllerDegraded: b"},
		"an old one speaks": {[]Condition{revision, signer, fine}, "Degraded", twoMinutes, True, "CertRotation_LocalhostServing__RotationError::RevisionController_Error", "CertRotation_LocalhostServing_Degraded: no hostnames set\nRevisionControllerDegraded: a\nRevisionControllerDegraded: b"},
		"one of two":        {[]Condition{condition("AAvailable", True, "", "", 0), condition("BAvailable", False, "Gone", "gone", 0)}, "Available", nil, False, "B_Gone", "BAvailable: gone"},
		"nobody knows":      {[]Condition{condition("AAvailable", Unknown, "ErrorListing", "x", 0)}, "Available", nil, Unknown, "A_ErrorListing", "AAvailable: x"},
	} {
		got := Union(c.conditions, c.kind, c.inertia, now)
		if got.Status != c.status || got.Reason != c.reason || got.Message != c.message {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
