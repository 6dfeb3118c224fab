// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	// exitReported is the executor's exit code for an error that the user has been shown already.
	exitReported = 32
	// pluginGrace is how long an interrupted plugin may take to end.
	pluginGrace = 5 * time.Second
)

// host implements the engine's language runtime protocol.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	engine   string          // address of the engine
	executor string          // the Python script that runs a program
	ended    context.Context // done once this process is to end
}

// GetPluginInfo says which version this is: the SDK's that it was built with.
func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

// GetRequiredPackages names none: whatever a program needs is installed before, never acquired by the engine.
func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// GetProgramDependencies names none, for `pulumi about`.
func (h *host) GetProgramDependencies(
	context.Context, *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	return &pulumirpc.GetProgramDependenciesResponse{}, nil
}

// About says which Python is used.
func (h *host) About(ctx context.Context, _ *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	output, err := exec.CommandContext(ctx, python(), "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", python(), err)
	}
	return &pulumirpc.AboutResponse{
		Executable: python(),
		Version:    strings.TrimPrefix(strings.TrimSpace(string(output)), "Python "),
	}, nil
}

// Run runs a program to its end.
func (h *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// An executor that outlives this process keeps the engine's pipe open, and the engine waits 5 s for it.
	defer context.AfterFunc(h.ended, cancel)()

	command := exec.CommandContext(ctx, python(), h.arguments(request)...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	configuration, err := configuration(request)
	if err != nil {
		return nil, err
	}
	command.Env = append(os.Environ(), configuration...)

	err = command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == exitReported:
		return &pulumirpc.RunResponse{Bail: true}, nil
	default:
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("running the program with %s: %v", python(), err)}, nil
	}
}

// RunPlugin runs a plugin that is a folder with a PulumiPlugin.yaml, and passes on what it prints.
func (h *host) RunPlugin(
	request *pulumirpc.RunPluginRequest, server grpc.ServerStreamingServer[pulumirpc.RunPluginResponse],
) error {
	ctx, cancel := context.WithCancel(server.Context())
	defer cancel()
	defer context.AfterFunc(h.ended, cancel)()

	closer, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return fmt.Errorf("opening the streams of plugin %s: %w", request.Name, err)
	}
	defer closer.Close()

	program := append([]string{"-u", request.Info.ProgramDirectory}, request.Args...)
	command := exec.CommandContext(ctx, python(), program...)
	command.Dir, command.Env = request.Pwd, request.Env
	command.Stdout, command.Stderr = stdout, stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = pluginGrace

	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("running plugin %s with %s: %w", request.Name, python(), err)
	}
	if err := closer.Close(); err != nil {
		return fmt.Errorf("passing on the output of plugin %s: %w", request.Name, err)
	}
	code := int32(command.ProcessState.ExitCode()) //nolint:gosec // an exit code fits
	return server.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: code}})
}

// arguments is the executor's command line for a program.
func (h *host) arguments(request *pulumirpc.RunRequest) []string {
	arguments := []string{
		"-u", h.executor,
		"--engine", h.engine,
		"--monitor", request.MonitorAddress,
		"--organization", request.Organization,
		"--project", request.Project,
		"--stack", request.Stack,
		"--root_directory", request.Info.RootDirectory,
		"--pwd", request.Pwd,
		"--dry_run", strconv.FormatBool(request.DryRun),
		"--parallel", strconv.Itoa(int(request.Parallel)),
		request.Info.EntryPoint,
	}
	return append(arguments, request.Args...)
}

// configuration is the stack's configuration as the SDK reads it. Without any, the variables must not be there:
// JSON's null makes the executor fail.
func configuration(request *pulumirpc.RunRequest) ([]string, error) {
	if len(request.Config) == 0 {
		return nil, nil
	}
	values, err := json.Marshal(request.Config)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	secrets, err := json.Marshal(append([]string{}, request.ConfigSecretKeys...))
	if err != nil {
		return nil, fmt.Errorf("encoding the names of secrets: %w", err)
	}
	return []string{"PULUMI_CONFIG=" + string(values), "PULUMI_CONFIG_SECRET_KEYS=" + string(secrets)}, nil
}

// python is the interpreter to run programs and plugins with.
func python() string {
	if chosen := os.Getenv("PULUMI_PYTHON_CMD"); chosen != "" {
		return chosen
	}
	return "python3"
}
