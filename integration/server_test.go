// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	tcneo4j "github.com/testcontainers/testcontainers-go/modules/neo4j"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/internal/must"
)

const (
	image    = "neo4j:5.26-community" // the official one
	password = "graphcloak-test"
)

// Neo4j says how to reach the server under test.
type Neo4j struct {
	URI, Username, Password, Database string

	pid     int          // of a local server
	restart func() error // kills a local server with SIGKILL and starts it again on the same data
	stop    func() error
}

// Options are the connector's for this server.
func (n Neo4j) Options() neo4j.Options {
	return neo4j.Options{URI: n.URI, Username: n.Username, Password: n.Password, Database: n.Database}
}

// Env is the environment that points a process at this server.
func (n Neo4j) Env() []string {
	return []string{
		"NEO4J_URI=" + n.URI, "NEO4J_USERNAME=" + n.Username, "NEO4J_PASSWORD=" + n.Password, "NEO4J_DATABASE=" + n.Database,
	}
}

// shared is the server of this process, started by the first test that asks.
var shared = sync.OnceValues(start)

// stopShared ends it, or takes the constraints of labels off one that goes on; nil until it was started.
var stopShared func() error

// Server returns the server that all tests share.
func Server(t testing.TB) Neo4j {
	t.Helper()
	return must.Get(shared())(t)
}

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // as it is unless given
		flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // who waits for a server leaves the processor to others
	}
	code := m.Run()
	if removeCommand != nil {
		if err := removeCommand(); err != nil {
			fmt.Fprintln(os.Stderr, "remove the command:", err)
		}
	}
	if stopShared != nil {
		if err := stopShared(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the server:", err)
		}
	}
	os.Exit(code)
}

func start() (Neo4j, error) {
	if uri := os.Getenv("NEO4J_URI"); uri != "" {
		n := Neo4j{
			URI: uri, Username: os.Getenv("NEO4J_USERNAME"), Password: os.Getenv("NEO4J_PASSWORD"),
			Database: os.Getenv("NEO4J_DATABASE"),
		}
		stopShared = func() error { return dropLabels(n) }
		return n, nil
	}
	began := time.Now()
	kind := "container " + image
	n, err := startContainer()
	if err != nil {
		kind = "local server (no container: " + firstLine(err) + ")"
		if n, err = startLocal(nil); err != nil {
			return Neo4j{}, err
		}
	}
	stopShared = n.stop
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := n.answer(ctx); err != nil {
		return Neo4j{}, err
	}
	fmt.Fprintf(os.Stderr, "Neo4j: %s at %s, ready after %.0f s\n", kind, n.URI, time.Since(began).Seconds())
	return n, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// startContainer runs the official image. Without Docker, or without a way to the
// image, it fails within seconds.
func startContainer() (_ Neo4j, err error) {
	defer func() { // the library panics where it finds no Docker at all
		if r := recover(); r != nil {
			err = fmt.Errorf("docker: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return Neo4j{}, err
	}
	defer provider.Close()
	if err := provider.Health(ctx); err != nil {
		return Neo4j{}, err
	}
	ctr, err := tcneo4j.Run(ctx, image, tcneo4j.WithAdminPassword(password),
		// not the minute that is the default
		testcontainers.WithWaitStrategyAndDeadline(5*time.Minute, wait.ForLog("Bolt enabled on").WithStartupTimeout(5*time.Minute)))
	stop := func() error { return testcontainers.TerminateContainer(ctr, testcontainers.StopTimeout(time.Second)) }
	if err != nil {
		return Neo4j{}, errors.Join(err, stop())
	}
	uri, err := ctr.BoltUrl(ctx)
	if err != nil {
		return Neo4j{}, errors.Join(err, stop())
	}
	return Neo4j{URI: uri, Username: "neo4j", Password: password, Database: "neo4j", stop: stop}, nil
}

// answer waits until the server takes a connection: Docker opens the port before the server does, and the first
// connection to a server on a busy machine takes long.
func (n Neo4j) answer(ctx context.Context) error {
	for {
		s, err := neo4j.New(ctx, n.Options())
		if err == nil {
			return s.Close(ctx)
		}
		if !errors.Is(err, connector.ErrTransient) {
			return errors.Join(err, n.stop())
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// startLocal runs neo4j.sh with settings by environment and lines for neo4j.conf. The script serves until its standard input is closed, and
// therefore ends with this process whatever becomes of it.
func startLocal(env []string, conf ...string) (Neo4j, error) {
	port, err := freePort()
	if err != nil {
		return Neo4j{}, err
	}
	cmd := exec.Command("./neo4j.sh")
	cmd.Env = append(append(os.Environ(), env...), fmt.Sprintf("BOLT_PORT=%d", port), "NEO4J_PASSWORD="+password,
		"NEO4J_CONF_EXTRA="+strings.Join(conf, "\n"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return Neo4j{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Neo4j{}, err
	}
	if err := cmd.Start(); err != nil {
		return Neo4j{}, err
	}
	n := Neo4j{Database: "neo4j", stop: func() error { return errors.Join(in.Close(), cmd.Wait()) }}
	lines := bufio.NewReader(out)
	ready := func() error {
		line, _ := lines.ReadString('\n')
		if _, err := fmt.Sscanf(line, "ready %s %s %s %d", &n.URI, &n.Username, &n.Password, &n.pid); err != nil {
			return errors.New("neo4j.sh started no server; its output is above")
		}
		return nil
	}
	n.restart = func() error {
		if _, err := io.WriteString(in, "restart\n"); err != nil {
			return err
		}
		return ready()
	}
	if err := ready(); err != nil {
		return Neo4j{}, errors.Join(err, n.stop())
	}
	return n, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
