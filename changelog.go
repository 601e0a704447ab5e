// Package tradegrid holds the changelog of the platform, which the API serves.
package tradegrid

import _ "embed" // of the changelog

// Changelog is CHANGELOG.md.
//
//go:embed CHANGELOG.md
var Changelog []byte
