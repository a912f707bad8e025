#!/bin/sh
# Checks the types of the page's scripts and bundles them to assets/board.js; needs npm.
#     leaderboard/site/bundle.sh [--check]
# With --check it writes nothing, and fails if the bundle is not that of the scripts.
set -eu
site=$(cd "$(dirname "$0")" && pwd)
folder=$site/../../build/site
mkdir -p "$folder"
if ! cmp -s "$site/package.json" "$folder/package.json"; then
    cp "$site/package.json" "$folder/"
    (cd "$folder" && npm install -s --no-audit --no-fund)
fi
cd "$folder"
npm run -s types
npm run -s bundle -- --log-level=warning
if [ "${1:-}" = --check ]; then
    cmp board.js "$site/assets/board.js" || { echo "run leaderboard/site/bundle.sh"; exit 1; }
else
    cp board.js "$site/assets/board.js"
fi
