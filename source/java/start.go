package java

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/source/internal/terminal"
)

// start is how a compiled program is started without its build tool.
type start struct {
	executable  string   // "" for the java of the JDK
	options     []string // those of the JVM
	classPath   []string
	class       string
	args        []string
	directory   string   // "" for that of the caller
	environment []string // in addition to that of the caller
}

// arguments returns the arguments of the JVM.
func (s *start) arguments() []string {
	return slices.Concat(s.options, []string{"-cp", strings.Join(s.classPath, string(os.PathListSeparator)), s.class}, s.args)
}

// compiled is what one start of a build tool has made of a program, and what the tool has told about it.
type compiled struct {
	complete  bool     // the tool has succeeded
	classPath []string // nil if it is not known
	start     *start   // nil if only the tool can start the program, because its settings are not all known
	err       error    // a reason why the program cannot be run; nil if there is none, or if it is not known
}

// goal is a goal of a plugin of Maven, and its parameters.
type goal struct {
	plugin, name string
	parameters   map[string]string
}

var (
	goalBegins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[DEBUG\] Configuring mojo (?:execution )?'[^:']+:([^:']+):[^:']+:([^:']+)(?::[^']*)?' with `)
	})
	goalParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[DEBUG\]   \([fs]\) (\w+) = (.*)$`) })
)

// mavenLog is the name of the logger with which Maven tells the parameters of each goal.
const mavenLog = "org.apache.maven.plugin.internal.DefaultMavenPluginManager"

// mavenGoals returns the goals that Maven has told about in its output, and the rest of the output.
func mavenGoals(output string) (goals []goal, rest string) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(output) {
		text := strings.TrimRight(terminal.Plain(line), "\r\n")
		begins, parameter := goalBegins().FindStringSubmatch(text), goalParameter().FindStringSubmatch(text)
		switch {
		case begins != nil:
			inside = true
			goals = append(goals, goal{plugin: begins[1], name: begins[2], parameters: map[string]string{}})
		case inside && parameter != nil:
			goals[len(goals)-1].parameters[parameter[1]] = parameter[2]
		case strings.HasPrefix(text, "[ERROR]"), !inside && !strings.HasPrefix(text, "[DEBUG]"):
			b.WriteString(line)
		case strings.HasPrefix(text, "[DEBUG] -- end configuration --"):
			inside = false
		}
	}
	return goals, b.String()
}

const (
	execPlugin       = "exec-maven-plugin"
	dependencyPlugin = "maven-dependency-plugin"
)

// execUsual are the values of those parameters of exec:java with which it starts a program like a java of its own would. "*" stands for any value.
var execUsual = map[string]string{
	"addOutputToClasspath": "true", "addResourcesToClasspath": "false", "arguments": "[]", "artifactFactory": "*", "blockSystemExit": "false",
	"classpathScope": "runtime", "cleanupDaemonThreads": "*", "commandlineArgs": "*", "daemonThreadJoinTimeout": "*", "includePluginDependencies": "false",
	"includeProjectDependencies": "true", "keepAlive": "*", "killAfter": "*", "localRepository": "*", "mainClass": "*", "mojoExecution": "*",
	"pluginDependencies": "*", "preloadCommonPool": "0", "project": "*", "remoteRepositories": "*", "repositorySystem": "*", "session": "*", "skip": "true",
	"stopUnresponsiveDaemonThreads": "*", "trapUncaughtException": "*",
}

// dependencyFilters are the parameters of dependency:build-classpath that change the form or the extent of the class path.
var dependencyFilters = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(include\w*|exclude\w*|prefix|pathSeparator|fileSeparator|localRepoProperty)$`)
})

// mavenStart returns how to start a program with arguments, nil if Maven has to do that. dependencies is the class path without the program itself.
func mavenStart(goals []goal, dependencies, args, options []string) *start {
	var run, list *goal
	var classes string
	for i, g := range goals {
		switch {
		case g.plugin == execPlugin && (run != nil || g.name != "java"):
			return nil // one that the build contains, which was skipped as well
		case g.plugin == execPlugin:
			run = &goals[i]
		case g.plugin == dependencyPlugin && list == nil:
			list = &goals[i]
		case g.plugin == "maven-compiler-plugin" && g.name == "compile":
			classes = g.parameters["outputDirectory"]
		}
	}
	if run == nil || list == nil || classes == "" || run.parameters["skip"] == "" || run.parameters["mainClass"] == "" {
		return nil
	}
	for name, value := range run.parameters {
		if want, known := execUsual[name]; !known || want != "*" && want != value {
			return nil
		}
	}
	for name, value := range list.parameters {
		if dependencyFilters().MatchString(name) && value != "" && name+" = "+value != "includeScope = runtime" && name+" = "+value != "excludeTransitive = false" {
			return nil
		}
	}
	if run.parameters["commandlineArgs"] != quoted(args) {
		return nil // the project has arguments of its own, or none
	}
	return &start{options: options, classPath: slices.Concat([]string{classes}, dependencies), class: run.parameters["mainClass"], args: args}
}

// mavenFailed reports whether a failure of Maven, with the rest of its output, is one of the program: not of a goal that only describes the program, and
// not because exec:java was skipped where the build itself uses it.
func mavenFailed(goals []goal, rest string) bool {
	if ofDependencyPlugin().MatchString(rest) {
		return false
	}
	return ofExecPlugin().MatchString(rest) || !slices.ContainsFunc(goals, func(g goal) bool { return g.plugin == execPlugin })
}

var (
	ofDependencyPlugin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`maven-dependency-plugin|prefix 'dependency'`) })
	ofExecPlugin       = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`Failed to execute goal \S+:exec-maven-plugin:[^:]+:java \(default-cli\)|'mainClass' for goal \S+:exec-maven-plugin:`)
	})
)

// mavenOptions returns the options of the JVM in which Maven would run a program. ok is false if they cannot be told.
func mavenOptions(directory string) (options []string, ok bool) {
	text := os.Getenv("MAVEN_OPTS")
	for dir := directory; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, ".mvn")); err == nil && info.IsDir() {
			more, err := os.ReadFile(filepath.Join(dir, ".mvn", "jvm.config"))
			if err != nil && !os.IsNotExist(err) {
				return nil, false
			}
			text = string(more) + " " + text
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if strings.ContainsAny(text, `"'\$#*?`) {
		return nil, false // a shell reads them
	}
	return strings.Fields(text), true
}

// gradleTask is the name of the task that describes how Gradle would start the program.
const gradleTask = "sluiceStart"

// described is the description of a start by [gradleTask].
type described struct {
	Executable, Class, Directory  string
	Options, ClassPath, Arguments []string
	Environment                   map[string]string
}

// gradleStart reads the description in a file. The result is nil if there is none, because Gradle itself has to start the program.
func gradleStart(file string) *start {
	text, err := os.ReadFile(file)
	var d described
	if err != nil || json.Unmarshal(text, &d) != nil || d.Executable == "" || d.Class == "" || len(d.ClassPath) == 0 {
		return nil
	}
	s := &start{executable: d.Executable, options: d.Options, classPath: d.ClassPath, class: d.Class, args: d.Arguments, directory: d.Directory}
	for name, value := range d.Environment {
		s.environment = append(s.environment, name+"="+value)
	}
	slices.Sort(s.environment)
	return s
}
