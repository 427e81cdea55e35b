// Package config reads the one configuration that binds a process to a corpus
// (contract sections 2 and 10).
//
// It owns every rule about the configuration and the credential, and the line that
// tells an administrator which rule failed. Such a line is fixed at compile time:
// no value, member name, path or secret from outside is ever in it. The package
// connects to nothing and knows nothing about what a provider answers.
package config

import (
	"errors"
	"time"

	"external-context.internal/appliance/src/strictjson"
)

// Variable names the file that holds the configuration.
const Variable = "QWEN_EXTERNAL_CONTEXT_CONFIG"

// MaxSize is the largest configuration file, in bytes.
const MaxSize = 65536

// ProviderType is the kind of provider a configuration binds.
type ProviderType string

// The provider types.
const (
	Mem0PlatformV3      ProviderType = "mem0-platform-v3"
	GenericHTTPSearchV1 ProviderType = "generic-http-search-v1"
)

// Config is a valid configuration with its credential.
type Config struct {
	// Version is 1 (MCP) or 2 (auto-recall).
	Version int
	// Timeout is the deadline of one provider request: timeoutMs in version 1,
	// autoRecall.timeoutMs in version 2.
	Timeout time.Duration
	// WriteEnabled asks for context_remember. Only version 1 with Mem0 has it.
	WriteEnabled bool
	// RepositoryRoot is the directory that version 2 is for: absolute, and with
	// its symbolic links resolved if it was loaded. Empty in version 1.
	RepositoryRoot string
	// Provider is the provider and the corpus.
	Provider Provider
	// Credential is what the provider knows the corpus by.
	Credential Secret
}

// Provider says where the corpus is.
type Provider struct {
	// Type selects which of the other members are set.
	Type ProviderType
	// AppID is the Mem0 application, 1 to 256 code points, trimmed.
	AppID string
	// BaseURL is the Generic HTTP origin, scheme and host in lower case, without
	// a trailing slash.
	BaseURL string
	// CredentialEnv is the environment variable that holds the credential, or with
	// _FILE appended the path of the file that does.
	CredentialEnv string
}

// Class groups the errors of this package.
type Class int

// The classes of errors.
const (
	// ClassPath is a variable that names no absolute path.
	ClassPath Class = iota + 1
	// ClassUnreadable is a file that is not a readable regular file.
	ClassUnreadable
	// ClassNotJSON is a file that is not one strict JSON document.
	ClassNotJSON
	// ClassRule is a member that breaks a rule.
	ClassRule
	// ClassCredential is a credential that is missing or cannot be used.
	ClassCredential
	// ClassVersion is a valid configuration for another process.
	ClassVersion
)

// Error is a configuration error. Its text is the whole line for stderr.
type Error struct {
	// Class is what kind of rule failed.
	Class Class
	line  string
}

// Error returns the line of contract section 10.
func (e *Error) Error() string { return e.line }

// LookupEnv returns the value of an environment variable and whether it is set, as
// [os.LookupEnv] does.
type LookupEnv func(name string) (value string, set bool)

// Load reads the configuration of either version and its credential. The error is
// an [*Error].
func Load(lookup LookupEnv) (*Config, error) {
	cfg, err := read(lookup)
	if err != nil {
		return nil, err
	}
	return complete(cfg, lookup)
}

// LoadVersion1 is [Load] for the MCP server. A valid configuration of another
// version is refused before its directory or credential is looked at.
func LoadVersion1(lookup LookupEnv) (*Config, error) {
	cfg, err := read(lookup)
	if err != nil {
		return nil, err
	}
	if cfg.Version != 1 {
		return nil, &Error{ClassVersion, "External context MCP requires a version 1 configuration."}
	}
	return complete(cfg, lookup)
}

// read reads and parses the file that the environment names.
func read(lookup LookupEnv) (*Config, error) {
	path, _ := lookup(Variable)
	data, err := readConfigFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// complete adds what only the file system and the environment can tell.
func complete(cfg *Config, lookup LookupEnv) (*Config, error) {
	if cfg.Version == 2 {
		root, err := resolveRoot(cfg.RepositoryRoot)
		if err != nil {
			return nil, err
		}
		cfg.RepositoryRoot = root
	}
	credential, err := readCredential(lookup, cfg.Provider.CredentialEnv)
	if err != nil {
		return nil, err
	}
	cfg.Credential = credential
	return cfg, nil
}

// Parse checks a configuration's text against every rule that needs neither files
// nor environment. The error is an [*Error].
func Parse(text []byte) (*Config, error) {
	cfg, err := parse(text)
	var violation *strictjson.Violation
	switch {
	case errors.As(err, &violation):
		return nil, rule(violation.Path, violation.Rule)
	case err != nil:
		return nil, &Error{ClassNotJSON, "External context config is not valid JSON."}
	}
	return cfg, nil
}

// rule is the error of a member that breaks a rule.
func rule(path, text string) *Error {
	return &Error{ClassRule, "External context config: " + path + " " + text + "."}
}
