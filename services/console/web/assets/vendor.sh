#!/usr/bin/env bash
# Fetches the one script that the console takes from elsewhere, from its npm package, and keeps it only if it is the one that is known.
# Run it after a change of version; TestAssets compares what is committed with the same sum.
set -euo pipefail
version=2.0.11
sum=d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm pack --silent --pack-destination "$dir" "htmx.org@$version" >/dev/null
tar -xzf "$dir"/htmx.org-*.tgz -C "$dir" package/dist/htmx.min.js package/LICENSE
echo "$sum  $dir/package/dist/htmx.min.js" | sha256sum --check --quiet
install -m 644 "$dir/package/dist/htmx.min.js" htmx.min.js
install -m 644 "$dir/package/LICENSE" htmx.LICENSE
