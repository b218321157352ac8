// Package labtest starts real servers for tests: etcd, kube-apiserver and kube-controller-manager with the assets that
// hardway generates, in a network of their own.
package labtest

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Set inside the namespaces: the processes that hold the masters', and a folder that goes when all tests are over.
const (
	holders = "LABTEST_MASTERS"
	scratch = "LABTEST_SCRATCH"
)

// Bootstrap is the address of the scenario's bootstrap host, where tests run.
const Bootstrap = "192.168.126.100"

// Masters are the addresses of master-0, master-1 and master-2.
var Masters = []string{"192.168.126.101", "192.168.126.102", "192.168.126.103"}

//go:embed network.sh
var network string

// Main runs a package's tests in a network namespace with one more for each master, so that the cluster's fixed ports
// and addresses are free and no traffic leaves, and in a process namespace, so that no server outlives them. Where the
// user may not make them, tests that need servers are skipped.
func Main(m *testing.M) {
	if os.Getenv(holders) != "" {
		os.Exit(m.Run())
	}
	run := func(arguments ...string) *exec.Cmd {
		unshare := []string{"--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", network}
		return exec.Command("unshare", append(unshare, arguments...)...)
	}
	if output, err := run("true").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "labtest: no network of its own can be made here: %v: %s\n", err, output)
		os.Exit(m.Run())
	}
	folder, err := os.MkdirTemp("", "labtest")
	if err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err)
		os.Exit(1)
	}
	command := run(os.Args...)
	command.Env = append(os.Environ(), scratch+"="+folder)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	_ = os.RemoveAll(folder)
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// Tool is one of the real programs; the test is skipped where they were not built.
func Tool(t testing.TB, name string) string {
	t.Helper()
	bin := os.Getenv("HARDWAY_TOOLS_BIN")
	if bin == "" || os.Getenv(holders) == "" {
		Skip(t, "HARDWAY_TOOLS_BIN is not set, or there is no network namespace: no real "+name)
	}
	return strings.TrimRight(bin, "/") + "/" + name
}

// onMaster puts a command line into a master's network.
func onMaster(i int, commandLine ...string) []string {
	pids := strings.Fields(os.Getenv(holders))
	return append([]string{"nsenter", "--target", pids[i], "--net", "--"}, commandLine...)
}
