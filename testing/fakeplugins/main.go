// Command fakeplugins is a plugin for tests of the command line. Its kind is that of its name: pulumi-language-fake, pulumi-resource-fake,
// pulumi-converter-fake or pulumi-analyzer-policy-fake.
package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name {
	case "pulumi-language-fake":
		serveLanguage()
	case "pulumi-resource-fake":
		serveProvider()
	case "pulumi-converter-fake":
		serveConverter()
	case "pulumi-analyzer-policy-fake":
		serveAnalyzer()
	default:
		fmt.Fprintf(os.Stderr, "%s is not the name of a plugin\n", name)
		os.Exit(2)
	}
}

// serve prints its port, as plugins do, and serves until it is killed, with a fault if FAKE_FAULT is set.
func serve(register func(*grpc.Server)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := grpc.NewServer(faults()...)
	register(s)
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if err := s.Serve(l); err != nil {
		panic(err)
	}
}

// dial returns a connection with a service of sluice.
func dial(target string) *grpc.ClientConn {
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return conn
}
