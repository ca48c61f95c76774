package java

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/direct"
)

// oldest is the oldest version of Java that the SDK supports.
const oldest = 11

// jdk is an installed Java.
type jdk struct {
	java    string // the executable
	version string // "17.0.15"
}

var forNewer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`UnsupportedClassVersionError|invalid (?:target|source) release|release version \d+ not supported`)
})

// tooOldFor explains a failure by the version of Java, if the output is about that.
func (j jdk) tooOldFor(output string) string {
	switch {
	case forNewer().MatchString(output):
		return fmt.Sprintf("the program is for a newer Java than %s, which is version %s; let JAVA_HOME name the folder of a newer JDK", j.java, j.version)
	case strings.Contains(output, "No compiler is provided in this environment"):
		return fmt.Sprintf("%s has no compiler with it; %s", j.java, installJDK())
	}
	return ""
}

func installJDK() string {
	return direct.HowToGet("a JDK of version 11 or later", "default-jdk-headless", "openjdk")
}

// findJDK returns the Java that the build tools use: that of JAVA_HOME, else the one on the PATH. One that is too old is an error.
func findJDK(ctx context.Context, directory string) (jdk, error) {
	path, err := locateJava()
	if err != nil {
		return jdk{}, err
	}
	if version := releaseVersion(path); version != "" {
		return supported(jdk{java: path, version: version})
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "java", Executable: path, Args: []string{"-version"}, Directory: directory, Environment: os.Environ(),
	})
	if err != nil {
		return jdk{}, err
	}
	m := javaVersion().FindStringSubmatch(stderr + stdout)
	if exit.Code != 0 || m == nil {
		// The java of macOS only prints where to get a real one.
		return jdk{}, fmt.Errorf("`%s -version` does not tell a version (%s)%s\n%s", path, exit.Status, direct.Below(stderr), installJDK())
	}
	return supported(jdk{java: path, version: m[1]})
}

// supported returns j, or an error if it is too old.
func supported(j jdk) (jdk, error) {
	if v := major(j.version); v < oldest {
		return jdk{}, fmt.Errorf("%s is Java %s, and Pulumi's SDK for Java needs %d or later; %s, and let JAVA_HOME name its folder",
			j.java, j.version, oldest, installJDK())
	}
	return j, nil
}

// releaseVersion returns the version that the file "release" of a JDK tells, without starting its java; "" if there is no such file.
func releaseVersion(java string) string {
	path, err := filepath.EvalSymlinks(java)
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "release"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "JAVA_VERSION="); found {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

func locateJava() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path := filepath.Join(home, "bin", "java")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		if !isFile(path) {
			return "", fmt.Errorf("JAVA_HOME is %s, which is not a JDK: it has no bin/java; correct it, or unset it to use the java on your $PATH", home)
		}
		return path, nil
	}
	path, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("java was not found on your $PATH, and JAVA_HOME is not set; " + installJDK())
	}
	return path, nil
}

// javaVersion matches the version in the output of `java -version`: `openjdk version "17.0.15" 2025-04-15` and more.
var javaVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`version "([^"]+)"`) })

// major returns the feature release of a version: 17 of "17.0.15", 21 of "21-ea", 8 of "1.8.0_392".
func major(version string) int {
	version = strings.TrimPrefix(version, "1.")
	end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(version)
	}
	n, err := strconv.Atoi(version[:end])
	if err != nil {
		return 0
	}
	return n
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
