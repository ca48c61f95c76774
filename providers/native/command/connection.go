package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

// connectionType returns the type of a connection to a machine. what names the machine, for documentation.
func connectionType(record, what string, more ...native.Field) native.Type {
	private := func(f native.Field) native.Field { f.Secret = true; return f }
	host := optional("host", native.KindString, "The address of "+what+".")
	host.Required = true
	user, port := optional("user", native.KindString, "The user."), optional("port", native.KindNumber, "The port.")
	errs := optional("dialErrorLimit", native.KindInteger, "How many attempts to connect may fail; -1 is any number.")
	wait := optional("perDialTimeout", native.KindInteger, "How many seconds an attempt to connect may take; 0 is any time.")
	user.Default, port.Default, errs.Default, wait.Default = native.Text("root"), native.Int(22), native.Int(10), native.Int(15)
	return native.Record("command:remote:"+record, append([]native.Field{
		optional("agentSocketPath", native.KindString, "The socket of an SSH agent; that of SSH_AUTH_SOCK by default."),
		errs, host,
		optional("hostKey", native.KindString, "The public key that the machine has to have, as a line of authorized_keys. Without it any is accepted."),
		private(optional("password", native.KindString, "The password.")), wait, port,
		private(optional("privateKey", native.KindString, "The private key, as PEM.")),
		private(optional("privateKeyPassword", native.KindString, "The password of the private key.")), user,
	}, more...)...)
}

// connection returns the input of every resource that works on another machine.
func connection() native.Field {
	proxy := native.Field{
		Name: "proxy", Type: connectionType("ProxyConnection", "the machine between"),
		Doc: "A machine through which to connect.",
	}
	return native.Field{
		Name: "connection", Type: connectionType("Connection", "the machine", proxy), Required: true, Secret: true,
		Doc: "How to reach the machine.",
	}
}

// remote works on other machines.
type remote struct{ options native.Options }

// client is a connection, with everything that must be closed after it.
type client struct {
	*ssh.Client
	below []io.Closer
}

func (c *client) Close() error {
	err := c.Client.Close()
	for _, b := range c.below {
		_ = b.Close() // most likely closed with the connection
	}
	return err
}

// dial connects to the machine, through another one if the inputs name one.
func (r *remote) dial(ctx context.Context, c native.Call) (*client, error) {
	to := c.Inputs.Object("connection")
	open := (&net.Dialer{}).DialContext
	var below []io.Closer
	if to.Has("proxy") {
		via, err := r.connect(ctx, c, to.Object("proxy"), open)
		if err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		open, below = via.DialContext, []io.Closer{via}
	}
	made, err := r.connect(ctx, c, to, open)
	if err != nil {
		for _, b := range below {
			err = errors.Join(err, b.Close())
		}
		return nil, err
	}
	return &client{made, below}, nil
}

// patience is how long a command may take to end after the request to end.
const patience = 2 * time.Second

// endWith closes the connection when ctx ends. Before that it calls ask, if it is not nil, to request the end of the
// operation on the connection, and waits for it for a short time. The caller calls done when the operation is done.
func (c *client) endWith(ctx context.Context, ask func()) (done func()) {
	doing, finished := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, func() {
		if ask != nil {
			ask()
			_ = await.For(doing, patience) // done, or too slow
		}
		_ = c.Close() // the operation on the connection fails, and its error is enough
	})
	return func() { stop(); finished() }
}

// connect tries to connect until it succeeds or has failed too often, with growing pauses.
func (r *remote) connect(
	ctx context.Context, c native.Call, to native.Values, open func(ctx context.Context, network, address string) (net.Conn, error),
) (*ssh.Client, error) {
	const longest = 5 * time.Second
	address := net.JoinHostPort(to.Text("host"), strconv.Itoa(to.Int("port")))
	limit := to.Int("dialErrorLimit")
	pause := 100 * time.Millisecond
	for failed := 1; ; failed++ {
		made, err := r.attempt(ctx, to, address, open)
		switch {
		case err == nil:
			return made, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("connecting to %s: %w: %w", address, context.Cause(ctx), err)
		case limit >= 0 && failed > limit:
			return nil, fmt.Errorf("connecting to %s: after %d failed attempts: %w", address, failed, err)
		}
		c.Log(native.Message{Text: fmt.Sprintf("connecting to %s: attempt %d failed: %v", address, failed, err)})
		if err := await.For(ctx, pause); err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", address, err)
		}
		pause = min(pause*3/2, longest)
	}
}

// attempt tries to connect once.
func (r *remote) attempt(
	ctx context.Context, to native.Values, address string, open func(ctx context.Context, network, address string) (net.Conn, error),
) (*ssh.Client, error) {
	config, release, err := r.config(to)
	if err != nil {
		return nil, err
	}
	defer release()
	if config.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, config.Timeout)
		defer cancel()
		ctx = limited
	}
	conn, err := open(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	made, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return ssh.NewClient(made, channels, requests), nil
}

// config returns the user and the credentials of a connection; release frees their resources.
func (r *remote) config(to native.Values) (config *ssh.ClientConfig, release func(), err error) {
	config = &ssh.ClientConfig{
		User: to.Text("user"), Timeout: time.Duration(to.Int("perDialTimeout")) * time.Second,
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), //nolint:gosec // as the public package: no key, no check
	}
	if to.Has("hostKey") {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(to.Text("hostKey")))
		if err != nil {
			return nil, nil, fmt.Errorf("hostKey: %w", err)
		}
		config.HostKeyCallback, config.HostKeyAlgorithms = ssh.FixedHostKey(key), signatures(key.Type())
	}
	signers, release, err := r.signers(to)
	if err != nil {
		return nil, nil, err
	}
	// Of two methods with the same name only the first is tried, so all keys are in one.
	config.Auth = append(config.Auth, ssh.PublicKeysCallback(signers))
	if to.Has("password") {
		config.Auth = append(config.Auth, ssh.Password(to.Text("password")), ssh.KeyboardInteractive(
			func(_, _ string, questions []string, _ []bool) ([]string, error) {
				answers := make([]string, len(questions))
				for i := range questions {
					answers[i] = to.Text("password")
				}
				return answers, nil
			}))
	}
	return config, release, nil
}

// signatures returns the algorithms with which a key of this type signs.
func signatures(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA}
	}
	return []string{keyType}
}

// signers returns the private key, if there is one, and then the keys of the agent.
func (r *remote) signers(to native.Values) (list func() ([]ssh.Signer, error), release func(), err error) {
	var own []ssh.Signer
	if to.Has("privateKey") {
		key, err := parsePrivateKey(to)
		if err != nil {
			return nil, nil, fmt.Errorf("privateKey: %w", err)
		}
		own = append(own, key)
	}
	path, asked := to.Text("agentSocketPath"), to.Has("agentSocketPath")
	if !asked {
		path = defaultAgent(r.options)
	}
	if path == "" {
		return func() ([]ssh.Signer, error) { return own, nil }, func() {}, nil
	}
	socket, err := dialAgent(path)
	if err != nil && asked {
		return nil, nil, fmt.Errorf("agentSocketPath: %w", err)
	}
	if err != nil { // an agent that was not requested may be missing
		return func() ([]ssh.Signer, error) { return own, nil }, func() {}, nil
	}
	list = func() ([]ssh.Signer, error) {
		more, err := agent.NewClient(socket).Signers()
		return append(own[:len(own):len(own)], more...), err
	}
	return list, func() { _ = socket.Close() }, nil
}

func parsePrivateKey(to native.Values) (ssh.Signer, error) {
	key := []byte(to.Text("privateKey"))
	if to.Has("privateKeyPassword") {
		return ssh.ParsePrivateKeyWithPassphrase(key, []byte(to.Text("privateKeyPassword")))
	}
	return ssh.ParsePrivateKey(key)
}

func (r *remote) command() native.Resource {
	inputs := append([]native.Field{
		previousOutput(), connection(), environment(), logging("remote"),
		optional("stdin", native.KindString, "What the command reads from its standard input."),
	}, lifecycle()...)
	return living(native.Resource{
		Type: "command:remote:Command", Doc: "Commands that are run over SSH when the resource is made, changed and deleted.",
		Inputs: inputs, Computed: []native.Field{output("stderr"), output("stdout")},
	}, r.perform)
}

// perform runs a command on the machine, with the shell of the user there. When ctx ends, it requests the end of the
// command from the server, and closes the connection. It depends on the server whether that ends the processes of the
// command.
func (r *remote) perform(ctx context.Context, c native.Call, command string) (native.Outputs, error) {
	conn, err := r.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	session, err := conn.NewSession()
	if err != nil {
		return nil, err
	}
	defer session.Close()
	defer conn.endWith(ctx, func() { _ = session.Signal(ssh.SIGKILL) })()
	given := c.Inputs.TextMap("environment")
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := session.Setenv(name, given[name]); err != nil {
			return nil, fmt.Errorf("the server does not take the environment variable %s (see AcceptEnv of its configuration; "+
				"%s=… before the command may do instead): %w", name, name, err)
		}
	}
	for _, variable := range previousVariables(c) {
		name, value, _ := strings.Cut(variable, "=")
		if err := session.Setenv(name, value); err != nil {
			c.Log(native.Message{Warning: true, Text: fmt.Sprintf(
				"the server does not take the environment variable %s with the output of the command before: %v", name, err)})
		}
	}
	if in := c.Inputs.Text("stdin"); in != "" {
		session.Stdin = strings.NewReader(in)
	}
	o := newRecorder(c)
	session.Stdout, session.Stderr = o.writer("stdout"), o.writer("stderr")
	err = session.Run(command)
	o.flush()
	if err != nil {
		return nil, o.failure(ctx, command, err)
	}
	return native.Outputs{"stdout": native.Text(o.text("stdout")), "stderr": native.Text(o.text("stderr"))}, nil
}

func remotePath(doc string) native.Field {
	f := optional("remotePath", native.KindString, doc)
	f.Required = true
	return f
}

func (r *remote) copyToRemote() native.Resource {
	source := native.Field{
		Name: "source", Type: native.Of(native.KindAsset), Required: true,
		Doc: "What to copy: a file or a folder. Archives are not unpacked, and a folder whose path ends with / is its files.",
	}
	return native.Resource{
		Type: "command:remote:CopyToRemote", Doc: "Files that are copied to another machine over SFTP. Deleting it leaves them there.",
		Inputs: []native.Field{
			connection(),
			remotePath("Where to copy to. Directories above it are made; into one that is there the file or folder is put."),
			source, triggers(),
		},
		Create: func(ctx context.Context, c native.Call) (native.Made, error) {
			id, err := newID("")
			if err == nil {
				err = r.copy(ctx, c)
			}
			return native.Made{ID: id}, err
		},
		Update: func(ctx context.Context, c native.Call) (native.Outputs, error) {
			if sameCopy(c) {
				return nil, nil
			}
			return nil, r.copy(ctx, c)
		},
	}
}

// copyFile returns the old form of copyToRemote, in which every change of an input copies again.
func (r *remote) copyFile() native.Resource {
	local := optional("localPath", native.KindString, "The file to copy.")
	local.Required = true
	inputs := []native.Field{connection(), local, remotePath("Where to copy to."), triggers()}
	for i := range inputs {
		inputs[i].Replace = true
	}
	return native.Resource{
		Type: "command:remote:CopyFile", Doc: "The old form of CopyToRemote.", Inputs: inputs,
		Create: func(ctx context.Context, c native.Call) (native.Made, error) {
			id, err := newID("")
			if err != nil {
				return native.Made{}, err
			}
			return native.Made{ID: id}, r.during(ctx, c, func(to *target) error {
				content, err := open(ctx, to.here(c.Inputs.Text("localPath")))
				if err != nil {
					return err
				}
				defer content.Close()
				return to.write(c.Inputs.Text("remotePath"), content)
			})
		},
	}
}

// sameCopy reports whether the update would change nothing: the same content is at the same place.
func sameCopy(c native.Call) bool {
	was, now := c.State.Object("connection"), c.Inputs.Object("connection")
	hash := func(v property.Value) string { return v.AsAsset().Hash + v.AsArchive().Hash }
	wasSource, nowSource := c.State.Value("source"), c.Inputs.Value("source")
	return hash(nowSource) != "" && hash(wasSource) == hash(nowSource) && wasSource.IsAsset() == nowSource.IsAsset() &&
		c.State.Text("remotePath") == c.Inputs.Text("remotePath") &&
		was.Text("host") == now.Text("host") && was.Int("port") == now.Int("port")
}

// during calls f with the files of the machine. They must not be used after ctx ends.
func (r *remote) during(ctx context.Context, c native.Call, f func(*target) error) error {
	conn, err := r.dial(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.endWith(ctx, nil)()
	files, err := sftp.NewClient(conn.Client, sftp.UseConcurrentWrites(true))
	if err != nil {
		return err
	}
	defer files.Close()
	if err := f(&target{files, r.options.Directory}); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
	return nil
}

func (r *remote) copy(ctx context.Context, c native.Call) error {
	dest := c.Inputs.Text("remotePath")
	reader := property.AssetReader{Dir: r.options.Directory}
	return r.during(ctx, c, func(to *target) error {
		source := c.Inputs.Value("source")
		if a := source.AsAsset(); source.IsAsset() {
			if a.Kind == property.KindPath {
				return to.put(ctx, a.Path, dest)
			}
			content, err := reader.Open(ctx, a)
			if err != nil {
				return err
			}
			defer content.Close()
			return to.putContent(baseOf(a.URI), content, dest)
		}
		switch a := source.AsArchive(); a.Kind {
		case property.KindPath:
			return to.put(ctx, a.Path, dest)
		case property.KindURI:
			content, err := reader.OpenArchive(ctx, a)
			if err != nil {
				return err
			}
			defer content.Close()
			return to.putContent(baseOf(a.URI), content, dest)
		default:
			if err := to.directory(dest); err != nil {
				return err
			}
			return reader.Members(ctx, a, func(name string, content io.Reader) error {
				return to.write(path.Join(dest, name), content)
			})
		}
	})
}

// baseOf returns the name of the file at the end of a URI; "" for none.
func baseOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if base := path.Base(u.Path); base != "/" && base != "." {
		return base
	}
	return ""
}
