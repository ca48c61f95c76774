package keystore

const system = "macos-security"

func usable() error { return nil }
