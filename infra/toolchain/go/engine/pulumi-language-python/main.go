// SPDX-License-Identifier: Apache-2.0

// Command pulumi-language-python is the engine's host for Python: it runs Python programs and Python plugins.
//
// It is small because it leaves out what the lab does not use: it installs nothing, knows no toolchains and no
// virtual environments. Python is the one that PULUMI_PYTHON_CMD names, else `python3` on PATH.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

func main() {
	flag.Parse()
	if err := serve(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-python:", err)
		os.Exit(1)
	}
}

// serve answers the engine at the address `engine` until it interrupts this process or is gone.
func serve(engine string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding out where this program is: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go watchEngine(os.Stdin, stop)

	cancel := make(chan bool)
	context.AfterFunc(ctx, func() { close(cancel) })
	host := &host{
		engine:   engine,
		executor: filepath.Join(filepath.Dir(self), "pulumi-language-python-exec"),
		ended:    ctx,
	}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: cancel,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
		Options: rpcutil.TracingServerInterceptorOptions(nil),
	})
	if err != nil {
		return fmt.Errorf("opening a port: %w", err)
	}
	fmt.Println(handle.Port) // the engine reads it from the first line
	return <-handle.Done
}

// watchEngine calls stop when the other end of stdin is closed. The engine holds that end for as long as it
// lives, so this notices even an engine that was killed, and at once.
func watchEngine(stdin io.Reader, stop context.CancelFunc) {
	// An error means the same as the end: nobody is there any more.
	_, _ = io.Copy(io.Discard, stdin)
	stop()
}
