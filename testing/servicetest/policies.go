package servicetest

import (
	"fmt"
	"net/http"
)

// required returns the policy packs that an update must be checked against, with their locations.
func (s *Server) required(organization string) []RequiredPolicy {
	var all []RequiredPolicy
	for _, p := range s.options.Policies[organization] {
		if p.Location == "" {
			p.Location = fmt.Sprintf("%s/packs/%s/%s/%d?signature=secret", s.URL(), organization, p.Name, p.Version)
		}
		all = append(all, p)
	}
	return all
}

// download serves the archive of a policy pack, like the file store to which the service refers: it is for everybody who has the address,
// and must not get a token. s.mu is held.
func (s *Server) download(w http.ResponseWriter, h *http.Request, path string, fault *Fault) {
	call := Call{Method: h.Method, Path: h.URL.Path, Query: h.URL.RawQuery, Status: http.StatusNotFound}
	defer func() { s.calls = append(s.calls, call) }()
	if h.Header.Get("Authorization") != "" {
		s.violations = append(s.violations, "a token is sent with a download")
	}
	if fault != nil {
		call.Status = fault.Status
		fault.answer(w)
		return
	}
	for organization, packs := range s.options.Policies {
		for _, p := range packs {
			if p.Archive != nil && path == fmt.Sprintf("%s/%s/%d", organization, p.Name, p.Version) && h.URL.Query().Get("signature") == "secret" {
				call.Status = http.StatusOK
				_, _ = w.Write(p.Archive) // the caller may have gone
				return
			}
		}
	}
	w.WriteHeader(call.Status)
}
