#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make bench-steal: instructions that the protocol of both nodes needs for one steal and its result (steal-cost.c), counted by
# callgrind: from the difference between 1,000 steals and 200. It does not depend on how busy the machine is.
#   COST_BUILD     the build folder with tests/bench/steal-cost
#   COST_PROFILE   (optional) where to keep the profile of the 1,000 steals, for callgrind_annotate
set -u
: "${COST_BUILD:?}"
rig=$COST_BUILD/tests/bench/steal-cost
must=39500
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT
command -v valgrind >/dev/null || { echo "bench-steal: valgrind is missing" >&2; exit 1; }

# Prints the instructions of so many steals: inside node_step and node_effect_clear.
instructions () # STEALS
{
  valgrind --tool=callgrind --collect-atstart=no --toggle-collect=node_step --toggle-collect=node_effect_clear \
    --callgrind-out-file="$work/out" "$rig" "$1" >"$work/answer" 2>"$work/words" </dev/null || {
    cat "$work/words" >&2
    exit 1
  }
  sed -n 's/^\(summary\|totals\): *//p' "$work/out" | head -n 1
}

small=$(instructions 200) || exit 1
large=$(instructions 1000) || exit 1
[ -z "${COST_PROFILE:-}" ] || cp "$work/out" "$COST_PROFILE"
awk -v v=$(((large - small) / 800)) -v m=$must 'BEGIN {
  printf "a steal and its result: %d instructions, must <= %d: %s\n", v, m, v <= m ? "ok" : "MISSED"
}'
cat "$work/answer"
