package keystore

const system = "windows-credman"

func usable() error { return nil }
