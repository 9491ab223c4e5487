package evidence

import (
	"bytes"
	"io/fs"
	"path"
	"time"
)

// Memory is a read-only tree of files that are held in memory, by their paths: the evidence of a sheet's example, or
// the sample and gold of one record of a batch. It implements fs.FS and fs.StatFS.
type Memory map[string][]byte

// Open opens a file of the tree.
func (m Memory) Open(name string) (fs.File, error) {
	b, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memoryFile{Reader: bytes.NewReader(b), info: memoryInfo{name: path.Base(name), size: int64(len(b))}}, nil
}

// Stat describes a file, or a folder that holds one.
func (m Memory) Stat(name string) (fs.FileInfo, error) {
	if b, ok := m[name]; ok {
		return memoryInfo{name: path.Base(name), size: int64(len(b))}, nil
	}
	for file := range m {
		if len(file) > len(name) && file[:len(name)] == name && file[len(name)] == '/' {
			return memoryInfo{name: path.Base(name), mode: fs.ModeDir | 0o555}, nil
		}
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

type memoryFile struct {
	*bytes.Reader
	info memoryInfo
}

// Stat describes the open file.
func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing: there is nothing to give back.
func (f *memoryFile) Close() error { return nil }

// memoryInfo describes a file or folder of the tree, without a time: nothing here reads a clock.
type memoryInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return i.mode | 0o444 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memoryInfo) Sys() any           { return nil }
