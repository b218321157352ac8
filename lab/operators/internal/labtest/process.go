package labtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Process is a server that ends with the test.
type Process struct {
	t    testing.TB
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs a program; its output goes to a file of its name.
func Start(t testing.TB, folder, name string, environment []string, commandLine ...string) *Process {
	t.Helper()
	process := &Process{t: t, log: filepath.Join(folder, name+".log"), done: make(chan struct{})}
	output, err := os.Create(process.log)
	if err != nil {
		t.Fatal(err)
	}
	process.cmd = exec.Command(commandLine[0], commandLine[1:]...)
	process.cmd.Stdout, process.cmd.Stderr = output, output
	process.cmd.Env = append(os.Environ(), environment...)
	if err := process.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = process.cmd.Wait()
		output.Close()
		close(process.done)
	}()
	t.Cleanup(func() {
		process.Stop()
		if t.Failed() {
			t.Logf("the end of %s:\n%s", name, process.Log())
		}
	})
	return process
}

// Stop kills it and waits.
func (p *Process) Stop() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Log is the end of its output.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// Until waits for a condition; the limit is only there to end a test that hangs.
func Until(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(4 * time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never got to: %s: %v", what, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// Until waits while the process lives.
func (p *Process) Until(what string, check func() error) {
	p.t.Helper()
	Until(p.t, what, func() error {
		err := check()
		select {
		case <-p.done:
			p.t.Fatalf("%s ended before: %s\n%s", p.cmd.Path, what, p.Log())
		default:
		}
		return err
	})
}
