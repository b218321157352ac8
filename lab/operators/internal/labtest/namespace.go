// Package labtest starts real servers for tests: etcd, kube-apiserver and kube-controller-manager with the assets that
// hardway generates, in a network of their own.
package labtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const inside = "LABTEST_INSIDE"

// Addresses of the scenario's hosts: the bootstrap host, and three masters.
const Bootstrap = "192.168.126.100"

// Masters are the addresses of master-0, master-1 and master-2.
var Masters = []string{"192.168.126.101", "192.168.126.102", "192.168.126.103"}

// Main runs a package's tests in a network namespace, so that the cluster's fixed ports and addresses are free and no
// traffic leaves, and in a process namespace, so that no server outlives them. Where the user may not make one, tests that need servers are skipped.
func Main(m *testing.M) {
	if os.Getenv(inside) != "" {
		os.Exit(m.Run())
	}
	script := "set -e; ip link set lo up\n"
	for _, address := range append([]string{Bootstrap}, Masters...) {
		script += "ip addr add " + address + "/32 dev lo\n"
	}
	if exec.Command("unshare", "--net", "bash", "-c", script).Run() != nil {
		fmt.Fprintln(os.Stderr, "labtest: no network namespace of its own can be made here")
		os.Exit(m.Run())
	}
	command := exec.Command("unshare", append([]string{"--net", "--pid", "--fork", "--kill-child", "bash", "-c", script + `exec "$0" "$@"`}, os.Args...)...)
	command.Env = append(os.Environ(), inside+"=1")
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// Tool is one of the real programs; the test is skipped where they were not built.
func Tool(t testing.TB, name string) string {
	t.Helper()
	bin := os.Getenv("HARDWAY_TOOLS_BIN")
	if bin == "" || os.Getenv(inside) == "" {
		t.Skip("HARDWAY_TOOLS_BIN is not set, or there is no network namespace: no real " + name)
	}
	return strings.TrimRight(bin, "/") + "/" + name
}
