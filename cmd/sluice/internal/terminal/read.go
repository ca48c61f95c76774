package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// hidden turns off the echo of the terminal until show is called.
func (c *console) hidden() (show func(), err error) {
	if f, is := c.in.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		return hide(f)
	}
	return func() {}, nil
}

// readAnswer reads a line until ctx is done.
func (c *console) readAnswer(ctx context.Context) (string, error) {
	in, done := c.reader(ctx)
	defer done()
	return readLine(in)
}

// reader returns a reader of the input that ends when ctx is done.
func (c *console) reader(ctx context.Context) (in io.Reader, done func()) {
	r, err := cancelreader.NewReader(c.in)
	if err != nil { // neither a terminal nor a pipe: reading it does not block
		return c.in, func() {}
	}
	stop := context.AfterFunc(ctx, func() { r.Cancel() })
	return r, func() {
		stop()
		_ = r.Close() // it only releases its own resources
	}
}

// readLine reads up to a line end, byte by byte, because the following input belongs to the next question.
func readLine(in io.Reader) (string, error) {
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

// ask prints a question and reads one line. If hidden is set, the echo is off from before the question is printed.
func (c *console) ask(ctx context.Context, to io.Writer, question string, hidden bool) (answer string, err error) {
	err = c.question(ctx, func(ctx context.Context) error {
		if hidden {
			show, err := c.hidden()
			if err != nil {
				return err
			}
			defer show()
		}
		if _, err := io.WriteString(to, question); err != nil {
			return err
		}
		var err error
		answer, err = c.readAnswer(ctx)
		if hidden || ctx.Err() != nil {
			fmt.Fprintln(to)
		}
		if err != nil && answer == "" {
			return exit.Cancelledf("no answer was given")
		}
		return nil
	})
	return answer, err
}

// FirstLine reads the first line of a command's standard input that is data, not answers of a user.
func (t *Terminal) FirstLine(ctx context.Context) (line string, err error) {
	err = t.console.question(ctx, func(ctx context.Context) error {
		var err error
		if line, err = t.console.readAnswer(ctx); errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		return err
	})
	return line, err
}

// Input calls f with a command's standard input that is data, not answers of a user.
func (t *Terminal) Input(ctx context.Context, f func(io.Reader) error) error {
	return t.console.question(ctx, func(ctx context.Context) error {
		in, done := t.console.reader(ctx)
		defer done()
		return f(in)
	})
}

// ReadAll reads the standard input to its end.
func (t *Terminal) ReadAll(ctx context.Context) (text []byte, err error) {
	err = t.Input(ctx, func(in io.Reader) (err error) {
		text, err = io.ReadAll(in)
		return err
	})
	return text, err
}

// ReadValue reads a value from a command's standard input that is data, not answers of a user. It removes the final line end unless
// raw is set.
func (t *Terminal) ReadValue(ctx context.Context, raw bool) (string, error) {
	data, err := t.ReadAll(ctx)
	if err != nil {
		return "", fmt.Errorf("read the value from the standard input: %w", err)
	}
	text := string(data)
	if !raw {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text, nil
}
