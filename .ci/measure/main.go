// Command measure takes two figures of docs/performance.md that need a process of its own:
//
//	measure start [-n 11] IMAGE EVENT   from the start of IMAGE's container to its first connection to the API, over
//	                                    an image that only connects
//	measure memory COMMAND [ARG…]       the most memory that a command ever held
//	measure dial ADDR                   what the other image does: connects and ends
//
// start builds the image to compare with from this program's own file, FROM scratch.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "measure: error:", err)
		os.Exit(3)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("measure start IMAGE EVENT, measure memory COMMAND, or measure dial ADDR")
	}
	switch args[0] {
	case "dial":
		c, err := net.Dial("tcp", args[1])
		if err != nil {
			return err
		}
		return c.Close()
	case "memory":
		return memory(args[1:])
	case "start":
		return start(args[1:])
	}
	return fmt.Errorf("unknown measurement %q; known: start, memory, dial", args[0])
}

// memory prints the peak resident set of a command in KiB. The command's own exit code is not an error: a gate says no
// with 1.
func memory(args []string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	began := time.Now()
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		return err
	}
	usage, is := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !is {
		return errors.New("this system does not tell the memory of a process")
	}
	fmt.Printf("%d %d %d\n", usage.Maxrss, time.Since(began).Milliseconds(), c.ProcessState.ExitCode())
	return nil
}

// start compares the two images, in turn, and prints the medians in milliseconds.
func start(args []string) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	n := flags.Int("n", 11, "how often each")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("measure start IMAGE EVENT")
	}
	image, event := flags.Arg(0), flags.Arg(1)
	empty, err := emptyImage()
	if err != nil {
		return err
	}
	defer func() { _ = exec.Command("docker", "image", "rm", empty).Run() }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	addr := l.Addr().String()
	event, err = filepath.Abs(event)
	if err != nil {
		return err
	}
	gate := []string{"-v", event + ":/event.json:ro", "-e", "GITHUB_ACTIONS=true", "-e",
		"GITHUB_EVENT_NAME=pull_request_target", "-e", "GITHUB_EVENT_PATH=/event.json",
		"-e", "GITHUB_API_URL=http://" + addr + "/api/v3", "-e", "GITHUB_SERVER_URL=http://" + addr, "-e",
		"GITHUB_REPOSITORY=acme/underwriting",
		"-e", "GITHUB_OUTPUT=/output", "-e", "GITHUB_STEP_SUMMARY=/summary", "-e", "INPUT_TOKEN=none", "-e",
		"INPUT_MODE=auto", "-e", "INPUT_MAX-WAIT=1", image, "gate"}
	var base, ours []time.Duration
	for i := range *n + 1 {
		b, err := first(l, empty, "dial", addr)
		if err != nil {
			return fmt.Errorf("the empty image: %w", err)
		}
		o, err := first(l, gate...)
		if err != nil {
			return fmt.Errorf("%s: %w", image, err)
		}
		if i > 0 { // the first run reads the images from the disk
			base, ours = append(base, b), append(ours, o)
		}
	}
	b, o := median(base), median(ours)
	fmt.Printf("%d %d %d\n", (o - b).Milliseconds(), o.Milliseconds(), b.Milliseconds())
	return nil
}

// emptyImage is FROM scratch with this program alone.
func emptyImage() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "measure-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	data, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("referee-measure-%d", os.Getpid())
	err = errors.Join(os.WriteFile(filepath.Join(dir, "measure"), data, 0o755),
		os.WriteFile(filepath.Join(dir, "Dockerfile"),
			[]byte("FROM scratch\nCOPY measure /measure\nENTRYPOINT [\"/measure\"]\n"), 0o644))
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("docker", "build", "--quiet", "--tag", name, dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the image to compare with (%s): %w\n%s", runtime.GOARCH, err, out)
	}
	return name, nil
}

// first is the time from the start of a container to its first connection, which is dropped.
func first(l net.Listener, args ...string) (time.Duration, error) {
	var said strings.Builder
	c := exec.Command("docker", append([]string{"run", "--rm", "--network", "host"}, args...)...)
	c.Stdout, c.Stderr = &said, &said
	began := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	connected := make(chan time.Duration, 1)
	stop := make(chan struct{})
	go drop(l, began, connected, stop)
	var took time.Duration
	select {
	case took = <-connected:
	case <-ended:
	case <-time.After(time.Minute):
		_ = c.Process.Kill()
	}
	<-ended
	close(stop)
	wake(l)
	if took == 0 {
		return 0, fmt.Errorf("ended without a connection:\n%s", said.String())
	}
	return took, nil
}

// drop closes every connection and tells when the first came, until it is stopped and woken.
func drop(l net.Listener, began time.Time, connected chan<- time.Duration, stop <-chan struct{}) {
	for told := false; ; {
		c, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case <-stop:
			_ = c.Close()
			return
		default:
		}
		if !told {
			connected <- time.Since(began)
			told = true
		}
		_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: "+
			"2\r\nConnection: close\r\n\r\n{}")
		_ = c.Close()
	}
}

// wake makes a listener's Accept return.
func wake(l net.Listener) {
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
