package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// A line of --help: `   EventedPLEG=true|false (ALPHA - default=false)`, the first one after the flag's own words.
var gateLine = regexp.MustCompile(`([A-Za-z0-9]+)=true\|false \((ALPHA|BETA|DEPRECATED) - `)

// knownGates asks the program itself which feature gates it has; gates that can no longer be changed are not among them.
func knownGates(program string) (map[string]bool, error) {
	help, err := exec.Command(program, "--help").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", program, err)
	}
	known := map[string]bool{}
	for _, found := range gateLine.FindAllStringSubmatch(string(help), -1) {
		known[found[1]] = true
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("%s --help names no feature gates", program)
	}
	return known, nil
}

// withKnownGates drops gates that only OpenShift has: upstream refuses to start with an unknown one.
func withKnownGates(args []string, known map[string]bool) []string {
	const flag = "--feature-gates="
	kept := []string{}
	for _, arg := range args {
		gates, isGates := strings.CutPrefix(arg, flag)
		if !isGates {
			kept = append(kept, arg)
			continue
		}
		own := []string{}
		for _, gate := range strings.Split(gates, ",") {
			if name, _, _ := strings.Cut(gate, "="); known[name] {
				own = append(own, gate)
			}
		}
		if len(own) > 0 {
			kept = append(kept, flag+strings.Join(own, ","))
		}
	}
	return kept
}
