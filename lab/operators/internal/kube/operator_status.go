package kube

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NodeStatus is how far one master is (openshift/api operator/v1 NodeStatus). Its CRD refuses a new one with a current revision.
type NodeStatus struct {
	NodeName                 string       `json:"nodeName"`
	CurrentRevision          int32        `json:"currentRevision,omitempty"`
	TargetRevision           int32        `json:"targetRevision,omitempty"`
	LastFailedRevision       int32        `json:"lastFailedRevision,omitempty"`
	LastFailedTime           *metav1.Time `json:"lastFailedTime,omitempty"`
	LastFailedReason         string       `json:"lastFailedReason,omitempty"`
	LastFailedCount          int          `json:"lastFailedCount,omitempty"`
	LastFailedRevisionErrors []string     `json:"lastFailedRevisionErrors,omitempty"`
}

// Status is the status of an operator's own object, such as etcds.operator.openshift.io/cluster.
type Status struct {
	Conditions              []Condition  `json:"conditions,omitempty"`
	LatestAvailableRevision int32        `json:"latestAvailableRevision"`
	NodeStatuses            []NodeStatus `json:"nodeStatuses,omitempty"`
	ReadyReplicas           int32        `json:"readyReplicas"`
}

// Set puts a condition in.
func (s *Status) Set(kind, status, reason, message string) {
	wanted := Condition{Type: kind, Status: status, Reason: reason, Message: message}
	s.Conditions = SetCondition(s.Conditions, wanted, metav1.Now())
}

// SetError reports a step: <name>Degraded is True with the error and this reason, "Error" if it is empty, or False.
func (s *Status) SetError(name, reason string, err error) {
	if err == nil {
		s.Set(name+"Degraded", False, "AsExpected", "")
		return
	}
	if reason == "" {
		reason = "Error"
	}
	s.Set(name+"Degraded", True, reason, err.Error())
}

// IsStable tells whether every node runs the newest revision (cluster-etcd-operator
// pkg/operator/ceohelpers/bootstrap.go IsRevisionStable).
func (s *Status) IsStable() bool {
	for _, node := range s.NodeStatuses {
		if node.CurrentRevision != s.LatestAvailableRevision {
			return false
		}
	}
	return s.LatestAvailableRevision > 0
}

// Operator is an operator's object as it was read.
type Operator struct {
	Status Status
	object *unstructured.Unstructured
	read   Status
}

// ManagementState is spec.managementState.
func (o *Operator) ManagementState() string {
	state, _, _ := unstructured.NestedString(o.object.Object, "spec", "managementState")
	return state
}

// ReadOperator reads the object `cluster` of a kind of operator.openshift.io.
func (c *Clients) ReadOperator(ctx context.Context, resource schema.GroupVersionResource) (*Operator, error) {
	object, err := c.Dynamic.Resource(resource).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s/cluster: %w", resource.Resource, err)
	}
	operator := &Operator{object: object}
	if raw, ok, _ := unstructured.NestedMap(object.Object, "status"); ok {
		for _, into := range []*Status{&operator.Status, &operator.read} {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, into); err != nil {
				return nil, fmt.Errorf("%s/cluster has a status that cannot be read: %w", resource.Resource, err)
			}
		}
	}
	return operator, nil
}

// WriteOperator writes the status back if it changed.
func (c *Clients) WriteOperator(ctx context.Context, resource schema.GroupVersionResource, operator *Operator) error {
	if reflect.DeepEqual(operator.Status, operator.read) {
		return nil
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&operator.Status)
	if err != nil {
		return err
	}
	operator.object.Object["status"] = raw
	_, err = c.Dynamic.Resource(resource).UpdateStatus(ctx, operator.object, metav1.UpdateOptions{})
	return err
}

// WriteObservedConfig keeps what was observed in spec.observedConfig, where people look for it.
func (c *Clients) WriteObservedConfig(ctx context.Context, resource schema.GroupVersionResource, operator *Operator, observed map[string]any) error {
	found, _, _ := unstructured.NestedMap(operator.object.Object, "spec", "observedConfig")
	wanted := runtime.DeepCopyJSON(observed)
	if reflect.DeepEqual(found, wanted) {
		return nil
	}
	if err := unstructured.SetNestedMap(operator.object.Object, wanted, "spec", "observedConfig"); err != nil {
		return err
	}
	updated, err := c.Dynamic.Resource(resource).Update(ctx, operator.object, metav1.UpdateOptions{})
	if err == nil {
		operator.object = updated
	}
	return err
}
