#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Small drawn instances for the programs in apps/, against answers that are found by trying all. SEED=n draws others;
# SATIN_TEST_ALL=1 draws more.
folder=$(mktemp -d "${TMPDIR:-/tmp}/satin-drawn-XXXXXX")
trap 'rm -rf "$folder"' EXIT
times=12
[ -z "${SATIN_TEST_ALL-}" ] || times=100
echo "# seed ${SEED:-1}"
perl "$(dirname "$0")/drawn.pl" "$SATIN_BIN" "$folder" "${SEED:-1}" "$times"
