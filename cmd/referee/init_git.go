package main

import (
	"os"
	"path/filepath"
	"strings"
)

// What init asks of a repository is read from its files: git itself need not be there.

// repositoryAbove is the top of the work tree that a folder lies inside of; "" where the folder is a top itself, or in
// none.
func repositoryAbove(dir string) string {
	at := absolutePath(dir)
	if fileExists(filepath.Join(at, ".git")) {
		return ""
	}
	for {
		up := filepath.Dir(at)
		if up == at {
			return ""
		}
		if fileExists(filepath.Join(up, ".git")) {
			return up
		}
		at = up
	}
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// defaultBranch is the branch that origin calls its default, else the one that is checked out, else main.
func (a *app) defaultBranch(root *os.Root) string {
	own, common := gitFolders(root.Name())
	if branch := symbolicRef(filepath.Join(common, "refs", "remotes", "origin", "HEAD"),
		"refs/remotes/origin/"); branch != "" {
		return branch
	}
	// which a reftable has there
	if branch := symbolicRef(filepath.Join(own, "HEAD"), "refs/heads/"); branch != "" && branch != ".invalid" {
		return branch
	}
	a.note("git does not say which branch is the default one: main is taken (--branch names another)")
	return "main"
}

// gitFolders are the folder of a work tree's own state and the one that all its work trees share.
func gitFolders(top string) (own, common string) {
	own = filepath.Join(top, ".git")
	if text, err := os.ReadFile(own); err == nil { // a linked work tree, or a submodule
		if to, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); found {
			own = pathBeside(top, to)
		}
	}
	if text, err := os.ReadFile(filepath.Join(own, "commondir")); err == nil {
		return own, pathBeside(own, strings.TrimSpace(string(text)))
	}
	return own, own
}

// pathBeside is a path that may be relative to a folder.
func pathBeside(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// symbolicRef is what a reference's file points at below prefix, "" if it holds anything else.
func symbolicRef(file, prefix string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: "+prefix)
	if name == strings.TrimSpace(string(text)) {
		return ""
	}
	return name
}
