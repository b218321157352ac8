// lab-operator is all stand-ins of the lab in one program, so that the lab needs one image for them. It goes by the
// name it is called by: as cluster-etcd-operator it knows what that program is asked for, and so on.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"hardway.dev/lab/operators/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	arguments := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	if err := command.Run(ctx, arguments); err != nil {
		fmt.Fprintln(os.Stderr, "lab-operator:", err)
		os.Exit(1)
	}
}
