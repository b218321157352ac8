// A stand-in for the two bootstrap commands of the OpenShift machine-config-operator. See README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// version is what both commands must agree on; the linker may set another one.
var version = "stand-in"

func main() {
	log("this is a stand-in for %s, version %s", filepath.Base(os.Args[0]), version)
	if len(os.Args) == 2 && os.Args[1] == "version" {
		return
	}
	if len(os.Args) < 2 || os.Args[1] != "bootstrap" {
		fatal("only the commands bootstrap and version are there")
	}
	var err error
	switch name := filepath.Base(os.Args[0]); name {
	case "machine-config-operator":
		err = runOperator(os.Args[2:])
	case "machine-config-controller":
		err = runController(os.Args[2:])
	default:
		fatal("called as %s", name)
	}
	if err != nil {
		fatal("%v", err)
	}
}

// flags reads options in the form the real commands take. What they do not know is an error.
func flags(args []string, options map[string]*string) {
	set := flag.NewFlagSet("bootstrap", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for name, value := range options {
		set.StringVar(value, name, *value, "")
	}
	if err := set.Parse(args); err != nil {
		fatal("Error: unknown flag: %v", err)
	}
	if set.NArg() > 0 {
		fatal("unknown arguments %q", set.Args())
	}
}

func log(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "I stand-in] "+format+"\n", values...)
}

// fatal ends as klog.Fatalf does.
func fatal(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "F stand-in] "+format+"\n", values...)
	os.Exit(255)
}
