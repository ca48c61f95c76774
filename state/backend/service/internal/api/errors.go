package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/platform/pace"
)

// AnswerError is an error in an answer of the service.
type AnswerError struct {
	Status  int    // of HTTP
	Message string // from the service, may be ""
	Call    string // "GET /api/user"
	Host    string
	Request string // identifies the request in the service's records; "" if there is none
	// Diagnostics are the problems in the definition of an environment.
	Diagnostics []Diagnostic
}

func (e *AnswerError) Error() string {
	said := e.Message
	switch {
	case e.Status == http.StatusUnauthorized:
		said = "it does not accept the access token"
	case e.Status == http.StatusTooManyRequests:
		said = "there were too many requests in a short time, and waiting did not help; try again later"
	case said == "":
		said = fmt.Sprintf("it answers %d %s", e.Status, http.StatusText(e.Status))
	}
	text := fmt.Sprintf("the service at %s: %s (%s", e.Host, said, e.Call)
	if e.Request != "" {
		text += ", request " + e.Request
	}
	return text + ")"
}

// Advice suggests logging in again.
func (e *AnswerError) Advice() []advice.Advice {
	if e.Status == http.StatusUnauthorized {
		return []advice.Advice{advice.On(advice.LogInToService)}
	}
	return nil
}

// AwayError reports that the service gave no answer at all.
type AwayError struct {
	Host, Call string
	Err        error
}

func (e *AwayError) Error() string {
	if slow := (&pace.SlowError{}); errors.As(e.Err, &slow) {
		return fmt.Sprintf("the service at %s is too slow (%s): %v", e.Host, e.Call, slow)
	}
	return fmt.Sprintf("the service at %s cannot be reached (%s): %v", e.Host, e.Call, e.Err)
}

func (e *AwayError) Unwrap() error { return e.Err }

// WrongAnswerError reports that the answer to a call has the wrong form. The outcome of the call is uncertain.
type WrongAnswerError struct {
	Host, Call string
	Err        error // the problem of the answer
}

func (e *WrongAnswerError) Error() string {
	return fmt.Sprintf("the service at %s did not answer %s as it must: %v; nothing of the answer is used", e.Host, e.Call, e.Err)
}

func (e *WrongAnswerError) Unwrap() error { return e.Err }

// Is reports whether err is an answer with this status.
func Is(err error, status int) bool {
	var e *AnswerError
	return errors.As(err, &e) && e.Status == status
}

// IsAway reports whether the service gave no answer, an invalid one, or one that reports that it cannot work now.
func IsAway(err error) bool {
	var e *AnswerError
	return errors.As(err, new(*AwayError)) || errors.As(err, new(*WrongAnswerError)) || errors.As(err, &e) && (e.Status >= 500 || e.Status == http.StatusTooManyRequests)
}

// errorOf reads an answer with an error.
func errorOf(r *http.Response, body []byte, call string) *AnswerError {
	e := &AnswerError{Status: r.StatusCode, Call: call, Host: r.Request.URL.Host}
	var said struct {
		Message     string       `json:"message"`
		Diagnostics []Diagnostic `json:"diagnostics"`
	}
	if json.Unmarshal(body, &said) == nil { // an answer that is not understood adds nothing
		e.Message, e.Diagnostics = strings.TrimSpace(said.Message), said.Diagnostics
	}
	if r.StatusCode >= 500 {
		e.Request = r.Header.Get("X-Pulumi-Request-ID")
	}
	return e
}
