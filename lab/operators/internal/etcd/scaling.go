package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Scaling moves the cluster from the bootstrap member to the masters.
type Scaling struct {
	*kube.Clients
	*Client
	Log func(format string, arguments ...any)
}

// Candidates are the masters, and whether each one's etcd waits to be added.
func Candidates(masters []corev1.Node, pods []corev1.Pod) []Candidate {
	var candidates []Candidate
	for _, master := range masters {
		ips := kube.InternalIPs(&master)
		if len(ips) == 0 {
			continue
		}
		at := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Name == "etcd-"+master.Name })
		candidates = append(candidates, Candidate{
			Node: master.Name, PeerURL: "https://" + net.JoinHostPort(ips[0], "2380"), IsWaiting: at >= 0 && isWaiting(&pods[at]),
		})
	}
	return candidates
}

// isWaiting tells whether the etcd container runs and is not ready.
func isWaiting(pod *corev1.Pod) bool {
	for _, container := range pod.Status.ContainerStatuses {
		if container.Name == "etcd" {
			return container.State.Running != nil && !container.Ready
		}
	}
	return false
}

// Pass makes one step of the way: add or promote, publish the endpoints, remove the bootstrap member.
func (s *Scaling) Pass(ctx context.Context, status *kube.Status, candidates []Candidate) error {
	members, err := s.MembersWithHealth(ctx)
	if err != nil {
		status.Set("EtcdMembersAvailable", kube.Unknown, "ErrorListing", err.Error())
		status.Set("EtcdEndpointsDegraded", kube.True, "ErrorUpdatingEtcdEndpoints", err.Error())
		return err
	}
	reportMembers(status, members)
	if url := ToAdd(members, candidates); url != "" {
		s.Log("adding learner %s", url)
		if err := s.AddLearner(ctx, url); err != nil {
			return fmt.Errorf("failed to add learner member: %w", err)
		}
	}
	for _, id := range ToPromote(members) {
		isVoter, err := s.Promote(ctx, id)
		if err != nil {
			return fmt.Errorf("failed to promote learner: %w", err)
		}
		if isVoter {
			s.Log("promoted %x", id)
		}
	}
	return errors.Join(s.publish(ctx, status), s.tearDown(ctx, status, members))
}

// publish keeps etcd-endpoints, which the API servers connect to.
func (s *Scaling) publish(ctx context.Context, status *kube.Status) error {
	members, err := s.Members(ctx)
	if err != nil {
		return err
	}
	isComplete, err := s.IsBootstrapComplete(ctx)
	if err != nil {
		return err
	}
	now, err := ReadEndpoints(ctx, s.Clients)
	if err != nil {
		return err
	}
	next, err := NextEndpoints(now, members, isComplete, status.IsStable())
	if err == nil {
		err = WriteEndpoints(ctx, s.Clients, next)
	}
	if err != nil {
		status.Set("EtcdEndpointsDegraded", kube.True, "ErrorUpdatingEtcdEndpoints", err.Error())
	} else {
		status.Set("EtcdEndpointsDegraded", kube.False, "EtcdEndpointsUpdated", "")
	}
	if errors.Is(err, ErrNoMembers) {
		return nil
	}
	return err
}

// tearDown removes the bootstrap member when the cluster can do without it and the bootstrap host has said that it is
// done. Without that word it stays for ever. It was the first member, so it usually leads until it is removed: nobody hands its
// office over before (cluster-etcd-operator pkg/operator/bootstrapteardown, 4.16 to 5.1). The others elect a leader when they
// have not heard of it for a second or two, and what was on its way to the old one is lost: API servers wait for it until etcd's
// time for a request is over, five seconds and two election timeouts.
func (s *Scaling) tearDown(ctx context.Context, status *kube.Status, members []Member) error {
	infrastructure, err := s.ReadInfrastructure(ctx)
	if err != nil {
		return err
	}
	removal := CanRemove(members, infrastructure.IsSingleNode())
	if !removal.IsPresent {
		status.Set("EtcdBootstrapMemberRemoved", kube.True, "BootstrapMemberRemoved", "etcd bootstrap member is removed")
		status.Set("EtcdRunningInCluster", kube.True, "BootstrapAlreadyRemoved", "etcd-bootstrap member is already removed")
		return nil
	}
	if !removal.IsSafe {
		status.Set("EtcdRunningInCluster", kube.False, "NotEnoughEtcdMembers", "still waiting for three healthy etcd members")
		return nil
	}
	status.Set("EtcdRunningInCluster", kube.True, "EnoughEtcdMembers", "enough members found")
	isComplete, err := s.IsBootstrapComplete(ctx)
	if err != nil || !isComplete {
		return err
	}
	s.Log("removing bootstrap member %x", removal.Member.ID)
	if err := s.Remove(ctx, removal.Member.ID); err != nil {
		return fmt.Errorf("error while removing bootstrap member [%x]: %w", removal.Member.ID, err)
	}
	status.Set("EtcdBootstrapMemberRemoved", kube.True, "BootstrapMemberRemoved", "etcd bootstrap member is removed")
	return nil
}

// reportMembers says who answers (cluster-etcd-operator pkg/operator/etcdmemberscontroller).
func reportMembers(status *kube.Status, members []Member) {
	var healthy, unhealthy, learners []string
	for _, member := range members {
		name := member.Name
		if name == "" {
			name = "NAME-PENDING-" + member.PeerURL
		}
		switch {
		case member.IsLearner:
			learners = append(learners, name)
		case member.IsHealthy:
			healthy = append(healthy, name)
		default:
			unhealthy = append(unhealthy, name)
		}
	}
	if len(healthy) > len(members)/2 {
		status.Set("EtcdMembersAvailable", kube.True, "EtcdQuorate", fmt.Sprintf("%d members are available", len(healthy)))
	} else {
		status.Set("EtcdMembersAvailable", kube.False, "No quorum", fmt.Sprintf("%d of %d members are available", len(healthy), len(members)))
	}
	if len(unhealthy) > 0 {
		status.Set("EtcdMembersDegraded", kube.True, "UnhealthyMembers", strings.Join(unhealthy, ", ")+" unhealthy")
	} else {
		status.Set("EtcdMembersDegraded", kube.False, "AsExpected", "No unhealthy members found")
	}
	if len(learners) > 0 {
		status.Set("EtcdMembersProgressing", kube.True, "MembersLearning", strings.Join(learners, ", ")+" learning")
	} else {
		status.Set("EtcdMembersProgressing", kube.False, "AsExpected", "No unstarted etcd members found")
	}
}
