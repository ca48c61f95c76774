package plugin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property/redact"
)

// maxPortLine is the maximum length of a plugin's first line. A plugin that writes more has no port.
const maxPortLine = 4096

// invalidPortError quotes the line that a plugin wrote instead of its port.
type invalidPortError struct{ text string }

// maxQuoted is the number of quoted bytes.
const maxQuoted = 80

func (e *invalidPortError) Error() string {
	return fmt.Sprintf("wrote an invalid port to stdout: %q; a plugin's first line must be the TCP port it listens on", redact.Cut(e.text, maxQuoted))
}

// readPort reads a plugin's first line byte by byte, so that later output stays in r, and returns the port (protocol.md
// 1.6). Lines for which skip returns true may come before the first one. Errors are an *invalidPortError, or that of the
// read.
func readPort(r io.Reader, skip func(line string) bool) (int, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := r.Read(one)
		ends := n == 1 && one[0] == '\n'
		switch {
		case ends && skip(strings.TrimRight(string(line), "\r")):
			line = nil
		case ends:
			return ParsePort(string(line))
		case n == 1:
			line = append(line, one[0])
		}
		if len(line) > maxPortLine {
			return 0, &invalidPortError{text: string(line)}
		}
		if err != nil {
			return 0, errors.Join(err, leftover(line))
		}
	}
}

// leftover returns the error for the output of a plugin that ended without a line break.
func leftover(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	return &invalidPortError{text: string(line)}
}

// toolEscapes are the escapes that a terminal's progress bar leaves in the output of the .NET tools, and those with which Maven
// ends colours, whether or not there were any.
var toolEscapes = strings.NewReplacer("\x1b]9;4;3;\x1b\\", "", "\x1b]9;4;0;\x1b\\", "", "\x1b[0m", "", "\x1b[m", "")

// LocalPort returns the port of an address on this machine, such as "127.0.0.1:4711". Another machine's address is an error:
// messages to plugins and programs are not encrypted, and contain secrets.
func LocalPort(address string) (int, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("%q is not an address: write 127.0.0.1:<port>", address)
	}
	if host != "127.0.0.1" && host != "localhost" {
		return 0, fmt.Errorf("%q is not on this machine: write 127.0.0.1:<port>", address)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("%q has no port: write 127.0.0.1:<port>", address)
	}
	return int(port), nil
}

// ParsePort reads the line with the TCP port of a plugin. Texts that the tools of some languages put around the number
// are ignored.
func ParsePort(line string) (int, error) {
	text := strings.TrimSpace(toolEscapes.Replace(line))
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, &invalidPortError{text: line}
	}
	return int(port), nil
}
