package emulatortest

import (
	"net/http"
	"net/http/httptest"
	"sync"
)

// Losing is a network that loses the replies to the requests for which lose returns true, after the server has executed them. Calls
// of lose are serialized.
func Losing(lose func(*http.Request) bool) Between {
	return func(next http.Handler) http.Handler {
		return &lossy{next: next, lose: lose}
	}
}

type lossy struct {
	next http.Handler
	lose func(*http.Request) bool
	mu   sync.Mutex // held while lose is called
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

// Cut is a network that loses all data while down returns true.
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
