package server

// own does nothing: folders have the permissions of the one that they are in.
func own(string) error { return nil }
