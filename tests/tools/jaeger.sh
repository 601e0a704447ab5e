#!/usr/bin/env bash
# Builds Jaeger's all-in-one program from its Go module into the file given, unless it is there. Its module replaces others,
# which `go install` refuses, so it is built from a copy of its source. About four minutes of one processor.
set -euo pipefail
version=v1.76.0
to=$(realpath -m "$1")
[ -x "$to" ] && exit 0
echo "building Jaeger $version, once: some minutes"
source=$(go mod download -json github.com/jaegertracing/jaeger@$version | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
copy=$(mktemp -d)
trap 'chmod -R u+w "$copy" && rm -rf "$copy"' EXIT
cp -r "$source/." "$copy" && chmod -R u+w "$copy"
mkdir -p "$(dirname "$to")"
cd "$copy" && GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o "$to" ./cmd/all-in-one
