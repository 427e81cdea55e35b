package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// maxCredential is the largest credential file, in bytes.
const maxCredential = 8 << 10

// What can be wrong with a file beside not being there.
var (
	errNotRegular = errors.New("not a regular file")
	errWritable   = errors.New("writable by others")
	errTooLarge   = errors.New("too large")
)

// readFile reads a regular file of at most limit bytes that not everybody can
// write. It checks the file it opened, not the name, and does not wait for a pipe.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Mode().Perm()&0o002 != 0:
		return nil, errWritable
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}

// readConfigFile reads the file at path, which must be absolute.
func readConfigFile(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, &Error{ClassPath, Variable + " must name an absolute file path."}
	}
	data, err := readFile(path, MaxSize)
	switch {
	case err == errTooLarge:
		return nil, rule("file", "must be at most "+strconv.Itoa(MaxSize)+" bytes")
	case err == errWritable:
		return nil, rule("file", "must not be writable by others")
	case err != nil:
		return nil, &Error{ClassUnreadable, "External context config could not be read."}
	}
	return data, nil
}

// readCredential returns the credential from the variable, or from the file that
// the variable with _FILE appended names. Exactly one of them must be set.
func readCredential(lookup LookupEnv, variable string) (Secret, error) {
	unavailable := &Error{ClassCredential, "Configured external context credential is unavailable."}
	value, set := lookup(variable)
	path, fileSet := lookup(variable + "_FILE")
	if set == fileSet {
		return Secret{}, unavailable
	}
	if fileSet {
		if !filepath.IsAbs(path) {
			return Secret{}, unavailable
		}
		data, err := readFile(path, maxCredential)
		if err != nil {
			return Secret{}, unavailable
		}
		value = strings.TrimSuffix(string(data), "\n")
	}
	if strings.TrimSpace(value) == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return Secret{}, unavailable
	}
	return NewSecret(value), nil
}

// resolveRoot returns the real path of a repository root, which must be a
// directory and not the filesystem root.
func resolveRoot(root string) (string, error) {
	const member = "autoRecall.repositoryRoot"
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", rule(member, "must be an existing directory")
	}
	info, err := os.Stat(resolved)
	switch {
	case err != nil || !info.IsDir():
		return "", rule(member, "must be an existing directory")
	case resolved == "/":
		return "", rule(member, "must not be the filesystem root")
	}
	return resolved, nil
}
