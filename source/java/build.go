package java

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
)

// build defines how a program is compiled and started.
type build struct {
	tool       tool
	executable string // "" for a jar, which the java of the JDK runs
	directory  string // where the executable is started
	project    string // Gradle's name of the project in the directory: "" or ":infra"
	jar        string // the file; "" if start is known
	start      *start // how the program is started without the tool; nil if the tool starts it
}

// hosted are the tools that only the language plugin supports.
var hosted = []string{"sbt", "jbang", "mill"}

// gradleFiles are the files that identify a Gradle project. Those that the root of a build has come first.
var gradleFiles = []string{"settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"}

// find returns the build of a project. The options are `binary`, a jar, and `use-executor`, the name or path of a build tool. Without them
// the files in the program's directory decide.
func find(p source.Project) (build, error) {
	named, binary := p.Option("use-executor"), p.Option("binary")
	switch t := toolNamed(named); {
	case t == jar && binary == "":
		return build{}, errors.New("the runtime option `use-executor` is jar, but `binary` does not name one; add it")
	case t == jar, t == "" && binary != "":
		return findJar(p, binary)
	case t == maven, t == "" && named == "" && isFile(filepath.Join(p.Directory, "pom.xml")):
		return findMaven(p, named)
	case t == gradle, t == "" && named == "" && anyFile(p.Directory, gradleFiles):
		return findGradle(p, named)
	}
	if base := filepath.Base(named); slices.Contains(hosted, base) {
		return build{}, fmt.Errorf("programs that are run with %s need the language plugin pulumi-language-java, which was not found; "+
			"install it, or build with Maven or Gradle", base)
	}
	if named != "" {
		return build{}, fmt.Errorf("the runtime option `use-executor` is %q; it can be mvn, gradle or jar, or a path that ends in one of mvn, mvnw, "+
			"gradle and gradlew", named)
	}
	if isFile(filepath.Join(p.Directory, "build.sbt")) || isFile(filepath.Join(p.Directory, "build.mill")) {
		return build{}, fmt.Errorf("the program in %s is built with sbt or Mill and needs the language plugin pulumi-language-java, which was not found; "+
			"install it, or build with Maven or Gradle", p.Directory)
	}
	return build{}, fmt.Errorf("there is no Java program in %s: it has neither pom.xml nor build.gradle; write one, "+
		"or name a jar with the runtime option `binary`", p.Directory)
}

// toolNamed returns the tool for the option use-executor, "" if it names none of the tools.
func toolNamed(option string) tool {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(option), ".cmd"), ".bat")
	switch name {
	case "mvn", "mvnw":
		return maven
	case "gradle", "gradlew":
		return gradle
	case "jar":
		return jar
	}
	return ""
}

func findJar(p source.Project, binary string) (build, error) {
	path := inDirectory(p.Directory, binary)
	if !strings.EqualFold(filepath.Ext(path), ".jar") {
		return build{}, fmt.Errorf("the runtime option `binary` names %s, which is not a .jar file; without the language plugin pulumi-language-java only jars can be run", path)
	}
	if !isFile(path) {
		return build{}, fmt.Errorf("the runtime option `binary` names %s, which does not exist; build it, or remove the option", path)
	}
	return build{tool: jar, directory: p.Directory, jar: path}, nil
}

func findMaven(p source.Project, named string) (build, error) {
	b := build{tool: maven, directory: p.Directory}
	if !isFile(filepath.Join(p.Directory, "pom.xml")) {
		return b, fmt.Errorf("there is no pom.xml in %s; write one, or choose another runtime option `use-executor`", p.Directory)
	}
	wrapper := nearest(p, batch("mvnw", ".cmd"))
	var err error
	b.executable, err = b.locate(named, wrapper, direct.HowToGet("Maven", "maven", "maven")+", or put its wrapper mvnw into the program's directory")
	return b, err
}

func findGradle(p source.Project, named string) (build, error) {
	b := build{tool: gradle}
	b.directory, b.project = gradleRoot(p.Directory)
	wrapper := filepath.Join(b.directory, batch("gradlew", ".bat"))
	if !isFile(wrapper) {
		wrapper = ""
	}
	var err error
	b.executable, err = b.locate(named, wrapper, direct.HowToGet("Gradle", "gradle", "gradle")+", or put its wrapper gradlew into "+b.directory)
	return b, err
}

// gradleRoot returns the root of a directory's build, and the name of the project in the directory. The root is the directory itself unless
// one above it has a settings file.
func gradleRoot(directory string) (root, project string) {
	for dir := directory; ; dir = filepath.Dir(dir) {
		if anyFile(dir, gradleFiles[:2]) {
			return dir, project
		}
		if dir == filepath.Dir(dir) {
			return directory, ""
		}
		project = ":" + filepath.Base(dir) + project
	}
}

// locate returns the executable of a tool: the one that the project names, else the wrapper, unless that is "", else the tool on the PATH.
// install is the instruction to install the tool.
func (b build) locate(named, wrapper, install string) (string, error) {
	switch {
	case strings.ContainsRune(filepath.ToSlash(named), '/'):
		wrapper = inDirectory(b.directory, named)
	case named == string(b.tool):
		wrapper = "" // the name alone means the tool on the PATH
	case named != "" && wrapper == "":
		wrapper = filepath.Join(b.directory, named)
	}
	if wrapper != "" && !isFile(wrapper) {
		return "", fmt.Errorf("the runtime option `use-executor` names %s, which does not exist", wrapper)
	}
	if wrapper != "" {
		path, err := exec.LookPath(wrapper)
		if err != nil {
			return "", fmt.Errorf("%s cannot be run: %w; run `chmod +x %s`", wrapper, err, wrapper)
		}
		return path, nil
	}
	path, err := exec.LookPath(string(b.tool))
	if err != nil {
		return "", fmt.Errorf("%s was not found on your $PATH; %s", b.tool, install)
	}
	return path, nil
}

// nearest returns the file with a name in the program's directory, or in one above it up to the project's; "" if there is none.
func nearest(p source.Project, name string) string {
	for dir := p.Directory; ; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
		if dir == p.Root || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// batch returns the file name of a script, which on Windows has an extension.
func batch(name, extension string) string {
	if runtime.GOOS == "windows" {
		return name + extension
	}
	return name
}

func inDirectory(directory, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(directory, path)
}

func anyFile(directory string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return isFile(filepath.Join(directory, name)) })
}

// quiet are arguments with which Maven logs only errors. They set the level of Maven's loggers, not the default: a program may log with the
// same library.
var quiet = []string{
	"--batch-mode", "--no-transfer-progress",
	"-Dorg.slf4j.simpleLogger.log.org.apache.maven=error",
	"-Dorg.slf4j.simpleLogger.log.org.codehaus.plexus=error",
	"-Dorg.slf4j.simpleLogger.log.org.codehaus.mojo=warn", // the stack of an exception that ends the program
}

// compileArguments returns the arguments that compile a program; a jar needs none.
func (b build) compileArguments() []string {
	switch b.tool {
	case maven:
		return append(slices.Clone(quiet), "compile")
	case gradle:
		return []string{"--quiet", "--console=plain", "--no-daemon", b.project + ":classes"}
	}
	return nil
}

// describe returns the arguments that compile a program and describe in a file how it is started with arguments: Maven writes the class path of the
// dependencies, and tells the rest in its output. done removes the files that the arguments refer to.
func (b build) describe(file string, args []string) (list []string, done func(), err error) {
	done = func() {}
	if b.tool == maven {
		// The class path comes first: it is known even if the program does not compile. exec:java starts nothing, but tells its parameters.
		list = append(slices.Clone(quiet), "-Dorg.slf4j.simpleLogger.log."+mavenLog+"=debug",
			"dependency:build-classpath", "compile", "exec:java", "-Dmdep.outputFile="+file, "-DincludeScope=runtime", "-Dexec.skip=true")
		return append(list, mavenArguments(args)...), done, nil
	}
	script, err := direct.Script("Gradle", "sluice-start-*.gradle", b.describeScript(file, args))
	if err != nil {
		return nil, nil, err
	}
	return []string{
		"--init-script", script, "--quiet", "--console=plain", "--no-daemon",
		"-Dorg.gradle.configuration-cache=false", "-Dorg.gradle.unsafe.configuration-cache=false", // the task reads another one
		b.project + ":" + gradleTask,
	}, func() { _ = os.Remove(script) }, nil
}

// mavenArguments returns the properties with which Maven gives arguments to a program. The templates take them from a property of their own.
func mavenArguments(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	return []string{"-Dexec.args=" + quoted(args), "-DmainArgs=" + quoted(args)}
}

// launch returns the arguments with which the tool runs a class from any directory, or the program's own class if class is "". Maven compiles the
// program in the same start, to save a second one. Gradle does not: its compiler would write between the lines of the program. done removes the
// files that the arguments refer to.
func (b build) launch(class string, args []string) (list []string, done func(), err error) {
	done = func() {}
	switch b.tool {
	case maven:
		list = append(slices.Clone(quiet), "--file", filepath.Join(b.directory, "pom.xml"), "compile", "exec:java")
		return append(list, mavenArguments(args)...), done, nil
	case gradle:
		// A daemon would go on after the run, and the program would be its child.
		list = []string{"--quiet", "--console=plain", "--no-daemon", "--project-dir", b.directory, b.project + ":run"}
		if class == "" && len(args) == 0 {
			return list, done, nil
		}
		script, err := direct.Script("Gradle", "sluice-run-*.gradle", startScript(class, args))
		if err != nil {
			return nil, nil, err
		}
		return append([]string{"--init-script", script}, list...), func() { _ = os.Remove(script) }, nil
	}
	return append([]string{"-jar", b.jar}, args...), done, nil
}

// command completes the command of a program or plugin: its executable, arguments, and what the build adds to them. done removes the files that the
// arguments refer to.
func (b build) command(java jdk, c plugin.Command, args []string) (command plugin.Command, done func(), err error) {
	if s := b.start; s != nil {
		c.Executable, c.Args, c.Directory = cmp.Or(s.executable, java.java), s.arguments(), cmp.Or(s.directory, c.Directory)
		c.Environment = append(slices.Clip(c.Environment), s.environment...)
		return c, func() {}, nil
	}
	list, done, err := b.launch("", args)
	c.Executable, c.Args = cmp.Or(b.executable, java.java), list
	return c, done, err
}

// agent is the option that makes a JVM wait for a debugger at an address.
func agent(address string) string {
	return "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=" + address
}

// initScript makes Gradle start the program with an option, and changes nothing else.
const initScript = "allprojects { tasks.withType(JavaExec) { jvmArgs %q } }\n"

// await makes a build start its program so that it waits for a debugger at an address. The caller calls done when the program has ended.
func (b build) await(c *plugin.Command, address string, d *direct.Debugger) (done func(), err error) {
	before, intercept := c.Intercept, d.Interceptor()
	c.Intercept = func(pid int, line string) bool { return intercept(pid, line) || before != nil && before(pid, line) }
	done = func() {}
	switch b.tool {
	case maven: // runs the program in its own process
		options := strings.TrimSpace(os.Getenv("MAVEN_OPTS") + " " + agent(address))
		c.Environment = append(slices.Clip(c.Environment), "MAVEN_OPTS="+options)
	case gradle:
		script, err := direct.Script("Gradle", "sluice-debug-*.gradle", fmt.Appendf(nil, initScript, agent(address)))
		if err != nil {
			return nil, err
		}
		done = func() { _ = os.Remove(script) }
		c.Args = append([]string{"--init-script", script}, c.Args...)
	default:
		c.Args = append([]string{agent(address)}, c.Args...)
	}
	return done, nil
}

// startScript returns a script with which Gradle starts a class with arguments, whatever the build contains: versions before 4.9 have no
// option for arguments, and none has one for the class. An empty class stands for that of the build.
func startScript(class string, args []string) []byte {
	var b strings.Builder
	b.WriteString("allprojects { afterEvaluate { tasks.withType(JavaExec) { task ->\n")
	if class != "" {
		fmt.Fprintf(&b, "  if (task.hasProperty('mainClass')) { task.mainClass.set(%[1]s) } else { task.main = %[1]s }\n", literal(class))
	}
	list := make([]string, 0, len(args))
	for _, a := range args {
		list = append(list, literal(a))
	}
	fmt.Fprintf(&b, "  task.setArgs([%s])\n} } }\n", strings.Join(list, ", "))
	return []byte(b.String())
}

// describeScript returns a script that adds [gradleTask] to the program's project. It writes nothing if Gradle does more than to start a JVM.
func (b build) describeScript(file string, args []string) []byte {
	path := b.project
	if path == "" {
		path = ":"
	}
	var script strings.Builder
	if len(args) > 0 {
		script.Write(startScript("", args))
	}
	fmt.Fprintf(&script, `allprojects { afterEvaluate { project ->
  def run = project.tasks.findByName('run')
  if (project.path != %s || run == null) return
  project.tasks.create(%s) {
    dependsOn run.taskDependencies
    doLast {
      try {
        if (!(run instanceof JavaExec) || run.actions.size() != 1 || !run.finalizedBy.getDependencies(run).empty) return
        if (run.hasProperty('mainModule') && run.mainModule.present) return
        def java = run.hasProperty('javaLauncher') && run.javaLauncher.present ? run.javaLauncher.get().executablePath.asFile.path : run.executable
        def arguments = run.args + (run.hasProperty('argumentProviders') ? run.argumentProviders.collectMany { it.asArguments() } : [])
        def start = [
          executable: java ?: '', class: run.hasProperty('mainClass') ? run.mainClass.get() : run.main, directory: run.workingDir.path,
          options: run.allJvmArgs.collect { it.toString() }, classPath: run.classpath.files.collect { it.path },
          arguments: arguments.collect { it.toString() },
          environment: run.environment.findAll { k, v -> System.getenv(k) != v.toString() }.collectEntries { k, v -> [k, v.toString()] }
        ]
        new File(%s).setText(groovy.json.JsonOutput.toJson(start), 'UTF-8')
      } catch (Throwable unknown) {
        logger.info('the start of the program cannot be described', unknown)
      }
    }
  }
} }
`, literal(path), literal(gradleTask), literal(file))
	return []byte(script.String())
}

// literal writes a text as a literal in Groovy.
func literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

// quoted joins arguments to one line, quoted for Maven's parser.
func quoted(args []string) string {
	list := make([]string, 0, len(args))
	for _, a := range args {
		switch {
		case a != "" && !strings.ContainsAny(a, " \t\n\"'"):
		case strings.Contains(a, `"`):
			a = "'" + a + "'"
		default:
			a = `"` + a + `"`
		}
		list = append(list, a)
	}
	return strings.Join(list, " ")
}
