package java_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/java"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/javasdk"
)

// toldByMaven is what Maven 3.8 tells of the goals. The line in the middle is one of a list.
const toldByMaven = `[DEBUG] Configuring mojo org.apache.maven.plugins:maven-dependency-plugin:2.8:build-classpath from plugin realm ClassRealm[plugin]
[DEBUG] Configuring mojo 'org.apache.maven.plugins:maven-dependency-plugin:2.8:build-classpath' with basic configurator -->
[DEBUG]   (f) excludeTransitive = false
[DEBUG]   (f) includeScope = runtime
[DEBUG]   (s) local =       id: local
      url: file:///root/.m2/repository/

[DEBUG] -- end configuration --
[DEBUG] Configuring mojo 'org.apache.maven.plugins:maven-compiler-plugin:3.1:compile' with basic configurator -->
[DEBUG]   (f) outputDirectory = /app/target/classes
[DEBUG] -- end configuration --
[DEBUG] Configuring mojo 'org.codehaus.mojo:exec-maven-plugin:3.5.0:java' with basic configurator -->
[DEBUG]   (f) arguments = []
[DEBUG]   (f) classpathScope = runtime
[DEBUG]   (f) commandlineArgs = one "two words"
[DEBUG]   (f) mainClass = app.App
[DEBUG]   (f) skip = true
[DEBUG] -- end configuration --
`

func TestMavenIsStartedOnceUnlessItDoesMoreThanToStartJava(t *testing.T) {
	const byJava = "-Xmx1g -cp /app/target/classes:/a.jar:/b.jar app.App one two words\n"
	replaced := func(old, replacement string) string {
		t.Helper()
		require.Equal(t, 1, strings.Count(toldByMaven, old), old)
		return strings.Replace(toldByMaven, old, replacement, 1)
	}
	parameter := func(line string) string {
		return replaced("[DEBUG]   (f) arguments = []\n", "[DEBUG]   (f) arguments = []\n[DEBUG]   (f) "+line+"\n")
	}
	for name, c := range map[string]struct{ told, options, want string }{
		"usual":                  {told: toldByMaven, want: byJava},
		"Maven 3.9":              {told: strings.NewReplacer("mojo '", "mojo execution '", "' with", ":default-cli' with").Replace(toldByMaven), want: byJava},
		"only for daemons":       {told: parameter("cleanupDaemonThreads = false"), want: byJava},
		"nothing":                {},
		"another form":           {told: strings.ReplaceAll(toldByMaven, "Configuring mojo", "Setting up mojo")},
		"system properties":      {told: parameter("systemProperties = [org.codehaus.mojo.exec.Property@1]")},
		"plugin dependencies":    {told: parameter("includePluginDependencies = true")},
		"scope":                  {told: replaced("classpathScope = runtime", "classpathScope = test")},
		"arguments":              {told: replaced("arguments = []", "arguments = [x]")},
		"arguments of its own":   {told: replaced(`commandlineArgs = one "two words"`, "commandlineArgs = x")},
		"not skipped":            {told: replaced("skip = true", "skip = false")},
		"part of the class path": {told: replaced("includeScope = runtime\n", "includeScope = runtime\n[DEBUG]   (f) excludeGroupIds = x\n")},
		"another goal before": {told: "[DEBUG] Configuring mojo 'org.codehaus.mojo:exec-maven-plugin:3.5.0:exec' with basic configurator -->\n" +
			"[DEBUG] -- end configuration --\n" + toldByMaven},
		"options for a shell": {told: toldByMaven, options: `-Dx="a b"`},
	} {
		t.Run(name, func(t *testing.T) {
			fakeTools(t, map[string]string{
				"java": "#!/bin/sh\nif [ \"$1\" = -version ]; then echo 'openjdk version \"21.0.2\"' >&2; else echo \"$*\"; fi\n",
				"mvn": "#!/bin/sh\ncase \"$*\" in *build-classpath*) ;; *) echo by Maven; exit;; esac\n" +
					"for a; do case $a in -Dmdep.outputFile=*) echo /a.jar:/b.jar >\"${a#*=}\";; esac; done\ncat <<'END'\n" + c.told + "END\n",
			})
			t.Setenv("MAVEN_OPTS", "-Xmx1g "+c.options)
			p := inFolder(t, map[string]string{"pom.xml": ""})
			p.Args = []string{"one", "two words"}
			if c.want == "" {
				c.want = "by Maven\n"
			}
			m := monitortest.Preview()
			require.NoError(t, run(t, p, m))
			require.Equal(t, []string{"compiling with Maven", c.want}, m.Messages(stages.Info))
		})
	}
}

// described is a Gradle that describes the start of the program, and records how often it is started.
func described(text string) string {
	return "#!/bin/sh\necho \"$*\" >>\"$CALLS\"\ncase \"$*\" in *:sluiceStart) ;; *) echo by Gradle; exit;; esac\n" +
		"cat >\"$(sed -n \"s/.*new File('\\(.*\\)').setText.*/\\1/p\" \"$2\")\" <<'END'\n" + text + "\nEND\n"
}

func TestGradleIsStartedOnceForPackagesAndTheProgram(t *testing.T) {
	called := calls(t)
	fakeTools(t, map[string]string{
		"gradle": described(`{"executable": "/bin/sh", "options": ["-c", "echo $VALUE in $PWD: $*", "sh"], "classPath": ["/a", "/b"], "class": "app.App",
			"arguments": ["one"], "directory": "/usr", "environment": {"VALUE": "x"}}`),
	})
	p := java.New(inFolder(t, map[string]string{"build.gradle": ""}))
	var logged []string
	require.NoError(t, p.Prepare(context.Background(), func(l stages.LogMessage) { logged = append(logged, l.Message) }))
	require.Equal(t, []string{"compiling with Gradle"}, logged)
	list, err := p.Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list)
	m := monitortest.Preview()
	require.NoError(t, p.Run(context.Background(), monitortest.Host(t, m)))
	require.Equal(t, []string{"x in /usr: -cp /a:/b app.App one\n"}, m.Messages(stages.Info))
	require.Equal(t, 1, strings.Count(called(), "\n"))

	require.NoError(t, p.Run(context.Background(), monitortest.Host(t, m)))
	require.Equal(t, 1, strings.Count(called(), "\n"), "the update runs what its preview has run")
	require.NoError(t, p.Prepare(context.Background(), func(stages.LogMessage) {}))
	require.NoError(t, p.Run(context.Background(), monitortest.Host(t, m)))
	require.Equal(t, 2, strings.Count(called(), "\n"), "the sources may have changed")
}

func TestAProgramThatDoesNotCompileIsCompiledOnce(t *testing.T) {
	for tool, files := range map[string]map[string]string{"mvn": {"pom.xml": ""}, "gradle": {"build.gradle": ""}} {
		called := calls(t)
		fakeTools(t, map[string]string{tool: "#!/bin/sh\necho >>\"$CALLS\"\necho '[ERROR] App.java:[1,2] no' >&2\nexit 1\n"})
		p := java.New(inFolder(t, files))
		require.NoError(t, p.Prepare(context.Background(), func(stages.LogMessage) {}))
		list, err := p.Packages(context.Background())
		require.NoError(t, err)
		require.Empty(t, list)
		var broken *java.CompileError
		require.ErrorAs(t, p.Run(context.Background(), monitortest.Host(t, monitortest.Preview())), &broken)
		require.Contains(t, broken.Output, "App.java:1:2: no")
		require.Equal(t, 1, strings.Count(called(), "\n"), tool)
	}
}

func TestAComponentIsCompiledInOneStart(t *testing.T) {
	called := calls(t)
	fakeTools(t, map[string]string{"gradle": described(`{"executable": "/bin/sh", "options": ["-c", "echo 12345; sleep 60"], "classPath": ["/a"], "class": "app.App"}`)})
	server, err := java.Runtime{}.StartPlugin(context.Background(), inFolder(t, map[string]string{"build.gradle": ""}), tooling.PluginCommand{
		Kind: plugin.Resource, Name: "component", Args: []string{"127.0.0.1:1"}, Environment: os.Environ(), Output: func(plugin.Line) {},
	})
	require.NoError(t, err)
	defer server.Stop()
	port, err := server.Port(context.Background())
	require.NoError(t, err)
	require.Equal(t, 12345, port)
	require.Equal(t, 1, strings.Count(called(), "\n"))
}

// jarOf makes a project of a jar whose manifest names a class path.
func jarOf(t *testing.T, classPath ...string) source.Project {
	t.Helper()
	p := inFolder(t, nil)
	var manifest strings.Builder
	line := "Class-Path: " + strings.Join(classPath, " ")
	for len(line) > 70 { // lines of a manifest have 72 bytes
		manifest.WriteString(line[:70] + "\r\n")
		line = " " + line[70:]
	}
	content := t.TempDir()
	write(t, content, map[string]string{"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\n" + manifest.String() + line + "\r\n\r\nName: com\r\nClass-Path: other.jar\r\n"})
	archive(t, filepath.Join(p.Root, "app.jar"), content)
	p.Options = map[string]any{"binary": "app.jar"}
	return p
}

// packages are SDKs in two folders, of which the first has precedence.
var packages = [2]map[string]string{
	{
		"com/pulumi/random/plugin.json":    `{"resource": true, "name": "random", "version": "4.1.0", "more": [1]}`,
		"com/pulumi/random/version.txt":    "9.9.9",
		"com/acme/deep/cloud/plugin.json":  `{"resource": true, "server": "https://example.com", "parameterization": {"name": "sub", "version": "v3.0.0", "value": "aGk="}}`,
		"com/acme/deep/cloud/version.txt":  " v2.0.0\n",
		"com/acme/tool/plugin.json":        `{"resource": false, "name": "tool"}`,
		"com/acme/empty/plugin.json":       "",
		"com/acme/old/version.txt":         "1.0.0",
		"com/acme/none/plugin.json":        `{"resource": true, "name": null, "version": null}`,
		"com/plugin.json":                  `{"resource": true, "name": "too-high"}`,
		"com/acme/plugin.json":             `{"resource": true, "name": "acme-itself"}`,
		"META-INF/com/a/b/plugin.json":     `{"resource": true, "name": "elsewhere"}`,
		"org/acme/cloud/plugin.json":       `{"resource": true, "name": "org"}`,
		"com/acme/backup/plugin.json.orig": `{"resource": true, "name": "orig"}`,
	},
	{
		"com/pulumi/random/plugin.json": `{"resource": true, "name": "random", "version": "0.0.1"}`,
		"com/pulumi/tls/plugin.json":    `{"resource": true, "name": "tls", "version": "5.0.0"}`,
	},
}

var packagesFound = []stages.Package{
	{Name: "cloud", Version: "2.0.0", DownloadURL: "https://example.com", Parameterization: &stages.Parameterization{Name: "sub", Version: "3.0.0", Value: []byte("hi")}},
	{Name: "none"},
	{Name: "random", Version: "4.1.0"},
	{Name: "tls", Version: "5.0.0"},
}

// stubs are files with the names of the classes that list packages.
var stubs = map[string]string{
	"com/pulumi/bootstrap/internal/Main.class": "", "com/google/gson/Gson.class": "", "com/google/common/reflect/ClassPath.class": "",
}

func TestPackagesAreReadFromTheJarsThatAManifestNames(t *testing.T) {
	fakeTools(t, nil) // its java can run no class
	folder := t.TempDir()
	p := jarOf(t, "sdk%20s.jar", "missing.jar", "file:"+folder+"/", "classes.jar", "app.jar")
	for i, file := range []string{"sdk s.jar", ""} {
		content := folder
		if file != "" {
			content = t.TempDir()
		}
		write(t, content, packages[i])
		if file != "" {
			archive(t, filepath.Join(p.Root, file), content)
		}
	}
	list, err := java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list, "the SDK is missing")

	content := t.TempDir()
	write(t, content, stubs)
	archive(t, filepath.Join(p.Root, "classes.jar"), content)
	list, err = java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, packagesFound, list)

	write(t, folder, map[string]string{"com/pulumi/lenient/plugin.json": "{resource: true, name: 'lenient'}"})
	list, err = java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list, "the class that accepts this cannot be run")
}

func TestTheClassOfTheSDKFindsTheSamePackages(t *testing.T) {
	dir := project(t).Directory
	libraries, err := javasdk.ClassPath(dir, t.TempDir())
	require.NoError(t, err)
	first, second := t.TempDir(), t.TempDir()
	write(t, first, packages[0])
	write(t, second, packages[1])
	p := jarOf(t, append([]string{"first.jar", "file:" + second + "/"}, filepath.SplitList(strings.TrimSpace(libraries))...)...)
	archive(t, filepath.Join(p.Root, "first.jar"), first)
	list, err := java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, packagesFound, list)

	printed, err := exec.Command("java", "-cp", filepath.Join(p.Root, "app.jar"), "com.pulumi.bootstrap.internal.Main", "packages").Output()
	require.NoError(t, err)
	var same []struct {
		Resource      bool
		Name, Version string
	}
	require.NoError(t, json.Unmarshal(printed, &same))
	found := map[string]string{}
	for _, s := range same {
		if s.Resource {
			found[s.Name] = strings.TrimPrefix(strings.TrimSpace(s.Version), "v")
		}
	}
	require.Equal(t, map[string]string{"cloud": "2.0.0", "none": "", "random": "4.1.0", "tls": "5.0.0"}, found)

	write(t, second, map[string]string{"com/pulumi/lenient/plugin.json": "{resource: true, name: 'lenient'}"})
	list, err = java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Len(t, list, 5, "the class accepts more than JSON")
}
