package monitor

import "github.com/sluice-iac/sluice/urn"

// parseURN refuses malformed URNs. what names the field in the message, with a trailing space: "parent ".
func parseURN(what, s string) (urn.URN, error) {
	u, err := urn.Parse(s)
	if err != nil {
		return "", invalid("invalid %sURN: %w", what, err)
	}
	return u, nil
}

// parseOptionalURN is parseURN for a field that may be empty.
func parseOptionalURN(what, s string) (urn.URN, error) {
	if s == "" {
		return "", nil
	}
	return parseURN(what, s)
}

func parseURNs(what string, list []string) ([]urn.URN, error) {
	if len(list) == 0 {
		return nil, nil
	}
	urns := make([]urn.URN, len(list))
	for i, s := range list {
		u, err := parseURN(what, s)
		if err != nil {
			return nil, err
		}
		urns[i] = u
	}
	return urns, nil
}

func texts[S ~string](list []S) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
