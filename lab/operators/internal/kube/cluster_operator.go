package kube

import (
	"context"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// OperandVersion is one entry of a ClusterOperator's status.versions.
type OperandVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ClusterOperatorStatus is the part of a ClusterOperator that its operator writes.
type ClusterOperatorStatus struct {
	Conditions []Condition      `json:"conditions,omitempty"`
	Versions   []OperandVersion `json:"versions,omitempty"`
}

// WriteClusterOperator reports conditions, and versions once the operator is available. The object itself comes from
// the version operator; its related objects stay as they are.
func (c *Clients) WriteClusterOperator(ctx context.Context, name string, conditions []Condition, versions []OperandVersion) error {
	client := c.Dynamic.Resource(ClusterOperators)
	object, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	raw, _, _ := unstructured.NestedMap(object.Object, "status")
	var found ClusterOperatorStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &found); err != nil {
		return err
	}
	wanted := ClusterOperatorStatus{Conditions: slices.Clone(found.Conditions), Versions: versions}
	for _, condition := range conditions {
		wanted.Conditions = SetCondition(wanted.Conditions, condition, metav1.Now())
	}
	if FindCondition(conditions, "Available").Status != True {
		wanted.Versions = found.Versions
	}
	if reflect.DeepEqual(found, wanted) {
		return nil
	}
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&wanted)
	if err != nil {
		return err
	}
	for _, kept := range []string{"relatedObjects", "extension"} {
		if value, ok := raw[kept]; ok {
			status[kept] = value
		}
	}
	object.Object["status"] = status
	_, err = client.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}

// ReadClusterOperator returns the conditions of a ClusterOperator; a missing one has none.
func (c *Clients) ReadClusterOperator(ctx context.Context, name string) ([]Condition, error) {
	object, err := c.Dynamic.Resource(ClusterOperators).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return ClusterOperatorConditions(object), nil
}

// ClusterOperatorConditions reads the conditions out of an object.
func ClusterOperatorConditions(object *unstructured.Unstructured) []Condition {
	raw, _, _ := unstructured.NestedMap(object.Object, "status")
	var status ClusterOperatorStatus
	if runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &status) != nil {
		return nil
	}
	return status.Conditions
}
