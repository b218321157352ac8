package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Client talks to etcd itself.
type Client struct {
	etcd *clientv3.Client
	tls  *tls.Config
}

const callTimeout = 10 * time.Second

// Dial connects to any of the endpoints.
func Dial(endpoints []string, tlsConfig *tls.Config) (*Client, error) {
	if len(endpoints) == 0 {
		return nil, errors.New("failed to make etcd client: no endpoints")
	}
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, TLS: tlsConfig, DialTimeout: callTimeout, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("failed to make etcd client: %w", err)
	}
	return &Client{etcd: etcd, tls: tlsConfig}, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.etcd.Close() }

// Credentials are the client certificate that was seeded or minted, and the CAs that etcd is trusted by. The operator
// has them from its own namespace, where they are synced to.
func Credentials(ctx context.Context, clients *kube.Clients) (*tls.Config, error) {
	secret, err := clients.Kube.CoreV1().Secrets(Namespace).Get(ctx, "etcd-client", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	bundle, err := clients.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, "etcd-ca-bundle", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return TLSConfig(secret.Data["tls.crt"], secret.Data["tls.key"], []byte(bundle.Data["ca-bundle.crt"]))
}

// TLSConfig makes a client's configuration from PEM.
func TLSConfig(cert, key, ca []byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("no CA certificate found")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool}, nil
}

// Members lists the members without asking each for its health.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.etcd.MemberList(ctx)
	if err != nil {
		return nil, fmt.Errorf("failed to get member list: %w", err)
	}
	var members []Member
	for _, found := range list.Members {
		member := Member{ID: found.ID, Name: found.Name, IsLearner: found.IsLearner}
		if len(found.PeerURLs) > 0 {
			member.PeerURL = found.PeerURLs[0]
		}
		if len(found.ClientURLs) > 0 {
			member.ClientURL = found.ClientURLs[0]
		}
		members = append(members, member)
	}
	return members, nil
}

// MembersWithHealth asks each member as well. One that has not started has no name, and is not healthy.
func (c *Client) MembersWithHealth(ctx context.Context) ([]Member, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	for i := range members {
		go func() {
			members[i].IsHealthy = members[i].Name != "" && members[i].ClientURL != "" && c.isHealthy(ctx, members[i])
			done <- struct{}{}
		}()
	}
	for range members {
		<-done
	}
	return members, nil
}

func (c *Client) isHealthy(ctx context.Context, member Member) bool {
	one, err := Dial([]string{member.ClientURL}, c.tls)
	if err != nil {
		return false
	}
	defer one.Close()
	ctx, cancel := context.WithTimeout(ctx, callTimeout/2)
	defer cancel()
	if member.IsLearner {
		_, err = one.etcd.Status(ctx, member.ClientURL)
	} else {
		// Through the leader, so that a member cut off from the others does not pass.
		_, err = one.etcd.Get(ctx, "health")
	}
	return err == nil
}

// AddLearner adds a member that does not vote yet.
func (c *Client) AddLearner(ctx context.Context, peerURL string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.etcd.MemberAddAsLearner(ctx, []string{peerURL})
	return err
}

// Promote lets a learner vote. It reports false when the learner has not caught up.
func (c *Client) Promote(ctx context.Context, id uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.etcd.MemberPromote(ctx, id)
	if err != nil && isNotReady(err) {
		return false, nil
	}
	return err == nil, err
}

// Leader is the member that leads, as one of the members sees it.
func (c *Client) Leader(ctx context.Context, url string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	status, err := c.etcd.Status(ctx, url)
	if err != nil {
		return 0, err
	}
	return status.Leader, nil
}

// Remove takes a member out.
func (c *Client) Remove(ctx context.Context, id uint64) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.etcd.MemberRemove(ctx, id)
	return err
}

func isNotReady(err error) bool { return errors.Is(err, rpctypes.ErrMemberLearnerNotReady) }
