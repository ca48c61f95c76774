package server

// own does nothing: folders have the permissions of their parents.
func own(string) error { return nil }
