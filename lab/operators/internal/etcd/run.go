package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// RunOptions are the command line of run-etcd.
type RunOptions struct {
	Endpoints         []string
	CACert, Cert, Key string
	DataDir           string
	Name, PeerURL     string
	Command           []string
}

// Run waits until this node is a member, then becomes etcd (what openshift/etcd's discover-etcd-initial-cluster does).
func Run(ctx context.Context, options RunOptions) error {
	initial, err := Discover(ctx, options)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(options.Command[0])
	if err != nil {
		return err
	}
	log.Printf("ETCD_INITIAL_CLUSTER=%s", initial)
	return syscall.Exec(program, options.Command, append(os.Environ(), "ETCD_INITIAL_CLUSTER="+initial))
}

// Discover returns the initial cluster. It waits as long as the others do not know this node, which to the operator
// is a pod that runs and is not ready. With data of its own and nobody to ask, the data decide.
func Discover(ctx context.Context, options RunOptions) (string, error) {
	alone := options.Name + "=" + options.PeerURL
	member := filepath.Join(options.DataDir, "member")
	for try := 0; ; try++ {
		_, err := os.Stat(member)
		hasData := err == nil
		members, err := ask(ctx, options)
		switch {
		case err != nil && hasData && try >= 2:
			log.Printf("nobody answers (%v): starting with what is in %s", err, options.DataDir)
			return alone, nil
		case err != nil:
			log.Printf("could not list the members: %v", err)
		default:
			initial, isMember := InitialCluster(members, options.Name, options.PeerURL)
			if isMember {
				return initial, nil
			}
			if hasData {
				away := fmt.Sprintf("%s-removed-%d", member, time.Now().Unix())
				log.Printf("this node was a member and is none any more: data moved to %s", away)
				if err := os.Rename(member, away); err != nil {
					return "", err
				}
			}
			log.Printf("%s is not a member yet", options.PeerURL)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// InitialCluster names every member that has started, and this one.
func InitialCluster(members []Member, name, peerURL string) (string, bool) {
	isMember := false
	var parts []string
	for _, member := range members {
		switch {
		case member.PeerURL == peerURL:
			isMember = true
			parts = append(parts, name+"="+peerURL)
		case member.Name != "":
			parts = append(parts, member.Name+"="+member.PeerURL)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ","), isMember
}

func ask(ctx context.Context, options RunOptions) ([]Member, error) {
	credentials, err := ReadCredentials(options.Cert, options.Key, options.CACert)
	if err != nil {
		return nil, err
	}
	client, err := Dial(options.Endpoints, credentials)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Members(ctx)
}

// ReadCredentials reads a client's files.
func ReadCredentials(cert, key, ca string) (*tls.Config, error) {
	var texts [3][]byte
	for i, path := range []string{cert, key, ca} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return TLSConfig(texts[0], texts[1], texts[2])
}
