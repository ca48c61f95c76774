package java_test

import (
	"archive/zip"
	"context"
	"os"
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
)

// archive makes a jar of a folder.
func archive(t testing.TB, file, folder string) {
	t.Helper()
	f, err := os.Create(file)
	require.NoError(t, err)
	w := zip.NewWriter(f)
	require.NoError(t, w.AddFS(os.DirFS(folder)))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

// fakeTools makes a folder with scripts and a java, first on the PATH, in place of real tools.
func fakeTools(t *testing.T, scripts map[string]string) {
	t.Helper()
	bin := t.TempDir()
	write(t, bin, map[string]string{"java": "#!/bin/sh\necho 'openjdk version \"21.0.2\" 2024-01-16' >&2\n"})
	write(t, bin, scripts)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/usr/bin"+string(os.PathListSeparator)+"/bin")
	t.Setenv("JAVA_HOME", "")
}

func inFolder(t testing.TB, files map[string]string) source.Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	write(t, root, files)
	return source.Project{Runtime: "java", Root: root, Directory: root, Entry: "."}
}

// script is a Gradle that records its arguments, and runs what in place of the program.
func script(what string) string {
	return "#!/bin/sh\nif [ \"$1\" = --init-script ]; then cat \"$2\" >> \"$CALLS\"; shift 2; set -- --init-script SCRIPT \"$@\"; fi\n" +
		"echo \"$PWD $*\" >> \"$CALLS\"\ncase \"$*\" in *:run*) :;; *) exit 0;; esac\n" + what + "\n"
}

const gradleEnd = `cat >&2 <<'END'

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':run'.
> Process 'command '/jdk/bin/java'' finished with non-zero exit value STATUS

* Try:
> Run with --stacktrace option to get the stack trace.

BUILD FAILED in 1s
END
exit 1
`

func calls(t *testing.T) (read func() string) {
	file := filepath.Join(t.TempDir(), "calls")
	t.Setenv("CALLS", file)
	return func() string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
}

func TestGradleCompilesAndRunsAProjectOfABuild(t *testing.T) {
	called := calls(t)
	fakeTools(t, map[string]string{"gradle": script(`echo "hello from $PULUMI_STACK"`)})
	p := inFolder(t, map[string]string{"settings.gradle.kts": "", "infra/app/build.gradle.kts": ""})
	root := p.Root
	p.Root, p.Directory, p.Args = filepath.Join(root, "infra", "app"), filepath.Join(root, "infra", "app"), []string{"one", "two words"}
	m := monitortest.Preview()
	require.NoError(t, run(t, p, m))
	require.Equal(t, []string{"compiling with Gradle", "hello from dev\n"}, m.Messages(stages.Info))
	const arguments = "allprojects { afterEvaluate { tasks.withType(JavaExec) { task ->\n  task.setArgs(['one', 'two words'])\n} } }\n"
	described, started, found := strings.Cut(called(), root+" --init-script SCRIPT --quiet --console=plain --no-daemon "+
		"-Dorg.gradle.configuration-cache=false -Dorg.gradle.unsafe.configuration-cache=false :infra:app:sluiceStart\n")
	require.True(t, found)
	require.Contains(t, described, arguments)
	require.Contains(t, described, "if (project.path != ':infra:app' ")
	require.Equal(t, arguments+p.Directory+" --init-script SCRIPT --quiet --console=plain --no-daemon --project-dir "+root+" :infra:app:run\n", started, "Gradle starts what it has not described")
}

func TestTheWrapperOfGradleIsPreferred(t *testing.T) {
	called := calls(t)
	fakeTools(t, map[string]string{"gradle": script("echo on the path")})
	p := inFolder(t, map[string]string{"build.gradle": "", "gradlew": script("echo from the wrapper")})
	m := monitortest.Preview()
	require.NoError(t, run(t, p, m))
	require.Equal(t, []string{"compiling with Gradle", "from the wrapper\n"}, m.Messages(stages.Info))
	require.Contains(t, called(), " :sluiceStart\n"+p.Directory+" --quiet --console=plain --no-daemon --project-dir "+p.Directory+" :run\n")

	p.Options = map[string]any{"use-executor": "gradle"}
	m = monitortest.Preview()
	require.NoError(t, run(t, p, m))
	require.Equal(t, []string{"compiling with Gradle", "on the path\n"}, m.Messages(stages.Info))

	require.NoError(t, os.Chmod(filepath.Join(p.Directory, "gradlew"), 0o644))
	p.Options = nil
	require.ErrorContains(t, run(t, p, monitortest.Preview()), "`chmod +x "+filepath.Join(p.Directory, "gradlew")+"`")
}

func TestTheExitStatusOfAProgramIsFoundInWhatGradleSays(t *testing.T) {
	_ = calls(t)
	p := inFolder(t, map[string]string{"build.gradle": ""})
	for status, check := range map[string]func(error){
		"32": func(err error) { require.ErrorIs(t, err, source.ErrReported) },
		"7": func(err error) {
			var exit *source.ProgramExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, "exit status 7", exit.Status)
		},
	} {
		fakeTools(t, map[string]string{"gradle": script("echo a line >&2\n" + strings.Replace(gradleEnd, "STATUS", status, 1))})
		m := monitortest.Preview()
		check(run(t, p, m))
		require.Equal(t, []string{"a line\n"}, m.Messages(stages.InfoErr), "what Gradle says is not the program's output")
	}
}

func TestWhatGradleCannotDoIsOneError(t *testing.T) {
	_ = calls(t)
	p := inFolder(t, map[string]string{"build.gradle": ""})
	for name, c := range map[string]struct{ script, want string }{
		"compile": {
			"#!/bin/sh\ncat >&2 <<END\n" + p.Directory + "/src/App.java:3: error: ';' expected\n    int x\n         ^\n1 error\n\n" +
				"FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':compileJava'.\n\n* Try:\n> Run\n\nBUILD FAILED in 1s\nEND\nexit 1\n",
			"src/App.java:3: error: ';' expected\n    int x\n         ^\n1 error",
		},
		"run": {
			script("cat >&2 <<END\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'run' not found in root project 'app'.\n\n* Try:\n> Run\nEND\nexit 1"),
			"Task 'run' not found in root project 'app'.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fakeTools(t, map[string]string{"gradle": c.script})
			m := monitortest.Preview()
			var broken *java.CompileError
			require.ErrorAs(t, run(t, p, m), &broken)
			require.Equal(t, c.want, broken.Output)
			require.Empty(t, m.Messages(stages.InfoErr))
		})
	}
}

func TestGradleTellsPackagesAndItsVersion(t *testing.T) {
	called := calls(t)
	fakeTools(t, map[string]string{"gradle": script(`echo '[{"resource": true, "name": "random", "version": "4.1.0"}, {"resource": false, "name": "x"}]'`)})
	p := inFolder(t, map[string]string{"build.gradle.kts": ""})
	list, err := java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{{Name: "random", Version: "4.1.0"}}, list)
	require.Contains(t, called(), " --init-script SCRIPT --quiet --console=plain --no-daemon --project-dir "+p.Directory+" :run\n")
	require.Contains(t, called(), "task.mainClass.set('com.pulumi.bootstrap.internal.Main')")
	require.Contains(t, called(), "task.setArgs(['packages'])")

	fakeTools(t, map[string]string{"gradle": "#!/bin/sh\nprintf '\\n------\\nGradle 8.5\\n------\\n\\nJVM: 21\\n'\n"})
	tools, err := java.Runtime{}.About(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, "21.0.2", tools[0].Version)
	require.Equal(t, "8.5", tools[1].Version)
}

func TestTheWrapperOfMavenIsPreferred(t *testing.T) {
	_ = calls(t)
	fakeTools(t, map[string]string{"mvn": "#!/bin/sh\necho on the path\n"})
	p := inFolder(t, map[string]string{"mvnw": "#!/bin/sh\necho from the wrapper\n", "program/pom.xml": ""})
	p.Directory = filepath.Join(p.Root, "program")
	for option, want := range map[string]string{"": "from the wrapper\n", "mvn": "on the path\n", "../mvnw": "from the wrapper\n"} {
		p.Options = map[string]any{"use-executor": option}
		m := monitortest.Preview()
		require.NoError(t, run(t, p, m))
		require.Equal(t, []string{"compiling with Maven", want}, m.Messages(stages.Info), option)
	}
}

func TestErrorsThatTheSDKAlsoSendsAreNotOutput(t *testing.T) {
	const logger = "Nov 23, 2026 2:06:44 AM com.pulumi.deployment.internal.DeploymentImpl$DefaultEngineLogger errorAsync\n"
	fakeTools(t, map[string]string{"mvn": "#!/bin/sh\ncase \"$*\" in *build-classpath*) exit 0;; esac\ncat >&2 <<'END'\none\n" +
		logger + "SEVERE: Missing required configuration variable 'x'\n\tplease set a value\n\ttwo, which is lost\nthree\n" +
		logger + "SEVERE: Running program [PID: 1](java) failed with an unhandled exception:\njava.lang.Error: no\n\tat App.main(App.java:1)\n" +
		"Caused by: java.lang.Error\n\t... 1 more\n\nfour\n" +
		logger + logger + "SEVERE: one line\nfive\n\tsix\nEND\nexit 32\n"})
	m := monitortest.Preview()
	require.ErrorIs(t, run(t, inFolder(t, map[string]string{"pom.xml": ""}), m), source.ErrReported)
	require.Equal(t, []string{"one\n", "three\n", "four\n", "five\n", "\tsix\n"}, m.Messages(stages.InfoErr))
}

func TestAPluginIsCompiledAndRunFromAnotherDirectory(t *testing.T) {
	fakeTools(t, map[string]string{"mvn": "#!/bin/sh\ncase \"$*\" in *build-classpath*) ;; *exec:java*) printf '\\033[0m12345\\n'; echo \"$PWD $*\" >&2; sleep 60;; esac\n"})
	p := inFolder(t, map[string]string{"pom.xml": ""})
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	said := make(chan string, 10)
	server, err := java.Runtime{}.StartPlugin(context.Background(), p, tooling.PluginCommand{
		Kind: plugin.Resource, Name: "component", Args: []string{"127.0.0.1:1"}, Directory: elsewhere, Environment: os.Environ(),
		Output: func(l plugin.Line) { said <- l.Text },
	})
	require.NoError(t, err)
	defer server.Stop()
	port, err := server.Port(context.Background())
	require.NoError(t, err)
	require.Equal(t, 12345, port)
	line := <-said
	require.True(t, strings.HasPrefix(line, elsewhere+" "), line)
	require.Contains(t, line, "--file "+filepath.Join(p.Directory, "pom.xml")+" ")
	require.Contains(t, line, "-Dexec.args=127.0.0.1:1")

	_, err = java.Runtime{}.StartPlugin(context.Background(), p, tooling.PluginCommand{Kind: plugin.Analyzer})
	require.ErrorIs(t, err, tooling.ErrNoPlugins)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	const pom = "pom.xml"
	old := "#!/bin/sh\necho 'java version \"1.8.0_392\"' >&2\n"
	for name, c := range map[string]struct {
		files   []string
		options map[string]any
		java    string // script of java; "" for none
		home    string // JAVA_HOME
		want    []string
	}{
		"program":             {want: []string{"there is no Java program in ", "neither pom.xml nor build.gradle", "`binary`"}},
		"Maven":               {files: []string{pom}, want: []string{"mvn was not found on your $PATH", "`apt-get install maven`", "mvnw"}},
		"Gradle":              {files: []string{"build.gradle"}, want: []string{"gradle was not found on your $PATH", "gradlew"}},
		"pom":                 {options: map[string]any{"use-executor": "mvn"}, want: []string{"there is no pom.xml"}},
		"wrapper":             {files: []string{pom}, options: map[string]any{"use-executor": "./mvnw"}, want: []string{"mvnw, which does not exist"}},
		"jar":                 {options: map[string]any{"binary": "app.jar"}, want: []string{"app.jar, which does not exist"}},
		"another binary":      {options: map[string]any{"binary": "App.java"}, want: []string{"App.java, which is not a .jar"}},
		"name of the jar":     {options: map[string]any{"use-executor": "jar"}, want: []string{"`binary` does not name one"}},
		"plugin":              {files: []string{pom}, options: map[string]any{"use-executor": "jbang"}, want: []string{"jbang need the language plugin pulumi-language-java"}},
		"build by sbt":        {files: []string{"build.sbt"}, want: []string{"sbt or Mill", "pulumi-language-java"}},
		"another tool":        {files: []string{pom}, options: map[string]any{"use-executor": "ant"}, want: []string{`"ant"`, "mvn, gradle or jar"}},
		"Java":                {files: []string{"app.jar"}, options: map[string]any{"binary": "app.jar"}, want: []string{"java was not found", "install a JDK of version 11 or later"}},
		"Java that is new":    {files: []string{"app.jar"}, options: map[string]any{"binary": "app.jar"}, java: old, want: []string{"is Java 1.8.0_392", "needs 11 or later"}},
		"Java that answers":   {files: []string{"app.jar"}, options: map[string]any{"binary": "app.jar"}, java: "#!/bin/sh\necho get one >&2\nexit 1\n", want: []string{"get one", "install a JDK"}},
		"Java in its release": {files: []string{"app.jar", "jdk/bin/java", "jdk/release"}, options: map[string]any{"binary": "app.jar"}, home: "jdk", want: []string{"jdk/bin/java is Java 1.8.0_392"}},
		"JAVA_HOME":           {files: []string{"app.jar"}, options: map[string]any{"binary": "app.jar"}, home: "/nowhere", want: []string{"JAVA_HOME is /nowhere, which is not a JDK"}},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if c.java != "" {
				write(t, bin, map[string]string{"java": c.java})
			}
			t.Setenv("PATH", bin)
			files := map[string]string{}
			for _, file := range c.files {
				files[file] = ""
				if file == "jdk/release" {
					files[file] = "IMPLEMENTOR=\"N\"\nJAVA_VERSION=\"1.8.0_392\"\n"
				}
			}
			p := inFolder(t, files)
			if c.home == "jdk" {
				c.home = filepath.Join(p.Root, c.home)
			}
			t.Setenv("JAVA_HOME", c.home)
			p.Options = c.options
			m := monitortest.Preview()
			err := java.New(p).Run(context.Background(), monitortest.Host(t, m))
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.Empty(t, m.Record().Logs, "nothing is begun")
		})
	}
}
