package servicetest

import "strings"

// withoutAliases replaces references to former names by the present ones, and drops the aliases, as the service does when it replays a journal. If a
// resource has another name, so have its descendants.
func withoutAliases(all []resource) {
	names := map[string]string{}
	for _, r := range all {
		name, _ := r["urn"].(string)
		aliases, _ := r["aliases"].([]any)
		for _, a := range aliases {
			if former, is := a.(string); is {
				names[former] = name
			}
		}
		parent, _ := r["parent"].(string)
		if now, is := names[parent]; is && typeOf(now) != "pulumi:pulumi:Stack" {
			parts := strings.SplitN(name, "::", 4)
			own := parts[2][strings.LastIndex(parts[2], "$")+1:]
			names[name] = strings.Join([]string{parts[0], parts[1], typeOf(now) + "$" + own, parts[3]}, "::")
		}
	}
	if len(names) == 0 {
		return
	}
	for _, r := range all {
		for _, key := range []string{"urn", "parent", "deletedWith", "viewOf"} {
			renameIn(r, key, names)
		}
		if provider, is := r["provider"].(string); is {
			at := strings.LastIndex(provider, "::")
			if now, renamed := names[provider[:max(at, 0)]]; renamed {
				r["provider"] = now + provider[at:]
			}
		}
		renameAll(r["dependencies"], names)
		if properties, is := r["propertyDependencies"].(map[string]any); is {
			for _, list := range properties {
				renameAll(list, names)
			}
		}
		delete(r, "aliases")
	}
}

func typeOf(name string) string { return strings.SplitN(name, "::", 4)[2] }

func renameIn(r resource, key string, names map[string]string) {
	if text, is := r[key].(string); is {
		if now, renamed := names[text]; renamed {
			r[key] = now
		}
	}
}

func renameAll(list any, names map[string]string) {
	entries, _ := list.([]any)
	for i, e := range entries {
		if text, is := e.(string); is {
			if now, renamed := names[text]; renamed {
				entries[i] = now
			}
		}
	}
}
