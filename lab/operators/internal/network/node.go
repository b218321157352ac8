package network

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/installer"
	"hardway.dev/lab/operators/internal/kube"
)

// RunNode keeps one node's bridge configuration and its routes to the other nodes' pods.
func RunNode(ctx context.Context, clients *kube.Clients, name, cniDir string) error {
	last := ""
	for {
		err := passNode(ctx, clients, name, cniDir)
		if text := fmt.Sprint(err); err != nil && text != last {
			log.Print(text)
			last = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(3 * time.Second):
		}
	}
}

func passNode(ctx context.Context, clients *kube.Clients, name, cniDir string) error {
	list, err := clients.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	own, routes, err := Plan(list.Items, name)
	if err != nil {
		return err
	}
	if err := writeCNI(cniDir, own); err != nil {
		return err
	}
	var all []error
	for _, route := range routes {
		all = append(all, setRoute(route))
	}
	return errors.Join(all...)
}

// Route leads to the pods of another node.
type Route struct {
	Subnet netip.Prefix
	Via    netip.Addr
}

// Plan says what a node's own subnet is and where the others' are.
func Plan(nodes []corev1.Node, name string) (own netip.Prefix, routes []Route, err error) {
	for _, node := range nodes {
		prefix, parseErr := netip.ParsePrefix(node.Annotations[SubnetAnnotation])
		ips := kube.InternalIPs(&node)
		if parseErr != nil || len(ips) == 0 {
			continue
		}
		if node.Name == name {
			own = prefix
			continue
		}
		via, parseErr := netip.ParseAddr(ips[0])
		if parseErr != nil {
			return own, nil, parseErr
		}
		routes = append(routes, Route{Subnet: prefix, Via: via})
	}
	if !own.IsValid() {
		return own, nil, fmt.Errorf("node %s has no pod subnet yet", name)
	}
	return own, routes, nil
}

// writeCNI writes the file that makes the node ready.
func writeCNI(folder string, subnet netip.Prefix) error {
	text, err := json.MarshalIndent(Configuration(subnet), "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "10-lab.conflist")
	if found, err := os.ReadFile(path); err == nil && string(found) == string(text) {
		return nil
	}
	log.Printf("pods of this node are in %s", subnet)
	return installer.WriteAtomically(path, text, 0o644)
}

// Configuration is a bridge with an address for each pod.
func Configuration(subnet netip.Prefix) map[string]any {
	return map[string]any{
		"cniVersion": "0.4.0",
		"name":       "lab",
		"plugins": []any{
			map[string]any{
				"type": "bridge", "bridge": "lab0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
				"ipam": map[string]any{
					"type":   "host-local",
					"ranges": []any{[]any{map[string]any{"subnet": subnet.String()}}},
					"routes": []any{map[string]any{"dst": "0.0.0.0/0"}},
				},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}},
		},
	}
}

func setRoute(route Route) error {
	destination := &net.IPNet{IP: route.Subnet.Addr().AsSlice(), Mask: net.CIDRMask(route.Subnet.Bits(), route.Subnet.Addr().BitLen())}
	return netlink.RouteReplace(&netlink.Route{Dst: destination, Gw: route.Via.AsSlice()})
}
