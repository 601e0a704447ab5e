#!/bin/sh
# Installs Chromium from the packages of Debian or Ubuntu; needs root.
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
"$(dirname "$0")/chromium.sh"
