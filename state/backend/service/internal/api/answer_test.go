package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/platform/pace"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// exchange is a call with the answer of a service.
type exchange struct {
	do func(context.Context, *Client) error
	// good is the answer, by the end of the path; "" is for all paths. An answer of "-" has no body.
	good map[string]string
	// lax is set for calls that require nothing of the answer, which may be an empty object.
	lax bool
}

var (
	stackHere = StackID{"acme", "demo", "dev"}
	update    = UpdateID{stackHere, "u-1"}
)

func lease() *Lease { return &Lease{Update: update, Version: 4, token: "lease-1"} }

const (
	goodState = `{"version": 3, "deployment": {"manifest": {"time": "2026-01-01T00:00:00Z", "magic": "x", "version": "v3"}, "resources": []}}`
	sealedX   = `{"ciphertext": "c2VhbGVk"}`
	openedX   = `{"plaintext": "eA=="}`
)

// exchanges are those of the exported methods with a call, by name.
var exchanges = map[string]exchange{
	"Client.User": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.User(ctx); return err },
		good: map[string]string{"": `{"githubLogin": "alice", "organizations": [{"githubLogin": "acme"}]}`},
	},
	"Client.DefaultOrganization": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.DefaultOrganization(ctx); return err },
		good: map[string]string{"": `{"GitHubLogin": "acme", "Messages": null}`},
	},
	"Client.Capabilities": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.Capabilities(ctx); return err },
		good: map[string]string{"": `{"capabilities": [{"capability": "batch-encrypt"}]}`},
	},
	"Client.Stacks": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.Stacks(ctx, Filter{}); return err },
		good: map[string]string{"": `{"stacks": [{"orgName": "acme", "projectName": "demo", "stackName": "dev"}]}`},
	},
	"Client.Stack": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.Stack(ctx, stackHere); return err },
		good: map[string]string{"": `{"orgName": "acme", "projectName": "demo", "stackName": "dev", "version": 3, "activeUpdate": "u-1"}`},
	},
	"Client.CreateStack": {
		do:   func(ctx context.Context, c *Client) error { return c.CreateStack(ctx, stackHere, nil) },
		good: map[string]string{"": `{"messages": [{"severity": "info", "message": "hello"}]}`}, lax: true,
	},
	"Client.DeleteStack": {
		do:   func(ctx context.Context, c *Client) error { return c.DeleteStack(ctx, stackHere, false) },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.RenameStack": {
		do:   func(ctx context.Context, c *Client) error { return c.RenameStack(ctx, stackHere, "demo", "prod") },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.SetTags": {
		do: func(ctx context.Context, c *Client) error {
			return c.SetTags(ctx, stackHere, map[string]string{"a": "b"})
		},
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.Export": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.Export(ctx, stackHere, 0); return err },
		good: map[string]string{"": goodState},
	},
	"Client.Import": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Import(ctx, stackHere, Deployment{Version: 3})
			return err
		},
		good: map[string]string{"": `{"updateId": "u-1"}`},
	},
	"Client.StackPolicies": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.StackPolicies(ctx, stackHere); return err },
		good: map[string]string{"": `{"requiredPolicies": [{"name": "guard", "version": 1}]}`}, lax: true,
	},
	"Client.CreateUpdate": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.CreateUpdate(ctx, stackHere, "update", Program{})
			return err
		},
		good: map[string]string{"": `{"updateID": "u-1", "requiredPolicies": [{"name": "guard", "version": 1}]}`},
	},
	"Client.StartUpdate": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.StartUpdate(ctx, update, nil, JournalVersion)
			return err
		},
		good: map[string]string{"": `{"version": 4, "token": "lease-1", "journalVersion": 1}`},
	},
	"Client.Renew": {
		do:   func(ctx context.Context, c *Client) error { return c.Renew(ctx, lease(), LeaseTime) },
		good: map[string]string{"": `{"token": "lease-2"}`},
	},
	"Client.SaveCheckpoint": {
		do: func(ctx context.Context, c *Client) error {
			return c.SaveCheckpoint(ctx, lease(), Deployment{Version: 3})
		},
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.SaveVerbatim": {
		do: func(ctx context.Context, c *Client) error {
			return c.SaveVerbatim(ctx, lease(), Verbatim{Content: json.RawMessage(`{}`)})
		},
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.SaveDelta": {
		do: func(ctx context.Context, c *Client) error {
			return c.SaveDelta(ctx, lease(), Delta{Delta: json.RawMessage(`[]`)})
		},
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.SaveEntries": {
		do:   func(ctx context.Context, c *Client) error { return c.SaveEntries(ctx, lease(), []Entry{{}}) },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.SaveEvents": {
		do:   func(ctx context.Context, c *Client) error { return c.SaveEvents(ctx, lease(), nil) },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.Complete": {
		do:   func(ctx context.Context, c *Client) error { return c.Complete(ctx, lease(), Succeeded) },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.Cancel": {
		do:   func(ctx context.Context, c *Client) error { return c.Cancel(ctx, update) },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Client.Status": {
		do:   func(ctx context.Context, c *Client) error { _, _, err := c.Status(ctx, update); return err },
		good: map[string]string{"": `{"status": "running", "continuationToken": "more"}`},
	},
	"Client.Events": {
		do: func(ctx context.Context, c *Client) error {
			_, _, err := c.Events(ctx, update, EventFilter{}, "")
			return err
		},
		good: map[string]string{"": `{"events": [{"timestamp": 1, "cancelEvent": {}}], "continuationToken": "more"}`},
	},
	"Client.History": {
		do:   func(ctx context.Context, c *Client) error { _, err := c.History(ctx, stackHere, 10, 1); return err },
		good: map[string]string{"": `{"updates": [{"kind": "update", "result": "succeeded", "version": 3}]}`},
	},
	"Secrets.Encrypt": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Secrets(stackHere).Encrypt(ctx, "x")
			return err
		},
		good: map[string]string{"/encrypt": sealedX, "/decrypt": openedX},
	},
	"Secrets.EncryptAll": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Secrets(stackHere).EncryptAll(ctx, []string{"x", "y"})
			return err
		},
		good: map[string]string{"/batch-encrypt": `{"ciphertexts": ["YQ==", "Yg=="]}`, "/batch-decrypt": `{"plaintexts": {"YQ==": "eA==", "Yg==": "eQ=="}}`},
	},
	"Secrets.Decrypt": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Secrets(stackHere).Decrypt(ctx, "c2VhbGVk")
			return err
		},
		good: map[string]string{"/decrypt": openedX},
	},
	"Secrets.DecryptAll": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Secrets(stackHere).DecryptAll(ctx, []string{"YQ==", "Yg=="})
			return err
		},
		good: map[string]string{"/batch-decrypt": `{"plaintexts": {"YQ==": "eA==", "Yg==": "eQ=="}}`},
	},
	"Secrets.NoteDecryption": {
		do:   func(ctx context.Context, c *Client) error { return c.Secrets(stackHere).NoteDecryption(ctx, "a", "") },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Environments.Check": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Environments("acme").Check(ctx, nil)
			return err
		},
		good: map[string]string{"": `{"properties": {"a": {"value": 1, "trace": {}}}}`},
	},
	"Environments.Open": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Environments("acme").Open(ctx, nil, nil)
			return err
		},
		good: map[string]string{"/open": `{"id": "s-1"}`, "/s-1": `{"properties": {"a": {"value": 1, "trace": {}}}}`},
	},
	"Environments.Create": {
		do:   func(ctx context.Context, c *Client) error { return c.Environments("acme").Create(ctx, "a", "b") },
		good: map[string]string{"": "-"}, lax: true,
	},
	"Environments.Set": {
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Environments("acme").Set(ctx, "a", "b", nil)
			return err
		},
		good: map[string]string{"": `{"diagnostics": []}`}, lax: true,
	},
	"Environments.Delete": {
		do:   func(ctx context.Context, c *Client) error { return c.Environments("acme").Delete(ctx, "a", "b") },
		good: map[string]string{"": "-"}, lax: true,
	},
}

// withoutCall are the exported methods that make no call of the interface. Download gets a file, of whatever form.
var withoutCall = map[string]bool{
	"Client.URL": true, "Client.Insecure": true, "Client.Close": true, "Client.Secrets": true, "Client.Environments": true, "Client.Download": true,
}

// answering is a service that answers by the ends of paths.
func answering(t *testing.T, o Options, answer func(w http.ResponseWriter, r *http.Request)) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	o.URL, o.Token, o.Patience, o.Pause = server.URL, "pul-secret", 50*time.Millisecond, time.Millisecond
	c, err := New(o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// goodAt returns the good answer for a path.
func (e exchange) goodAt(path string) string {
	for end, text := range e.good {
		if strings.HasSuffix(path, end) {
			return text
		}
	}
	return "{}"
}

func (e exchange) answer(w http.ResponseWriter, r *http.Request) {
	if text := e.goodAt(r.URL.Path); text != "-" {
		_, _ = w.Write([]byte(text)) // the caller may have gone
	}
}

// Each exported method that makes a call has an exchange here.
func TestEachCallHasAnExchange(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[*Client](), reflect.TypeFor[Secrets](), reflect.TypeFor[Environments]()} {
		for i := range of.NumMethod() {
			name := strings.TrimPrefix(strings.TrimPrefix(of.String(), "*"), "api.") + "." + of.Method(i).Name
			_, there := exchanges[name]
			require.True(t, there != withoutCall[name], name)
		}
	}
}

func TestGoodAnswersAreTaken(t *testing.T) {
	for name, e := range exchanges {
		c := answering(t, Options{}, e.answer)
		require.NoError(t, e.do(t.Context(), c), name)
	}
}

// wrongAnswers are invalid answers for any call, made from the good one.
func wrongAnswers(good string) map[string]string {
	all := map[string]string{
		"a list": `[]`, "a text": `""`, "a number": `1`, "true": `true`, "a message": `{"message": "Not Found"}`,
		"an error": `{"code": 404, "message": "Not Found: Stack not found"}`, "a page": "<!DOCTYPE html>\n<html><body>Log in</body></html>",
		"half an object": `{"a": `, "two objects": `{} {}`, "a name twice": `{"a": 1, "a": 1}`, "NUL": "\x00",
	}
	if good == "-" {
		return all
	}
	all["empty"], all["null"] = "", "null"
	all["cut"], all["more"], all["twice"] = good[:len(good)-1], good+"x", good+good
	all["members twice"] = good[:len(good)-1] + "," + good[1:]
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(good), &members) != nil {
		panic("the good answer is no object: " + good)
	}
	for name := range members {
		if name == "Messages" || name == "activeUpdate" {
			continue // sluice does not require it
		}
		changed := map[string]json.RawMessage{}
		for other, raw := range members {
			changed[other] = raw
		}
		for kind, wrong := range map[string]string{"a number": `1.5`, "true": `true`, "a list of lists": `[[1]]`} {
			changed[name] = json.RawMessage(wrong)
			text, err := json.Marshal(changed)
			if err != nil {
				panic(err)
			}
			all[name+" is "+kind] = string(text)
		}
	}
	return all
}

func TestWrongAnswersAreRefused(t *testing.T) {
	for name, e := range exchanges {
		for end, good := range e.good {
			for kind, wrong := range wrongAnswers(good) {
				c := answering(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, end) {
						_, _ = w.Write([]byte(wrong)) // the caller may have gone
						return
					}
					e.answer(w, r)
				})
				err := e.do(t.Context(), c)
				require.ErrorAs(t, err, new(*WrongAnswerError), "%s, %s: %s", name, kind, wrong)
				require.True(t, IsAway(err), name)
			}
		}
	}
}

func TestEmptyObjectsAreAnswersOfCallsThatNeedNothing(t *testing.T) {
	for name, e := range exchanges {
		c := answering(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
		if err := e.do(t.Context(), c); e.lax {
			require.NoError(t, err, name)
		} else {
			require.ErrorAs(t, err, new(*WrongAnswerError), name)
		}
	}
}

// Answers of the right form with impossible values are refused, too.
func TestAnswersThatCannotBeMeantAreRefused(t *testing.T) {
	for _, c := range []struct{ call, end, answer, want string }{
		{"Client.User", "", `{"githubLogin": ""}`, `"githubLogin" is empty`},
		{"Client.Stack", "", `{"orgName": "acme", "projectName": "demo", "stackName": "prod", "version": 1}`, "about the stack demo/prod"},
		{"Client.Stack", "", `{"orgName": "acme", "projectName": "demo", "stackName": "dev", "activeUpdate": "u-1"}`, `no "version"`},
		{"Client.Stack", "", `{"orgName": "acme", "projectName": "demo", "stackName": "dev", "version": -1}`, "version is -1"},
		{"Client.Export", "", `{"deployment": {"manifest": {}}}`, "version"},
		{"Client.Export", "", `{"version": 0, "deployment": {"manifest": {}}}`, "version"},
		{"Client.Export", "", `{"version": 3, "deployment": "x"}`, "is not an object"},
		{"Client.Export", "", `{"version": 3, "deployment": {"resources": []}}`, "manifest"},
		{"Client.Export", "", `{"version": 3, "deployment": {"manifest": {}, "resources": {}}}`, "resources"},
		{"Client.Export", "", `{"version": 3, "deployment": {"manifest": {}, "resources": [], "resources": []}}`, "twice"},
		{"Client.StartUpdate", "", `{"version": 4, "token": ""}`, `"token" is empty`},
		{"Client.StartUpdate", "", `{"version": 4}`, `"token" is empty`},
		{"Client.StartUpdate", "", `{"version": 4, "token": "a\r\nb"}`, "token is not valid"},
		{"Client.StartUpdate", "", `{"version": 4, "token": "a", "journalVersion": 2}`, "version 2 of the journal"},
		{"Client.StartUpdate", "", `{"token": "a"}`, `no "version"`},
		{"Client.Renew", "", `{"token": ""}`, `"token" is empty`},
		{"Client.Status", "", `{"status": "running"}`, "no more will come"},
		{"Client.Status", "", `{"status": "done"}`, "which no update has"},
		{"Secrets.Encrypt", "/encrypt", `{"ciphertext": ""}`, "no ciphertext"},
		{"Secrets.Encrypt", "/decrypt", `{"plaintext": "eQ=="}`, "its own ciphertext"},
		{"Secrets.EncryptAll", "/batch-encrypt", `{"ciphertexts": ["YQ=="]}`, "returned 1"},
		{"Secrets.EncryptAll", "/batch-encrypt", `{"ciphertexts": ["YQ==", ""]}`, "no ciphertext"},
		{"Secrets.EncryptAll", "/batch-encrypt", `{"ciphertexts": ["YQ==", "YQ=="]}`, "its own ciphertext"},
		{"Secrets.DecryptAll", "/batch-decrypt", `{"plaintexts": {"YQ==": "eA=="}}`, "has not decrypted"},
		{"Client.Stacks", "", `{"stacks": [{}]}`, "a stack"},
		{"Client.History", "", `{"updates": [{}]}`, "an update"},
		{"Client.Events", "", `{"events": ["cancel"]}`, "an event is not an object"},
		{"Client.StackPolicies", "", `{"requiredPolicies": [{}]}`, "a policy pack"},
		{"Client.CreateUpdate", "", `{"updateID": ""}`, `"updateID" is empty`},
		{"Client.Import", "", `{"updateId": ""}`, `"updateId" is empty`},
	} {
		e := exchanges[c.call]
		client := answering(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, c.end) {
				_, _ = w.Write([]byte(c.answer)) // the caller may have gone
				return
			}
			e.answer(w, r)
		})
		err := e.do(t.Context(), client)
		require.ErrorAs(t, err, new(*WrongAnswerError), "%s: %s", c.call, c.answer)
		require.ErrorContains(t, err, c.want, c.call)
	}
}

func TestMembersAreSearchedForDuplicatesDownToADepth(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		depth int
		want  string // "" if it has none
	}{
		"none":                      {`{"a": {"b": 1}, "b": [{"b": 1}, {"b": "a", "a": "b"}, null, true, -1.5e3]}`, 9, ""},
		"no members":                {` {"a": {}, "b": [], "c": [{}]} `, 9, ""},
		"another case":              {`{"a": 1, "A": 1}`, 9, ""},
		"in the object":             {`{"a": 1, "b": 2, "a": 3}`, 1, `it has "a" twice`},
		"in an object of an object": {`{"a": {"b": {"c": 1, "c": 1}}}`, 3, `it has "c" twice`},
		"in an object of a list":    {`{"a": [[], [{"b": "}"}, {"c": "\"", "c": 1}]]}`, 4, `it has "c" twice`},
		"below the depth":           {`{"a": {"b": {"c": 1, "c": 1}}}`, 2, ""},
		"after what is below it":    {`{"a": {"b": {"c": 1, "c": 1}}, "a": 1}`, 2, `it has "a" twice`},
		"written in two ways":       {`{"a": 1, "\u0061": 1}`, 1, `it has "a" twice`},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkNames([]byte(c.text), c.depth)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
			}
		})
	}
}

// What is nested deeply is not read again for each level.
func TestDeepAnswersAreReadOnce(t *testing.T) {
	const depth = 2_000
	text := `"` + strings.Repeat("x", 1<<20) + `"`
	for name, body := range map[string]string{
		"lists":   `{"a":` + strings.Repeat("[", depth) + text + strings.Repeat("]", depth) + `}`,
		"objects": strings.Repeat(`{"a":`, depth) + text + strings.Repeat("}", depth),
	} {
		t.Run(name, func(t *testing.T) {
			fuzzing.Bound(t, len(body), 4, func() { require.NoError(t, decode([]byte(body), &nothing{})) })
		})
	}
}

// Tokens of pages that come again, in whatever order, never lead to the last page.
func TestListsOfStacksThatRepeatTheirPagesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		tokens   []string // of the answers, over and over
		requests int
	}{
		"one token":             {[]string{"a"}, 2},
		"two tokens":            {[]string{"a", "b"}, 3},
		"some, then a repeated": {[]string{"a", "b", "c", "d", "b"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			client := answering(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				if requests > 10 {
					http.Error(w, `{"message": "enough"}`, http.StatusBadRequest)
					return
				}
				fmt.Fprintf(w, `{"stacks": [], "continuationToken": %q}`, c.tokens[requests%len(c.tokens)])
				requests++
			})
			_, err := client.Stacks(t.Context(), Filter{})
			require.ErrorContains(t, err, "its list of stacks has no end")
			require.Equal(t, c.requests, requests)
		})
	}
}

// The ciphertext of a text that is not empty must not open to an empty one; that of an empty text may.
func TestSecretsAreNotOpenedToNothing(t *testing.T) {
	for answer, n := range map[string]int{`{"plaintext": null}`: 28, `{"plaintext": ""}`: 28} {
		for _, length := range []int{n, n + 1} {
			c := answering(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/decrypt") {
					_, _ = w.Write([]byte(answer))
					return
				}
				_ = json.NewEncoder(w).Encode(map[string][]byte{"ciphertext": make([]byte, n)})
			})
			text, err := c.Secrets(stackHere).Decrypt(t.Context(), encoded(make([]byte, length)))
			if length == n {
				require.NoError(t, err)
				require.Empty(t, text)
			} else {
				require.ErrorContains(t, err, "no plaintext")
			}
		}
	}
}

// Bodies that are not answers of the interface are refused whatever the status, and a redirect does not change the
// call.
func TestOtherStatusesAreNoAnswers(t *testing.T) {
	for name, e := range exchanges {
		for _, status := range []int{300, 302, 303, 304} {
			seen := 0
			c := answering(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
				if seen++; r.URL.Path == "/login" {
					_, _ = w.Write([]byte("<html>"))
					return
				}
				if status != 300 && status != 304 {
					w.Header().Set("Location", "/login")
				}
				w.WriteHeader(status)
			})
			require.Error(t, e.do(t.Context(), c), "%s, %d", name, status)
		}
	}
}

// A small answer does not become a large one when it is unpacked.
func TestAnswersAreBoundedWhenTheyAreUnpacked(t *testing.T) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	for range 100 {
		_, err := z.Write(bytes.Repeat([]byte(" "), 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	for _, name := range []string{"Client.Export", "Client.Complete", "Client.User"} {
		e := exchanges[name]
		c := answering(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		})
		require.ErrorContains(t, e.do(t.Context(), c), errTooLarge.Error(), name)
	}
}

// A packed answer within its bounds is accepted.
func TestPackedAnswersAreTaken(t *testing.T) {
	for name, e := range exchanges {
		c := answering(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
			w.Header().Set("Content-Encoding", "gzip")
			if text := e.goodAt(r.URL.Path); text != "-" {
				z := gzip.NewWriter(w)
				_, _ = z.Write([]byte(text))
				_ = z.Close() // the caller may have gone
			}
		})
		require.NoError(t, e.do(t.Context(), c), name)
	}
}

// An answer that trickles ends with an error; so does a request body that the server hardly reads. An interruption ends
// both at once.
func TestTransfersThatHardlyMoveEnd(t *testing.T) {
	trickle := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, err := w.Write([]byte(" "))
			if err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	never := func(http.ResponseWriter, *http.Request) { <-t.Context().Done() }
	slowest := pace.Rate{Window: 20 * time.Millisecond, Bytes: 1 << 20}
	for name, e := range exchanges {
		err := e.do(t.Context(), answering(t, Options{Slowest: slowest}, trickle))
		require.ErrorAs(t, err, new(*pace.SlowError), name)
		require.ErrorContains(t, err, "too slow", name)

		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Millisecond, func() { interrupt(errInterrupted) })
		require.ErrorIs(t, e.do(ctx, answering(t, Options{}, trickle)), errInterrupted, name)
	}
	large := Deployment{Version: 3, Deployment: json.RawMessage(`"` + noise(32<<20) + `"`)}
	c := answering(t, Options{Slowest: slowest}, never)
	require.ErrorAs(t, c.SaveCheckpoint(t.Context(), lease(), large), new(*pace.SlowError))
}

var errInterrupted = errors.New("interrupted")

// noise is a text that hardly compresses.
func noise(n int) string {
	var b strings.Builder
	for x := uint64(1); b.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%016x", x)
	}
	return b.String()
}

// There is one way from the bytes of an answer to a value.
func TestAnswersAreReadInOnePlace(t *testing.T) {
	files := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	reads := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			s, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			what := s.Sel.Name
			if x, is := s.X.(*ast.Ident); is {
				what = x.Name + "." + what
			}
			switch what {
			case "json.Unmarshal", "json.NewDecoder", "io.ReadAll", "gzip.NewReader":
				reads++
				isError := name == "errors.go" && what == "json.Unmarshal" // the text of an error
				require.True(t, name == "answer.go" || isError, "%s reads an answer: %s", files.Position(n.Pos()), what)
			}
			return true
		})
	}
	require.Greater(t, reads, 4)
}
