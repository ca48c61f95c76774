package terminal

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// GoneMsg is sent to a model when the terminal has gone away, so that no more keys arrive. A process without a controlling terminal gets no signal of
// it.
type GoneMsg struct{}

// input is a file whose end can be forced. The library waits at most half a second for its own reader. Later input is for the next question, so a
// delayed reader must not get it.
type input struct {
	*os.File
	ended func()

	reading sync.Mutex // held while the file is read
	left    atomic.Bool
}

// leave ends the input. Unread input stays.
func (i *input) leave() {
	i.left.Store(true)
	i.reading.Lock() // until a read in progress has returned
	defer i.reading.Unlock()
}

func (i *input) Read(b []byte) (int, error) {
	n, err := i.read(b)
	if err != nil && !i.left.Load() {
		i.ended()
	}
	return n, err
}

func (i *input) read(b []byte) (int, error) {
	i.reading.Lock()
	defer i.reading.Unlock()
	if i.left.Load() {
		return 0, io.EOF
	}
	return i.File.Read(b)
}
