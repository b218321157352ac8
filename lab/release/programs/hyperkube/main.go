// hyperkube starts an upstream Kubernetes program the way OpenShift starts its own: the first argument names it, and
// --openshift-config names a file that holds most of its flags.
//
// OpenShift's hyperkube is one program with patches that read that file. This one turns it into flags and becomes the
// upstream program. With LAB_HYPERKUBE_PRINT set it prints the command line instead, one argument a line.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "hyperkube: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("which program? kube-apiserver, kube-controller-manager, kube-scheduler or kubelet")
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	config, given := split(args[1:])
	flags := []string{}
	if config != "" {
		if flags, err = readConfig(config, names(given)); err != nil {
			return fmt.Errorf("%s: %w", config, err)
		}
	}
	gates, err := knownGates(program)
	if err != nil {
		return err
	}
	line := append([]string{program}, withKnownGates(append(flags, given...), gates)...)
	if os.Getenv("LAB_HYPERKUBE_PRINT") != "" {
		fmt.Println(strings.Join(line, "\n"))
		return nil
	}
	return syscall.Exec(program, line, os.Environ())
}

// split takes --openshift-config out of the arguments.
func split(args []string) (config string, rest []string) {
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		if name != "--openshift-config" {
			rest = append(rest, args[i])
			continue
		}
		if !hasValue && i+1 < len(args) {
			i++
			value = args[i]
		}
		config = value
	}
	return config, rest
}

// names is the set of flags that are there; they replace those of the file.
func names(args []string) map[string]bool {
	set := map[string]bool{}
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		set[name] = true
	}
	return set
}
