package kube

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition is one of an operator's or a ClusterOperator's conditions (openshift/api operator/v1 OperatorCondition).
type Condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	Reason             string      `json:"reason,omitempty"`
	Message            string      `json:"message,omitempty"`
}

// The values of a condition.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// SetCondition puts one condition in; its time changes only when its status does.
func SetCondition(conditions []Condition, wanted Condition, now metav1.Time) []Condition {
	now = now.Rfc3339Copy()
	for i := range conditions {
		if conditions[i].Type != wanted.Type {
			continue
		}
		wanted.LastTransitionTime = conditions[i].LastTransitionTime
		if conditions[i].Status != wanted.Status {
			wanted.LastTransitionTime = now
		}
		conditions[i] = wanted
		return conditions
	}
	wanted.LastTransitionTime = now
	return append(conditions, wanted)
}

// FindCondition returns the condition of a type, or an empty one.
func FindCondition(conditions []Condition, kind string) Condition {
	for _, condition := range conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return Condition{}
}

// Inertia says how long a bad condition has to last before its ClusterOperator speaks of it.
type Inertia func(Condition) time.Duration

// Union folds all conditions whose type ends in kind into one, as library-go's status controller does
// (library-go pkg/operator/status/condition.go): Available wants all of them True, Degraded and Progressing none. Until one of
// those that are not has lasted long enough all is well.
func Union(conditions []Condition, kind string, inertia Inertia, now time.Time) Condition {
	good, opposite := False, True
	if kind == "Available" {
		good, opposite = True, False
	}
	var all, bad []Condition
	status, isOld := Unknown, false
	for _, condition := range conditions {
		if !strings.HasSuffix(condition.Type, kind) {
			continue
		}
		all = append(all, condition)
		if condition.Status == good {
			continue
		}
		bad = append(bad, condition)
		if condition.Status == opposite {
			status = opposite
		}
		isOld = isOld || inertia == nil || condition.LastTransitionTime.Time.Before(now.Add(-inertia(condition)))
	}
	switch {
	case len(all) == 0:
		return Condition{Type: kind, Status: Unknown, Reason: "NoData"}
	case !isOld:
		message := messages(all)
		if message == "" {
			message = "All is well"
		}
		return Condition{Type: kind, Status: good, Reason: "AsExpected", Message: message}
	}
	slices.SortStableFunc(bad, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return Condition{Type: kind, Status: status, Reason: reasons(kind, bad), Message: messages(bad)}
}

// messages has every line once for each condition, after its type.
func messages(conditions []Condition) string {
	var lines []string
	for _, condition := range conditions {
		if condition.Message == "" {
			continue
		}
		var seen []string
		for _, line := range strings.Split(condition.Message, "\n") {
			if !slices.Contains(seen, line) {
				seen = append(seen, line)
				lines = append(lines, condition.Type+": "+line)
			}
		}
	}
	return strings.Join(lines, "\n")
}

func reasons(kind string, conditions []Condition) string {
	var all []string
	for _, condition := range conditions {
		reason := strings.TrimSuffix(condition.Type, kind)
		if condition.Reason != "" {
			reason += "_" + condition.Reason
		}
		all = append(all, reason)
	}
	slices.Sort(all)
	return strings.Join(all, "::")
}
