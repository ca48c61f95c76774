package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// ReadLine reads up to a line end, byte by byte, because the following input belongs to the next question.
func ReadLine(in io.Reader) (string, error) {
	var line []byte
	buffer := make([]byte, 1)
	for {
		n, err := in.Read(buffer)
		if n == 1 {
			if buffer[0] == '\n' {
				return string(line), nil
			}
			line = append(line, buffer[0])
		}
		if err != nil {
			return string(line), err
		}
	}
}

// ReadAll reads a value from the standard input. It removes the final line end unless raw is set.
func ReadAll(in io.Reader, raw bool) (string, error) {
	data, err := io.ReadAll(bufio.NewReader(in))
	if err != nil {
		return "", fmt.Errorf("read the value from the standard input: %w", err)
	}
	text := string(data)
	if !raw {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text, nil
}
