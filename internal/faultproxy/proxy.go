// SPDX-License-Identifier: Apache-2.0

// Package faultproxy is a proxy before a Neo4j server that breaks connections at
// the commits of transactions: where a client cannot know what became of its work.
// It is for tests.
//
// Start with [Listen]. It understands the framing of Bolt, without encryption, and
// counts the commits of transactions that may write.
package faultproxy

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"time"
)

// Fault is what happens at a commit.
type Fault int

const (
	None           Fault = iota
	LoseRequest          // the connection is cut before the server sees the commit
	LoseReply            // it is cut when the server has committed, before the client sees the answer
	SwallowRequest       // the commit vanishes, and both ends stay connected until [Proxy.Heal]
	SwallowReply         // the answer vanishes, and both ends stay connected until [Proxy.Heal]
)

func (f Fault) String() string {
	return [...]string{"none", "request lost", "reply lost", "request swallowed", "reply swallowed"}[f]
}

// Faults are all that can happen.
var Faults = []Fault{LoseRequest, LoseReply, SwallowRequest, SwallowReply}

// Proxy passes connections on to a server.
type Proxy struct {
	listener net.Listener
	server   string
	wait     sync.WaitGroup

	mu      sync.Mutex
	commits int
	at      int // the commit at which the fault happens, from 1
	fault   Fault
	away    bool          // no connection is taken after the fault
	hit     chan struct{} // closed when the fault happens
	held    []net.Conn    // of swallowed commits
	open    []net.Conn
}

// Listen starts a proxy on a port of the loopback before the server at an address
// host:port.
func Listen(server string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, server: server, hit: make(chan struct{})}
	p.wait.Go(p.serve)
	return p, nil
}

// Addr returns host:port of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Arm breaks the commit with a number, counted from 1 from now on, by a fault, once.
// With away no new connection is taken from then on, as if the server were gone.
// The channel is closed when the fault has happened.
func (p *Proxy) Arm(commit int, f Fault, away bool) (hit <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits, p.at, p.fault, p.away, p.hit = 0, commit, f, away, make(chan struct{})
	return p.hit
}

// Commits returns how many commits were seen since [Proxy.Arm].
func (p *Proxy) Commits() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits
}

// Heal takes connections again and ends those of swallowed commits, as keep-alive
// does after a while.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.away = 0, false
	for _, c := range p.held {
		c.Close()
	}
	p.held = nil
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Heal()
	p.mu.Lock()
	for _, c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
	return err
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wait.Go(func() { p.connect(client) })
	}
}

// connect joins a client to the server.
func (p *Proxy) connect(client net.Conn) {
	p.mu.Lock()
	gone := p.away && p.happened()
	p.mu.Unlock()
	server, err := net.DialTimeout("tcp", p.server, 5*time.Second)
	if gone || err != nil {
		client.Close()
		if err == nil {
			server.Close()
		}
		return
	}
	p.mu.Lock()
	p.open = append(p.open, client, server)
	p.mu.Unlock()
	c := &connection{proxy: p, client: client, server: server}
	c.up.skip, c.down.skip = handshake, 4
	var both sync.WaitGroup
	both.Go(func() { c.pump(client, &c.up, c.upward) })
	both.Go(func() { c.pump(server, &c.down, c.downward) })
	both.Wait()
	if !c.swallowing() {
		c.cut()
	}
}

// connection is one client and its connection to the server.
type connection struct {
	proxy          *Proxy
	client, server net.Conn
	up, down       messages

	mu      sync.Mutex
	writes  bool  // the transaction that was begun may write
	pending Fault // of the answer that comes next
	silent  bool  // nothing is passed on any more
}

func (c *connection) cut() {
	c.client.Close()
	c.server.Close()
}

func (c *connection) swallowing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent
}

// errBroken ends a pump whose connection was broken on purpose.
var errBroken = errors.New("faultproxy: broken")

// pump reads from one end and hands over message by message until the end closes.
func (c *connection) pump(from net.Conn, s *messages, pass func(message) error) {
	chunk := make([]byte, 1<<16)
	for {
		n, err := from.Read(chunk)
		s.buf = append(s.buf, chunk[:n]...)
		for m, ok := s.next(); ok; m, ok = s.next() {
			if pass(m) != nil {
				return
			}
		}
		if err != nil {
			if !c.swallowing() {
				c.cut()
			}
			return
		}
	}
}

// upward passes a message of the client on, or breaks the connection there.
func (c *connection) upward(m message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return nil
	}
	switch {
	case m.body == nil && len(m.raw) == handshake:
		m.raw = plain(m.raw)
	case m.is(sigBegin) && m.body[0] == structureOne:
		c.writes = !readOnly(m.body)
	case m.is(sigCommit) && m.body[0] == structure && c.writes:
		switch f := c.proxy.count(); f {
		case LoseRequest:
			c.cut()
			return errBroken
		case SwallowRequest:
			c.swallow()
			return nil
		default:
			c.pending = f
		}
	}
	_, err := c.server.Write(m.raw)
	return err
}

// downward passes a message of the server on.
func (c *connection) downward(m message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return nil
	}
	if c.pending != None && m.is(sigSuccess) { // the answer to the commit: nothing else is under way then
		c.proxy.answered()
		if c.pending == LoseReply {
			c.cut()
			return errBroken
		}
		c.swallow()
		return nil
	}
	_, err := c.client.Write(m.raw)
	return err
}

// swallow leaves both ends connected and passes nothing on.
func (c *connection) swallow() {
	c.silent = true
	c.proxy.mu.Lock()
	c.proxy.held = append(c.proxy.held, c.client, c.server)
	c.proxy.mu.Unlock()
}

// count counts a commit and returns what happens to it.
func (p *Proxy) count() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	if p.commits != p.at || p.happened() {
		return None
	}
	if p.fault == LoseRequest || p.fault == SwallowRequest {
		close(p.hit)
	}
	return p.fault
}

// happened needs p.mu.
func (p *Proxy) happened() bool {
	select {
	case <-p.hit:
		return true
	default:
		return false
	}
}

// answered says that the answer to the broken commit has come.
func (p *Proxy) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.happened() {
		close(p.hit)
	}
}

// readOnly looks for mode: "r" in the map of a BEGIN.
func readOnly(body []byte) bool { return bytes.Contains(body, []byte("\x84mode\x81r")) }
