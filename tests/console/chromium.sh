#!/bin/sh
# Prints where Chromium is; fails if it is not on PATH.
command -v chromium || command -v chromium-browser || command -v google-chrome
