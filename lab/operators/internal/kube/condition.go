package kube

import (
	"sort"
	"strings"

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

// Union folds all conditions whose type ends in kind into one, as library-go's status controller does
// (library-go pkg/operator/status UnionCondition): Available wants all of them True, Degraded and Progressing any.
func Union(conditions []Condition, kind string) Condition {
	wantAll := kind == "Available"
	bad := True
	if wantAll {
		bad = False
	}
	var found int
	var reasons, messages []string
	for _, condition := range conditions {
		if !strings.HasSuffix(condition.Type, kind) {
			continue
		}
		found++
		isBad := condition.Status == bad || (wantAll && condition.Status != True)
		if isBad {
			prefix := strings.TrimSuffix(condition.Type, kind)
			reasons = append(reasons, strings.Trim(prefix+"_"+condition.Reason, "_"))
			messages = append(messages, condition.Type+": "+condition.Message)
		}
	}
	sort.Strings(messages)
	result := Condition{Type: kind, Status: False, Reason: "AsExpected", Message: "All is well"}
	if wantAll {
		result.Status = True
	}
	switch {
	case found == 0:
		result.Status, result.Reason, result.Message = Unknown, "NoData", ""
	case len(messages) > 0:
		result.Status, result.Message = bad, strings.Join(messages, "\n")
		result.Reason = reasons[0]
		if len(reasons) > 1 {
			result.Reason = "Multiple" + kind + "Conditions"
		}
	}
	return result
}
