package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/rpc/jsonrpc"
	"net/textproto"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// debuggerConfig has the editor's configuration in a startDebuggingEvent.
type debuggerConfig struct {
	Type    string
	Request string
	Port    int
	Connect struct{ Port int } // of Python
	URL     string             // of bun
}

// address returns the address of the debugger.
func (c debuggerConfig) address() (string, error) {
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		return u.Host, err
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(max(c.Port, c.Connect.Port))), nil
}

// attach implements "attach N EVENTLOG": it waits until N processes wait for a debugger, and attaches to the last of them like
// an editor that continues it.
func attach(ts *testscript.TestScript, _ bool, args []string) {
	number, err := strconv.Atoi(args[0])
	ts.Check(err)
	c := waitingDebugger(ts, number, ts.MkAbs(args[1]))
	if c.Request != "attach" {
		ts.Fatalf("the event is not about attaching: %+v", c)
	}
	attach := map[string]func(*deadlineConn) error{
		"node": resumeNode, "python": resumePython, "go": resumeGo, "java": resumeJava,
		"bun": func(conn *deadlineConn) error { return resumeBun(conn, c.URL) },
	}[c.Type]
	if attach == nil {
		ts.Fatalf("no debugger for %q", c.Type)
	}
	address, err := c.address()
	ts.Check(err)
	conn, err := net.Dial("tcp", address)
	ts.Check(err)
	ts.Check(conn.SetDeadline(time.Now().Add(patience)))
	ts.Check(attach(&deadlineConn{conn, bufio.NewReader(conn)}))
}

// waitingDebugger returns the configuration of the event of this number.
func waitingDebugger(ts *testscript.TestScript, number int, log string) debuggerConfig {
	for range 18000 { // Go programs are compiled first
		content, _ := os.ReadFile(log)
		found := 0
		for line := range bytes.Lines(content) {
			var event struct {
				StartDebuggingEvent *struct{ Config debuggerConfig }
			}
			if json.Unmarshal(line, &event) == nil && event.StartDebuggingEvent != nil {
				if found++; found == number {
					return event.StartDebuggingEvent.Config
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("nothing waits for a debugger in %s", log)
	return debuggerConfig{}
}

// deadlineConn is a connection to a process that is debugged.
type deadlineConn struct {
	net.Conn
	r *bufio.Reader
}

// resumeNode speaks the protocol of V8's inspector, in frames of a WebSocket.
func resumeNode(c *deadlineConn) error {
	host := c.RemoteAddr().String()
	reply, err := http.Get("http://" + host + "/json/list")
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	var targets []struct{ WebSocketDebuggerURL string }
	if err := json.NewDecoder(reply.Body).Decode(&targets); err != nil || len(targets) != 1 {
		return fmt.Errorf("one target was expected: %v, %w", targets, err)
	}
	if err := openWebSocket(c, targets[0].WebSocketDebuggerURL); err != nil {
		return err
	}
	// node ignores a call of run before it waits, so a second one follows.
	again := time.AfterFunc(5*time.Second, func() { _ = writeFrame(c, `{"id":1,"method":"Runtime.runIfWaitingForDebugger"}`) })
	defer again.Stop()
	for _, x := range [][2]string{
		{"Runtime.enable", `{"id":1,`},
		{"Debugger.enable", `{"id":1,`},
		{"Runtime.runIfWaitingForDebugger", `"Debugger.paused"`}, // at the first line
		{"Debugger.resume", `"Debugger.resumed"`},
	} {
		err := writeFrame(c, fmt.Sprintf(`{"id":1,"method":%q}`, x[0]))
		if err == nil {
			err = readUntil(c, x[1])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", x[0], err)
		}
	}
	go func() {
		_ = readUntil(c, "Runtime.executionContextDestroyed")
		_ = c.Close() // node waits for the end of the connection before it exits
	}()
	return nil
}

// resumeBun speaks the protocol of JavaScriptCore's inspector, in frames of a WebSocket.
func resumeBun(c *deadlineConn, address string) error {
	if err := openWebSocket(c, address); err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // bun does not exit as long as a debugger is connected
	for _, method := range []string{"Inspector.enable", "Inspector.initialized"} {
		if err := writeFrame(c, fmt.Sprintf(`{"id":1,"method":%q}`, method)); err != nil {
			return err
		}
		if err := readUntil(c, `"id":1`); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return nil
}

// openWebSocket turns a connection into a WebSocket.
func openWebSocket(c *deadlineConn, address string) error {
	host := c.RemoteAddr().String()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
		strings.TrimPrefix(address, "ws://"+host), host, base64.StdEncoding.EncodeToString(make([]byte, 16)))
	if status, err := http.ReadResponse(c.r, nil); err != nil || status.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("no WebSocket: %v, %w", status, err)
	}
	return nil
}

// readUntil reads frames until one contains the text.
func readUntil(c *deadlineConn, text string) error {
	for {
		frame, err := readFrame(c.r)
		if err != nil || strings.Contains(frame, text) {
			return err
		}
	}
}

// writeFrame writes a text of less than 126 bytes. The mask of a client is zero.
func writeFrame(w io.Writer, text string) error {
	_, err := w.Write(append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...))
	return err
}

func readFrame(r io.Reader) (string, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	size := uint64(head[1])
	switch head[1] {
	case 126:
		var n uint16
		if err := binary.Read(r, binary.BigEndian, &n); err != nil {
			return "", err
		}
		size = uint64(n)
	case 127:
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return "", err
		}
	}
	text := make([]byte, size)
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// resumePython speaks the protocol of debug adapters.
func resumePython(c *deadlineConn) error {
	request := func(command, arguments string) {
		text := fmt.Sprintf(`{"seq":1,"type":"request","command":%q,"arguments":%s}`, command, arguments)
		fmt.Fprintf(c, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	request("initialize", `{"adapterID":"test"}`)
	for {
		head, err := textproto.NewReader(c.r).ReadMIMEHeader()
		if err != nil {
			return err
		}
		size, err := strconv.Atoi(head.Get("Content-Length"))
		if err != nil {
			return err
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(c.r, text); err != nil {
			return err
		}
		var m struct {
			Command, Event, Message string
			Success                 *bool
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		switch {
		case m.Success != nil && !*m.Success:
			return fmt.Errorf("%s: %s", m.Command, m.Message)
		case m.Command == "initialize":
			request("attach", `{"justMyCode":true}`)
		case m.Event == "initialized":
			request("configurationDone", `{"":0}`)
		case m.Event == "process" || m.Command == "configurationDone":
			return nil
		}
	}
}

// resumeGo speaks the protocol of Delve.
func resumeGo(c *deadlineConn) error {
	client := jsonrpc.NewClient(c)
	var reply struct{ State struct{ Exited bool } }
	if err := client.Call("RPCServer.Command", map[string]any{"name": "continue"}, &reply); err != nil {
		return err
	}
	if !reply.State.Exited {
		return fmt.Errorf("the program has not run to its end: %+v", reply)
	}
	return client.Close()
}

// resumeJava speaks the protocol of JVMs.
func resumeJava(c *deadlineConn) error {
	const hello = "JDWP-Handshake"
	if _, err := io.WriteString(c, hello); err != nil {
		return err
	}
	answer := make([]byte, len(hello))
	if _, err := io.ReadFull(c.r, answer); err != nil || string(answer) != hello {
		return fmt.Errorf("%q is no JVM: %w", answer, err)
	}
	const virtualMachine, resume = 1, 9
	if _, err := c.Write([]byte{0, 0, 0, 11, 0, 0, 0, 1, 0, virtualMachine, resume}); err != nil {
		return err
	}
	head := make([]byte, 11)
	for {
		if _, err := io.ReadFull(c.r, head); err != nil {
			return err
		}
		if isReply := head[8]&0x80 != 0; isReply {
			return nil
		}
		if _, err := io.CopyN(io.Discard, c.r, int64(binary.BigEndian.Uint32(head))-11); err != nil {
			return err
		}
	}
}
