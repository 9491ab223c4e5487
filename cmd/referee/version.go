package main

import (
	"runtime"
	"runtime/debug"

	"github.com/defendableos/referee/referee"
)

// versionInfo is what `referee version` prints.
type versionInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
	Semantics int    `json:"semantics"`
	Registry  string `json:"registry_sha256"`
}

func versionCommand() *command {
	c := newCommand("version", "", "print the version and the hashes of semantics and rules", 0)
	c.long = "Two builds with the same semantics and registry hash reach the same verdicts."
	c.examples = []string{"referee version", "referee version --format json"}
	format := c.formatFlag("text", "json")
	c.run = func(a *app, _ []string) error {
		v := versionOf(debug.ReadBuildInfo())
		if *format == "json" {
			return a.printJSON(v)
		}
		p := &page{}
		p.line("referee %s", v.Version)
		p.line("commit     %s", v.Commit)
		p.line("go         %s %s", v.Go, v.Platform)
		p.line("semantics  %d", v.Semantics)
		p.line("registry   %s", v.Registry)
		return a.print(p.b.String())
	}
	return c
}

// versionOf reads what the build recorded; a release sets the version by the linker.
func versionOf(info *debug.BuildInfo, ok bool) versionInfo {
	v := versionInfo{
		Version:   referee.EngineVersion,
		Commit:    "unknown",
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Semantics: referee.SemanticsVersion,
		Registry:  referee.RegistrySHA256(),
	}
	if !ok {
		return v
	}
	if v.Version == "dev" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (with changes)"
		}
	}
	v.Commit += dirty
	return v
}
