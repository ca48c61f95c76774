package emulatortest

import (
	"net/http"
	"net/http/httptest"
	"sync"
)

// Losing is a network that loses the replies to the requests that lose chooses. The server has carried them out. lose is asked about
// one request after the other.
func Losing(lose func(*http.Request) bool) Between {
	return func(next http.Handler) http.Handler {
		return &lossy{next: next, lose: lose}
	}
}

type lossy struct {
	next http.Handler
	lose func(*http.Request) bool
	mu   sync.Mutex // held while lose is asked
}

func (l *lossy) loses(r *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lose(r)
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !l.loses(r) {
		l.next.ServeHTTP(w, r)
		return
	}
	l.next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler) // closes the connection
}

// Cut is a network over which nothing comes while down says so.
func Cut(down func() bool) Between {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if down() {
				panic(http.ErrAbortHandler) // closes the connection
			}
			next.ServeHTTP(w, r)
		})
	}
}
