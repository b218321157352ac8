// Package network stands in for cluster-network-operator and its plugin: a bridge on every node, a subnet for each,
// routes between them, and kube-proxy.
package network

import (
	"fmt"
	"net/netip"
	"slices"

	"hardway.dev/lab/operators/internal/kube"
)

// SubnetAnnotation holds a node's pod subnet, as OVN-Kubernetes keeps its own.
const SubnetAnnotation = "lab.hardway.dev/pod-subnet"

// Assign gives every node without a subnet the first free one. What a node has it keeps.
func Assign(pods kube.PodNetwork, taken map[string]netip.Prefix, nodes []string) (map[string]netip.Prefix, error) {
	used := map[netip.Prefix]bool{}
	for _, prefix := range taken {
		used[prefix] = true
	}
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	given := map[string]netip.Prefix{}
	next := netip.PrefixFrom(pods.CIDR.Masked().Addr(), pods.HostPrefix)
	for _, node := range nodes {
		if _, ok := taken[node]; ok {
			continue
		}
		for used[next] {
			next = after(next)
		}
		if !pods.CIDR.Contains(next.Addr()) {
			return given, fmt.Errorf("clusterNetwork %s has no room for node %s", pods.CIDR, node)
		}
		used[next], given[node] = true, next
	}
	return given, nil
}

// after is the next subnet of the same size.
func after(prefix netip.Prefix) netip.Prefix {
	bytes := prefix.Addr().AsSlice()
	for bit := prefix.Bits() - 1; bit >= 0; bit-- {
		mask := byte(1) << (7 - bit%8)
		bytes[bit/8] ^= mask
		if bytes[bit/8]&mask != 0 {
			break
		}
	}
	address, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(address, prefix.Bits())
}
