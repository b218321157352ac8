package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Endpoints is ConfigMap openshift-etcd/etcd-endpoints: members that stay as data, the one that goes as annotation.
type Endpoints struct {
	Bootstrap string
	Members   map[string]string
}

// ReadEndpoints reads it; a missing object has no endpoints.
func ReadEndpoints(ctx context.Context, clients *kube.Clients) (Endpoints, error) {
	found, err := clients.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, "etcd-endpoints", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Endpoints{}, nil
	}
	if err != nil {
		return Endpoints{}, err
	}
	return Endpoints{Bootstrap: found.Annotations[BootstrapAnnotation], Members: found.Data}, nil
}

// URLs are the addresses that clients use, sorted (cluster-etcd-operator pkg/etcdenvvar/etcd_env.go
// getEtcdEndpoints).
func (e Endpoints) URLs(withBootstrap bool) ([]string, error) {
	addresses := slices.Collect(maps.Values(e.Members))
	if withBootstrap && e.Bootstrap != "" {
		addresses = append(addresses, e.Bootstrap)
	}
	var urls []string
	for _, address := range addresses {
		if _, err := netip.ParseAddr(address); err != nil {
			return nil, fmt.Errorf("configmaps/etcd-endpoints contains invalid ip address: %s", address)
		}
		urls = append(urls, "https://"+net.JoinHostPort(address, clientPort))
	}
	slices.Sort(urls)
	return slices.Compact(urls), nil
}

const clientPort = "2379"

// ErrNoMembers is the state until the first master votes.
var ErrNoMembers = errors.New("no etcd members are present")

// NextEndpoints says what the object should hold: every voting member but the bootstrap one. The bootstrap address
// stays until its member is gone and every master runs the newest revision
// (cluster-etcd-operator pkg/operator/etcdendpointscontroller).
func NextEndpoints(now Endpoints, members []Member, isComplete, isStable bool) (Endpoints, error) {
	next := Endpoints{Bootstrap: now.Bootstrap, Members: map[string]string{}}
	hasBootstrap := false
	for _, member := range members {
		if member.Name == BootstrapMember {
			hasBootstrap = true
			continue
		}
		if member.IsLearner {
			continue
		}
		host, err := hostOf(member.PeerURL)
		if err != nil {
			return next, err
		}
		next.Members[fmt.Sprintf("%x", member.ID)] = host
	}
	if len(next.Members) == 0 {
		return next, ErrNoMembers
	}
	if isComplete && isStable && !hasBootstrap {
		next.Bootstrap = ""
	}
	return next, nil
}

// WriteEndpoints brings the object up to date.
func WriteEndpoints(ctx context.Context, clients *kube.Clients, next Endpoints) error {
	client := clients.Kube.CoreV1().ConfigMaps(Namespace)
	found, err := client.Get(ctx, "etcd-endpoints", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "etcd-endpoints"}, Data: next.Members,
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	if maps.Equal(found.Data, next.Members) && found.Annotations[BootstrapAnnotation] == next.Bootstrap {
		return nil
	}
	found.Data = next.Members
	if next.Bootstrap == "" {
		delete(found.Annotations, BootstrapAnnotation)
	}
	_, err = client.Update(ctx, found, metav1.UpdateOptions{})
	return err
}

func hostOf(peerURL string) (string, error) {
	parsed, err := url.Parse(peerURL)
	if err != nil {
		return "", err
	}
	return parsed.Hostname(), nil
}
