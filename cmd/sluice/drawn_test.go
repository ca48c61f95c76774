//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// onTerminal implements "onterminal COLUMNSxROWS SCRIPT COMMAND...": it runs a command on a terminal of that size, with a user who follows a script
// of lines:
//
//	see TEXT     wait until the screen shows it
//	match REGEXP wait until the screen matches it
//	unseen TEXT  wait until the screen does not show it
//	type TEXT    type it
//	key NAME     press enter, esc, space, down, up, ctrl-a, ctrl-c, ctrl-d or ctrl-z
//	size 60x20   make the window another size
//	make FILE    make a file that something waits for
//	terminate    end the command with SIGTERM
//	hang up      end the command with SIGHUP
//	vanish       let the terminal go away
//	await FILE TEXT
//	             wait until the file has the text
//
// The standard output is the command's output on the normal screen, without colours, and the exit status. However the command ends, the mode of the
// terminal must be restored. An empty passphrase in the environment counts as none.
func onTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: onterminal COLUMNSxROWS SCRIPT COMMAND...")
	}
	path, err := exec.LookPath(args[2])
	if err != nil {
		path = ts.Getenv("BIN") + "/" + args[2]
	}
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "PULUMI_HOME", "PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_ACCESS_TOKEN", "FAKE_CLOUD", "TMPDIR", "NO_COLOR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	cmd.Env = slices.DeleteFunc(cmd.Env, func(entry string) bool { return entry == "PULUMI_CONFIG_PASSPHRASE=" })
	size := sizeOf(ts, args[0])
	file, tty, err := pty.Open()
	ts.Check(err)
	ts.Check(pty.Setsize(file, size))
	before := modeOf(ts, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	_ = tty.Close() // the command has its own copy
	file, err = closable(file)
	ts.Check(err)
	s := &screen{ts: ts, cmd: cmd, file: file, term: vt10x.New(vt10x.WithSize(int(size.Cols), int(size.Rows)))}
	var read sync.WaitGroup
	read.Go(s.read)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		s.act(strings.TrimSuffix(line, "\n"))
	}
	status := 0
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		status = exit.ExitCode()
	}
	if !s.gone {
		if after := modeOf(ts, file); after != before {
			ts.Fatalf("onterminal: the mode of the terminal is %v, and was %v", after, before)
		}
	}
	read.Wait()
	_ = file.Close()
	_, err = fmt.Fprintf(ts.Stdout(), "%s\nstatus %d\n", s.scrollback(), status)
	ts.Check(err)
}

// mode has the settings of a terminal, such as the echo.
type mode struct{ input, output, local uint32 }

func modeOf(ts *testscript.TestScript, file *os.File) (m mode) {
	conn, err := file.SyscallConn()
	ts.Check(err)
	ts.Check(conn.Control(func(fd uintptr) {
		found, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		ts.Check(err)
		m = mode{found.Iflag, found.Oflag, found.Lflag}
	}))
	return m
}

// closable returns the same terminal as a file that can be closed during a read.
func closable(file *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = errors.Join(unix.SetNonblock(fd, true), file.Close())
	return os.NewFile(uintptr(fd), file.Name()), err
}

// screen is a terminal with a command on it.
type screen struct {
	ts   *testscript.TestScript
	cmd  *exec.Cmd
	file *os.File
	term vt10x.Terminal
	all  strings.Builder // everything that the command has written
	gone bool            // the terminal has gone away
	over atomic.Bool     // the command has ended, and everything that it has written is drawn

	frame sync.Mutex
	drawn *string // what the screen showed before the frame that is being drawn; nil between frames
}

// read draws what the command writes, until it has ended.
func (s *screen) read() {
	r := bufio.NewReader(&understood{from: io.TeeReader(s.file, &s.all), screen: s})
	for s.term.Parse(r) == nil {
	}
	s.over.Store(true)
}

// understood is the part of the output that the emulator understands. What it does not, is done here: queries about the keyboard are removed (they
// end like the sequence that restores the cursor, and the emulator would take them for it, and so lose the text above a question), and synchronized
// output is offered, so that no line of a script sees a half drawn frame.
type understood struct {
	from   io.Reader
	left   []byte
	screen *screen
}

// The sequences of synchronized output, and the answer to its query: known, and off.
const (
	querySynchronized = "\x1b[?2026$p"
	offerSynchronized = "\x1b[?2026;2$y"
	beginFrame        = "\x1b[?2026h"
	endFrame          = "\x1b[?2026l"
)

var (
	aboutKeyboard = regexp.MustCompile(`\x1b\[[<>=?][0-9;]*u`)
	aboutFrames   = regexp.MustCompile(`\x1b\[\?2026(\$p|h|l)`)
	unfinished    = regexp.MustCompile(`\x1b(\[[<>=?]?[0-9;]*\$?)?$`)
)

// Read implements [io.Reader]. It holds a possible beginning of a sequence until it is complete. The emulator reads when it has drawn all that it
// read before.
func (u *understood) Read(p []byte) (int, error) {
	for {
		u.left = aboutKeyboard.ReplaceAll(u.left, nil)
		ready := len(u.left)
		if at := unfinished.FindIndex(u.left); at != nil {
			ready = at[0]
		}
		if at := aboutFrames.FindIndex(u.left); at != nil {
			if at[0] == 0 {
				u.screen.synchronize(string(u.left[:at[1]]))
				u.left = u.left[at[1]:]
				continue
			}
			ready = at[0]
		}
		if ready > 0 {
			n := copy(p, u.left[:ready])
			u.left = u.left[n:]
			return n, nil
		}
		chunk := make([]byte, 4096)
		n, err := u.from.Read(chunk)
		u.left = append(u.left, chunk[:n]...)
		if err != nil && n == 0 {
			return 0, err
		}
	}
}

// alternate matches the output during the use of the whole screen.
var alternate = regexp.MustCompile(`(?s)\x1b\[\?1049h.*?\x1b\[\?1049l`)

// scrollback returns the text on the normal screen and above it. Repeated drawings are repeated in it.
func (s *screen) scrollback() string {
	return strings.ReplaceAll(ansi.Strip(alternate.ReplaceAllString(s.all.String(), "")), "\r", "")
}

// synchronize follows a sequence of synchronized output.
func (s *screen) synchronize(sequence string) {
	switch sequence {
	case querySynchronized:
		_, _ = io.WriteString(s.file, offerSynchronized) // a terminal that has gone away answers nothing
	case beginFrame:
		before := s.cells()
		s.frame.Lock()
		defer s.frame.Unlock()
		s.drawn = &before
	case endFrame:
		s.frame.Lock()
		defer s.frame.Unlock()
		s.drawn = nil
	}
}

// shown returns the lines of the screen. During a frame of synchronized output they are those before it.
func (s *screen) shown() string {
	s.frame.Lock()
	defer s.frame.Unlock()
	if s.drawn != nil {
		return *s.drawn
	}
	return s.cells()
}

// cells returns the lines that the emulator has drawn.
func (s *screen) cells() string {
	s.term.Lock()
	defer s.term.Unlock()
	var b strings.Builder
	columns, rows := s.term.Size()
	for y := range rows {
		line := make([]rune, columns)
		for x := range columns {
			line[x] = s.term.Cell(x, y).Char
		}
		b.WriteString(strings.TrimRight(string(line), " \x00") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (s *screen) act(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "see":
		s.wait(line, func() bool { return strings.Contains(s.shown(), rest) })
	case "match":
		pattern, err := regexp.Compile(rest)
		s.ts.Check(err)
		s.wait(line, func() bool { return pattern.MatchString(s.shown()) })
	case "unseen":
		s.wait(line, func() bool { return !strings.Contains(s.shown(), rest) })
	case "type":
		s.send(rest)
	case "key":
		s.send(map[string]string{"enter": "\r", "ctrl-d": "\x04", "esc": "\x1b", "down": "\x1b[B", "up": "\x1b[A", "ctrl-c": "\x03", "ctrl-z": "\x1a", "ctrl-a": "\x01", "space": " "}[rest])
	case "make":
		s.ts.Check(os.WriteFile(s.ts.MkAbs(rest), nil, 0o600))
	case "await":
		name, text, _ := strings.Cut(rest, " ")
		s.wait(line, func() bool {
			content, err := os.ReadFile(s.ts.MkAbs(name))
			return err == nil && strings.Contains(string(content), text)
		})
	case "terminate":
		s.ts.Check(s.cmd.Process.Signal(unix.SIGTERM))
	case "hang":
		s.ts.Check(s.cmd.Process.Signal(unix.SIGHUP))
	case "vanish":
		s.gone = true
		s.ts.Check(s.file.Close())
	case "size":
		size := sizeOf(s.ts, rest)
		s.term.Resize(int(size.Cols), int(size.Rows))
		s.ts.Check(pty.Setsize(s.file, size))
	default:
		s.ts.Fatalf("onterminal: unknown line %q", line)
	}
}

func (s *screen) send(keys string) {
	_, err := io.WriteString(s.file, keys)
	s.ts.Check(err)
}

func (s *screen) wait(line string, met func() bool) {
	for range 30_000 { // like until: only a failure takes that long
		over := s.over.Load()
		if met() {
			return
		}
		if over && !s.gone {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = s.cmd.Process.Kill()
	s.ts.Fatalf("onterminal: %s: the screen is\n%s", line, s.shown())
}

func sizeOf(ts *testscript.TestScript, text string) *pty.Winsize {
	columns, rows, _ := strings.Cut(text, "x")
	c, err := strconv.ParseUint(columns, 10, 16)
	ts.Check(err)
	r, err := strconv.ParseUint(rows, 10, 16)
	ts.Check(err)
	return &pty.Winsize{Cols: uint16(c), Rows: uint16(r)}
}
