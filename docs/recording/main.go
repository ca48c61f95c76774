// Command recording records the session that the README shows: it runs sluice on a terminal, presses the keys of a script, and writes
// what the terminal gets as an asciicast (version 2). docs/recording/record runs it and makes the picture.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

const columns, rows = 108, 26

// session is what is typed. "wait TEXT" waits until the terminal has got the text, "pause 2s" lets people read, "keys TEXT" types, and a
// key is written as \r or \x1b[A.
var session = []string{
	`wait $ `, "type sluice up",
	`wait > no`, "pause 2s", `keys y`, "pause 1s", `keys \r`,
	`wait Duration`, `wait $ `, "pause 3s", "type clear; sluice config set region us; sluice up",
	`wait > no`, "pause 6s", `keys \r`,
	`wait $ `, "pause 1s", "type clear; sluice why web-1",
	`wait $ `, "pause 6s", "type exit",
}

func main() {
	if err := record(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// cast writes an asciicast, and knows what has been written since the last key.
type cast struct {
	mu    sync.Mutex // guards what follows
	out   *json.Encoder
	began time.Time
	seen  strings.Builder
}

func (c *cast) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Write(p)
	return len(p), c.out.Encode([]any{time.Since(c.began).Seconds(), "o", keyReports.ReplaceAllString(string(p), "")})
}

// keyReports asks the terminal how it reports keys. What makes the picture takes it for underlining.
var keyReports = regexp.MustCompile(`\x1b\[[>?][0-9;]*m`)

func (c *cast) has(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(ansi.Strip(c.seen.String()), text)
}

func (c *cast) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Reset()
}

func record(w io.Writer) error {
	out := bufio.NewWriter(w)
	shell := exec.Command("bash", "--noprofile", "--norc")
	shell.Env = append(os.Environ(), "PS1=$ ", "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(shell, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return err
	}
	c := &cast{out: json.NewEncoder(out), began: time.Now()}
	if err := c.out.Encode(map[string]any{"version": 2, "width": columns, "height": rows}); err != nil {
		return err
	}
	var read sync.WaitGroup
	read.Go(func() { _, _ = io.Copy(c, terminal) }) // ends with the shell
	for _, line := range session {
		if err := c.act(terminal, line); err != nil {
			_ = shell.Process.Kill()
			return err
		}
	}
	err = shell.Wait()
	read.Wait()
	if err != nil {
		return err
	}
	return out.Flush()
}

func (c *cast) act(terminal io.Writer, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "wait":
		for deadline := time.Now().Add(time.Minute); !c.has(rest); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				return fmt.Errorf("the terminal has not got %q", rest)
			}
		}
		return nil
	case "pause":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	case "type":
		for _, key := range rest {
			time.Sleep(45 * time.Millisecond)
			if _, err := io.WriteString(terminal, string(key)); err != nil {
				return err
			}
		}
		rest = `\r`
	}
	c.forget()
	_, err := io.WriteString(terminal, strings.NewReplacer(`\r`, "\r", `\x1b`, "\x1b").Replace(rest))
	return err
}
