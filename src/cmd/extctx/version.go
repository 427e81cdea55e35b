package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Set by the linker for a release; a build from a checkout has what Go recorded.
var (
	stampedVersion string
	stampedCommit  string
)

// buildStamp says what was built.
type buildStamp struct {
	version, commit string
}

func build() buildStamp {
	stamp := buildStamp{version: stampedVersion, commit: stampedCommit}
	if stamp.version == "" {
		stamp.version = "0.0.0-dev"
	}
	if info, ok := debug.ReadBuildInfo(); ok && stamp.commit == "" {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				stamp.commit = setting.Value
			}
		}
	}
	if stamp.commit == "" {
		stamp.commit = "unknown"
	}
	return stamp
}

// version prints version, commit and Go version.
func (p process) version() int {
	stamp := build()
	fmt.Fprintf(p.stdout, "extctx %s\ncommit %s\n%s %s/%s\n",
		stamp.version, stamp.commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}
