// Package config reads .github/referee.yml, the configuration of the gate: which pull requests are gated, which
// rulebook may judge which path, whose review is a sign-off, where the ledger is, and the limits on agents.
//
// It is read from the base branch and never from the pull request that it judges. Parse is strict: one YAML document of
// plain mappings, lists and scalars; an unknown key, a duplicate, an anchor or a tag is refused at its line (*Error),
// with the nearest known key (TestConfig). What is not written has the value that Default gives it. ReadPlainYAML is
// the lenient reader for files of others, such as workflows, which decide nothing here.
package config
