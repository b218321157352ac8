package network

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

func TestAssign(t *testing.T) {
	pods := kube.PodNetwork{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: 23}
	given, err := Assign(pods, map[string]netip.Prefix{"b": netip.MustParsePrefix("10.128.2.0/23")}, []string{"c", "b", "a"})
	if err != nil || fmt.Sprint(given) != "map[a:10.128.0.0/23 c:10.128.4.0/23]" {
		t.Errorf("%v, %v", given, err)
	}
	small := kube.PodNetwork{CIDR: netip.MustParsePrefix("10.0.0.0/23"), HostPrefix: 24}
	if given, err := Assign(small, nil, []string{"a", "b", "c"}); err == nil || len(given) != 2 {
		t.Errorf("%v, %v", given, err)
	}
	six := kube.PodNetwork{CIDR: netip.MustParsePrefix("fd01::/48"), HostPrefix: 64}
	if given, err := Assign(six, nil, []string{"a", "b"}); err != nil || fmt.Sprint(given) != "map[a:fd01::/64 b:fd01:0:0:1::/64]" {
		t.Errorf("%v, %v", given, err)
	}
}

func node(name, ip, subnet string) corev1.Node {
	made := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{SubnetAnnotation: subnet}}}
	made.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	return made
}

func TestPlan(t *testing.T) {
	nodes := []corev1.Node{node("a", "10.0.0.1", "10.128.0.0/23"), node("b", "10.0.0.2", "10.128.2.0/23"), node("c", "10.0.0.3", "")}
	own, routes, err := Plan(nodes, "a")
	if err != nil || own.String() != "10.128.0.0/23" || fmt.Sprint(routes) != "[{10.128.2.0/23 10.0.0.2}]" {
		t.Errorf("%v %v %v", own, routes, err)
	}
	if _, _, err := Plan(nodes, "c"); err == nil {
		t.Error("a node without a subnet has no plan")
	}
}

func TestConditions(t *testing.T) {
	status := func(kind string, conditions []kube.Condition) string {
		return kube.FindCondition(conditions, kind).Status
	}
	broken := Conditions(appsv1.DaemonSetStatus{}, errors.New("infrastructure/cluster: missing apiServerInternalURI"))
	if status("Available", broken) != kube.False || status("Degraded", broken) != kube.True {
		t.Errorf("%+v", broken)
	}
	partly := Conditions(appsv1.DaemonSetStatus{DesiredNumberScheduled: 3, NumberAvailable: 1}, nil)
	if status("Available", partly) != kube.True || status("Progressing", partly) != kube.True || status("Degraded", partly) != kube.False {
		t.Errorf("%+v", partly)
	}
	all := Conditions(appsv1.DaemonSetStatus{DesiredNumberScheduled: 3, NumberAvailable: 3}, nil)
	if status("Progressing", all) != kube.False {
		t.Errorf("%+v", all)
	}
}
