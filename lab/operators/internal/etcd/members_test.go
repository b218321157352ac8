package etcd

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func voter(name, ip string) Member {
	return Member{ID: uint64(len(name)), Name: name, PeerURL: "https://" + ip + ":2380", ClientURL: "https://" + ip + ":2379", IsHealthy: true}
}

func sick(member Member) Member { member.IsHealthy = false; return member }

func learning(member Member) Member { member.IsLearner = true; return member }

var bootstrap = voter(BootstrapMember, "10.0.0.100")

func TestToAdd(t *testing.T) {
	a := Candidate{Node: "a", PeerURL: "https://10.0.0.1:2380", IsWaiting: true}
	b := Candidate{Node: "b", PeerURL: "https://10.0.0.2:2380", IsWaiting: true}
	idle := Candidate{Node: "c", PeerURL: "https://10.0.0.3:2380"}
	for name, c := range map[string]struct {
		members    []Member
		candidates []Candidate
		want       string
	}{
		"the first that waits":            {[]Member{bootstrap}, []Candidate{idle, a, b}, a.PeerURL},
		"members are left alone":          {[]Member{bootstrap, voter("a", "10.0.0.1")}, []Candidate{a, b}, b.PeerURL},
		"learners are members":            {[]Member{bootstrap, learning(voter("a", "10.0.0.1"))}, []Candidate{a}, ""},
		"nobody while one is sick":        {[]Member{bootstrap, sick(voter("a", "10.0.0.1"))}, []Candidate{a, b}, ""},
		"one that has not started counts": {[]Member{bootstrap, {PeerURL: a.PeerURL, IsLearner: true}}, []Candidate{a, b}, ""},
		"nobody waits":                    {[]Member{bootstrap}, []Candidate{idle}, ""},
	} {
		if got := ToAdd(c.members, c.candidates); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestToPromote(t *testing.T) {
	learner := learning(voter("a", "10.0.0.1"))
	if got := ToPromote([]Member{bootstrap, learner}); !slices.Equal(got, []uint64{learner.ID}) {
		t.Error(got)
	}
	if got := ToPromote([]Member{sick(bootstrap), learner}); got != nil {
		t.Error("promoted while a member is sick")
	}
}

func TestCanRemove(t *testing.T) {
	a, b, c := voter("a", "10.0.0.1"), voter("b", "10.0.0.2"), voter("c", "10.0.0.3")
	for name, k := range map[string]struct {
		members         []Member
		isSingle        bool
		isPresent, safe bool
	}{
		"gone":                         {[]Member{a, b, c}, false, false, false},
		"alone":                        {[]Member{bootstrap}, false, true, false},
		"two others are too few":       {[]Member{bootstrap, a, b}, false, true, false},
		"three are enough":             {[]Member{bootstrap, a, b, c}, false, true, true},
		"not when one of them is sick": {[]Member{bootstrap, a, b, sick(c)}, false, true, false},
		"itself may be sick":           {[]Member{sick(bootstrap), a, b, c}, false, true, true},
		"one on a single node":         {[]Member{bootstrap, a}, true, true, true},
		"none on a single node":        {[]Member{bootstrap}, true, true, false},
	} {
		got := CanRemove(k.members, k.isSingle)
		if got.IsPresent != k.isPresent || got.IsSafe != k.safe {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNextEndpoints(t *testing.T) {
	a := voter("a", "10.0.0.1")
	now := Endpoints{Bootstrap: "10.0.0.100"}
	if _, err := NextEndpoints(now, []Member{bootstrap, learning(a)}, false, true); !errors.Is(err, ErrNoMembers) {
		t.Errorf("neither the bootstrap member nor a learner is an endpoint: %v", err)
	}
	for name, c := range map[string]struct {
		members              []Member
		isComplete, isStable bool
		bootstrap            string
	}{
		"while it is a member":          {[]Member{bootstrap, a}, true, true, "10.0.0.100"},
		"until it is complete":          {[]Member{a}, false, true, "10.0.0.100"},
		"until all masters know better": {[]Member{a}, true, false, "10.0.0.100"},
		"then no more":                  {[]Member{a}, true, true, ""},
	} {
		next, err := NextEndpoints(now, c.members, c.isComplete, c.isStable)
		if err != nil || next.Bootstrap != c.bootstrap || !slices.Equal(slices.Collect(maps.Values(next.Members)), []string{"10.0.0.1"}) {
			t.Errorf("%s: %+v, %v", name, next, err)
		}
	}
}

func TestURLs(t *testing.T) {
	endpoints := Endpoints{Bootstrap: "10.0.0.100", Members: map[string]string{"1": "10.0.0.2", "2": "fd00::1"}}
	all, err := endpoints.URLs(true)
	if err != nil || strings.Join(all, " ") != "https://10.0.0.100:2379 https://10.0.0.2:2379 https://[fd00::1]:2379" {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := (Endpoints{Members: map[string]string{"1": "master-0"}}).URLs(true); err == nil {
		t.Error("a name was taken for an address")
	}
}

func TestInitialCluster(t *testing.T) {
	members := []Member{bootstrap, {PeerURL: "https://10.0.0.1:2380", IsLearner: true}}
	initial, isMember := InitialCluster(members, "a", "https://10.0.0.1:2380")
	if !isMember || initial != "a=https://10.0.0.1:2380,etcd-bootstrap=https://10.0.0.100:2380" {
		t.Error(initial)
	}
	if _, isMember := InitialCluster(members, "b", "https://10.0.0.2:2380"); isMember {
		t.Error("b is none")
	}
}

func TestEnvironment(t *testing.T) {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "master-0.x.y"}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "fd00::2"}}
	good := Facts{
		Endpoints: Endpoints{Bootstrap: "10.0.0.100"}, Nodes: []corev1.Node{node}, InstallConfig: "controlPlane: {replicas: 3}",
	}
	variables, err := Environment(good)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, variable := range variables {
		values[variable.Name] = variable.Value
	}
	for name, want := range map[string]string{
		"ALL_ETCD_ENDPOINTS": "https://10.0.0.100:2379", "ETCD_EXPERIMENTAL_MAX_LEARNERS": "3",
		"NODE_master_0_x_y_IP": "[fd00::2]", "NODE_master_0_x_y_ETCD_NAME": "master-0.x.y",
	} {
		if values[name] != want {
			t.Errorf("%s is %q", name, values[name])
		}
	}
	for name, change := range map[string]func(*Facts){
		"no masters":        func(f *Facts) { f.Nodes = nil },
		"no endpoints":      func(f *Facts) { f.Endpoints = Endpoints{} },
		"no replicas":       func(f *Facts) { f.InstallConfig = "controlPlane: {}" },
		"no install config": func(f *Facts) { f.InstallConfig = "" },
		"no address":        func(f *Facts) { f.Nodes = []corev1.Node{{}} },
	} {
		facts := good
		change(&facts)
		if _, err := Environment(facts); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
