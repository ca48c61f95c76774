// Package javasdk downloads the dependencies of test programs in Java. It is for tests only.
//
// Invariant: the first test binary downloads, and the others wait for it, because Maven's repository does not support several writers.
package javasdk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// ErrMissing is returned if this machine has no JDK, or no Maven.
var ErrMissing = errors.New("tests of Java programs need javac and mvn on $PATH")

// jvm makes a JVM start fast: in tests it lives for seconds, in which the optimizing compiler and the threads of the collector cost more than they
// gain.
const jvm = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

// Variables are variables with which Maven and Gradle take half the processor time.
func Variables() []string { return []string{"MAVEN_OPTS=" + jvm, "GRADLE_OPTS=" + jvm} }

// CompilerArguments are arguments with which javac takes half the processor time.
func CompilerArguments() []string {
	fields := strings.Fields(jvm)
	for i := range fields {
		fields[i] = "-J" + fields[i]
	}
	return fields
}

// Install compiles the Maven project in dir, unless that was done before, so that all its dependencies are in Maven's repository. Test binaries of
// several packages may call it at the same time.
func Install(dir string) error {
	for _, tool := range []string{"javac", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: %w", ErrMissing, err)
		}
	}
	pom, err := os.ReadFile(filepath.Join(dir, "pom.xml"))
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	done := filepath.Join(cache, "sluice-tests", fmt.Sprintf("java-%x", sha256.Sum256(pom))[:26])
	if err := os.MkdirAll(filepath.Dir(done), 0o700); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(done + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	// sluice runs Maven with the same goals.
	cmd := exec.Command("mvn", "--batch-mode", "--no-transfer-progress", "--quiet", "compile", "dependency:build-classpath",
		"exec:java", "-DmainClass=com.pulumi.bootstrap.internal.Main", "-DmainArgs=packages")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), Variables()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn in %s, which the tests of Java programs need once: %w\n%s", dir, err, out)
	}
	return os.WriteFile(done, nil, 0o600)
}

// ClassPath returns the class path of the dependencies of the Maven project in dir, after [Install]. The file for it is made in a directory of
// the caller.
func ClassPath(dir, temp string) (string, error) {
	if err := Install(dir); err != nil {
		return "", err
	}
	file := filepath.Join(temp, "classpath")
	cmd := exec.Command("mvn", "--batch-mode", "--quiet", "--offline", "dependency:build-classpath", "-Dmdep.outputFile="+file)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), Variables()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mvn in %s, which gives the class path to the tests of Java programs: %w\n%s", dir, err, out)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
