package clusteroperators

import (
	"fmt"
	"slices"
	"strings"
)

// Facts are what needs look at.
type Facts struct {
	// Available says of each ClusterOperator that there is whether it is available. One that is not there belongs to a
	// capability that is off: the version operator creates all others before anything else.
	Available map[string]bool
	// Real says which of them belong to a real operator: nobody here writes their status, nor does their work.
	Real map[string]bool
	// ReadyWorkers and ReadyMasters can run pods; MastersSchedulable says that masters take any pod.
	ReadyWorkers, ReadyMasters []string
	MastersSchedulable         bool
	// Topologies of Infrastructure.
	ControlPlaneTopology, InfrastructureTopology string
	IngressDomain, IngressPlacement, BaseDomain  string
	// UnannotatedMasters have no current machine config.
	UnannotatedMasters []string
	// DegradedMasters say of themselves that their disk is not as rendered, and how.
	DegradedMasters []string
	HasMasters      bool
	// KubeadminError says what is wrong with the first user's password, or nothing.
	KubeadminError string
}

// Need is a condition with a name; Missing says what is missing, or nothing.
type Need struct {
	Name    string
	Missing func(Facts) string
}

// pods: an operator's own pod must run, for which there must be a pod network.
var pods = []Need{available("network")}

func available(operator string) Need {
	return Need{Name: "operator " + operator, Missing: func(facts Facts) string {
		if isAvailable, isThere := facts.Available[operator]; isAvailable || !isThere {
			return ""
		}
		return fmt.Sprintf("clusteroperator/%s is not available", operator)
	}}
}

var topology = Need{Name: "topology", Missing: func(facts Facts) string {
	if facts.ControlPlaneTopology == "" || facts.InfrastructureTopology == "" {
		return "infrastructures/cluster: status.controlPlaneTopology and infrastructureTopology must be set"
	}
	return ""
}}

var baseDomain = Need{Name: "base domain", Missing: func(facts Facts) string {
	if facts.BaseDomain == "" {
		return "dnses.config.openshift.io/cluster: spec.baseDomain is not set"
	}
	return ""
}}

var ingressDomain = Need{Name: "ingress domain", Missing: func(facts Facts) string {
	if facts.IngressDomain == "" {
		return "ingresses.config.openshift.io/cluster: spec.domain is not set"
	}
	return ""
}}

// routerNode: by default routers run on workers; where masters take any pod they count as workers.
var routerNode = Need{Name: "a node for routers", Missing: func(facts Facts) string {
	if facts.IngressPlacement == "ControlPlane" && len(facts.ReadyMasters) > 0 {
		return ""
	}
	if len(facts.schedulable()) > 0 {
		return ""
	}
	return "no Ready worker, and masters take no pods: routers cannot run"
}}

var schedulableNodes = Need{Name: "nodes for Prometheus", Missing: func(facts Facts) string {
	needed := 2
	if facts.InfrastructureTopology == "SingleReplica" {
		needed = 1
	}
	if found := len(facts.schedulable()); found < needed {
		return fmt.Sprintf("%d of %d nodes that take pods are Ready", found, needed)
	}
	return ""
}}

// annotatedMasters: the daemon copies a node's current configuration from a file that came with its Ignition config.
var annotatedMasters = Need{Name: "masters with a machine config", Missing: func(facts Facts) string {
	if !facts.HasMasters {
		return "there are no masters"
	}
	if len(facts.UnannotatedMasters) > 0 {
		return "no machineconfiguration.openshift.io/currentConfig on " + strings.Join(facts.UnannotatedMasters, ", ")
	}
	if len(facts.DegradedMasters) > 0 {
		return strings.Join(facts.DegradedMasters, "; ")
	}
	return ""
}}

var kubeadmin = Need{Name: "the first user", Missing: func(facts Facts) string { return facts.KubeadminError }}

func (f Facts) schedulable() []string {
	if f.MastersSchedulable {
		return slices.Concat(f.ReadyWorkers, f.ReadyMasters)
	}
	return f.ReadyWorkers
}

// Missing lists what keeps an operator from being available.
func (r Row) Missing(facts Facts) []string {
	var missing []string
	for _, need := range r.Needs {
		if text := need.Missing(facts); text != "" {
			missing = append(missing, text)
		}
	}
	return missing
}
