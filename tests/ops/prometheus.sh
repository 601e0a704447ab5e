#!/usr/bin/env bash
# Puts promtool and prometheus into the folder given: those on PATH, else those of Debian's package, without installing it.
set -euo pipefail
folder=$1
mkdir -p "$folder"
if tool=$(command -v promtool) && server=$(command -v prometheus); then
  ln -sf "$tool" "$server" "$folder/"
  exit
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! (cd "$dir" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb .) >"$dir/log" 2>&1; then
  cat "$dir/log" >&2
  echo "promtool is missing: install Prometheus (Debian: apt-get update && apt-get install prometheus) or put promtool and prometheus on PATH" >&2
  exit 1
fi
mv "$dir/usr/bin/promtool" "$dir/usr/bin/prometheus" "$folder/"
