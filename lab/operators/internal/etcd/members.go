package etcd

import (
	"slices"
)

// Member is one member of the cluster, and whether it answers.
type Member struct {
	ID        uint64
	Name      string
	PeerURL   string
	ClientURL string
	IsLearner bool
	IsHealthy bool
}

// Candidate is a master that may become a member.
type Candidate struct {
	Node    string
	PeerURL string
	// IsWaiting says that its etcd container runs and is not ready: it waits to be added.
	IsWaiting bool
}

// ToAdd picks the peer URL to add as a learner, or nothing. While any member is unhealthy nobody is added; and a
// master is added only when its pod waits for it, so that two never start at once (cluster-etcd-operator
// pkg/operator/clustermembercontroller).
func ToAdd(members []Member, candidates []Candidate) string {
	if slices.ContainsFunc(members, func(m Member) bool { return !m.IsHealthy }) {
		return ""
	}
	for _, candidate := range candidates {
		isMember := slices.ContainsFunc(members, func(m Member) bool { return m.PeerURL == candidate.PeerURL })
		if !isMember && candidate.IsWaiting {
			return candidate.PeerURL
		}
	}
	return ""
}

// ToPromote lists the learners that may vote, by the same rule.
func ToPromote(members []Member) []uint64 {
	if slices.ContainsFunc(members, func(m Member) bool { return !m.IsHealthy }) {
		return nil
	}
	var ids []uint64
	for _, member := range members {
		if member.IsLearner {
			ids = append(ids, member.ID)
		}
	}
	return ids
}

// Removal is what is to be done about the bootstrap member.
type Removal struct {
	// IsPresent says that the member is still there, IsSafe that the cluster can do without it.
	IsPresent, IsSafe bool
	Member            Member
}

// CanRemove decides whether the cluster can do without the bootstrap member: three others and all of them healthy, or
// one on a single node. The bootstrap member itself may be down (cluster-etcd-operator
// pkg/operator/bootstrapteardown canRemoveEtcdBootstrap).
func CanRemove(members []Member, isSingleNode bool) Removal {
	at := slices.IndexFunc(members, func(m Member) bool { return m.Name == BootstrapMember })
	if at < 0 {
		return Removal{}
	}
	removal := Removal{IsPresent: true, Member: members[at]}
	needed := 4
	if isSingleNode {
		needed = 2
	}
	isDown := func(m Member) bool { return !m.IsHealthy && m.Name != BootstrapMember }
	removal.IsSafe = len(members) >= needed && !slices.ContainsFunc(members, isDown)
	return removal
}
