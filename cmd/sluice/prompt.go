package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// ask prints a question and reads one line.
func (c *cli) ask(question string) (string, error) {
	if _, err := fmt.Fprint(c.out, question); err != nil {
		return "", err
	}
	answer, err := readLine(c.in)
	if err != nil && answer == "" {
		return "", exit.Cancelledf("no answer was given")
	}
	return strings.TrimSpace(answer), nil
}

// readLine reads up to a line end, byte by byte: what follows belongs to the next question.
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

// askPassphrase reads a passphrase without showing it. confirm asks twice.
func (c *cli) askPassphrase(ctx context.Context, confirm bool) (string, error) {
	question := "Enter your passphrase to unlock config/secrets: "
	if confirm {
		question = "Enter a passphrase to protect config/secrets: "
	}
	first, err := c.askHidden(question)
	if err != nil || !confirm {
		return first, err
	}
	for ctx.Err() == nil {
		second, err := c.askHidden("Re-enter the passphrase to confirm: ")
		if err != nil {
			return "", err
		}
		if first == second {
			return first, nil
		}
		fmt.Fprintln(c.err, "The passphrases are not the same; try again.")
		if first, err = c.askHidden(question); err != nil {
			return "", err
		}
	}
	return "", ctx.Err()
}

func (c *cli) askHidden(question string) (string, error) {
	fmt.Fprint(c.err, question)
	defer fmt.Fprintln(c.err)
	if f, ok := c.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return c.readHidden(int(f.Fd()))
	}
	return readLine(c.in)
}

// readHidden reads a line from a terminal that does not show it. A signal that ends the process leaves the terminal as it was.
func (c *cli) readHidden(fd int) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	signalled, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer forget()
	restore := func() { _ = term.Restore(fd, before) } // if that fails, there is nothing else to try
	c.unhide.Store(&restore)
	defer c.unhide.Store(nil)
	if !c.held {
		defer context.AfterFunc(signalled, c.cancelled)()
	}
	text, err := term.ReadPassword(fd)
	return string(text), err
}

// cancelled ends the process after a signal.
func (c *cli) cancelled() {
	if restore := c.unhide.Load(); restore != nil {
		(*restore)()
	}
	if undo := c.undo.Load(); undo != nil {
		(*undo)()
	}
	fmt.Fprintln(c.err, "\nerror: the command was cancelled")
	os.Exit(exit.Cancelled)
}

// confirmByName asks for the name of what is about to go.
func (c *cli) confirmByName(warning, name string) error {
	answer, err := c.ask(fmt.Sprintf("%s\nPlease confirm that this is what you'd like to do by typing `%s`: ", warning, name))
	if err != nil {
		return err
	}
	if answer != name {
		return errors.New("confirmation declined")
	}
	return nil
}

// readAll reads a value from the standard input, without its final line end unless raw.
func readAll(in io.Reader, raw bool) (string, error) {
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

// confirm asks whether to go on. plan is nil when there was no preview.
func (o *operation) confirm(plan *sluice.Result) error {
	o.asking.Store(true)
	defer o.asking.Store(false)
	if o.interrupts.Stopped() {
		return cancelledError()
	}
	question := fmt.Sprintf("Do you want to perform this %s without a preview? [yes/no] (no): ", o.kind.noun)
	if plan != nil {
		question = fmt.Sprintf("Do you want to perform this %s? [yes/no/details] (no): ", o.kind.noun)
	}
	for {
		answer, err := o.cli.ask(question)
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return nil
		case "", "no", "n":
			return fmt.Errorf("confirmation declined, not proceeding with the %s", o.kind.noun)
		case "details", "d":
			if plan != nil {
				if err := display.WriteDetails(o.cli.out, o.displayOptions(true, 0), plan.Steps); err != nil {
					return err
				}
				continue
			}
		}
		fmt.Fprintln(o.cli.out, "Please answer yes or no.")
	}
}
