#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that uses everything in satin.h and checks its own answer: alone, on nodes, and killed.
. "$(dirname "$0")/lib.sh"
mixed=$SATIN_BIN/../tests/e2e/mixed
file=$work/mixed.satin

try "$mixed" --workers 3 9 4
is "alone: the answer" "$answer" "mixed right"
try "$satin" run -n 4 -- "$mixed" 10 40
is "four nodes pass results of megabytes to each other" "$answer" "mixed right"
try "$satin" run -n 3 --tcp -- "$mixed" 9 20
is "over TCP too" "$answer" "mixed right"

# The leaves sleep until the victims are dead.
export MIXED_GO=$work/go
begin "$satin" run -n 4 --name mixed-m --checkpoint "$work/m.satin" --interval 0.2 -- "$mixed" 12 8
ok "four nodes are up" wait_for $((20 * slow)) up mixed-m 4
kill -9 "$(master_of mixed-m)"
finished
is "with the master killed: the answer" "$answer" "mixed right"

begin "$satin" run -n 4 --name mixed-a --checkpoint "$file" --interval 0.1 -- "$mixed" 12 8
ok "rows appear in the file" wait_for $((20 * slow)) has_rows "$file"
# shellcheck disable=SC2046
kill -9 $(our_nodes) 2>/dev/null
ended
ok "the checkpoint is sound" integrity "$file"
try_freed "$satin" resume "$file" -n 2
is "resumed on two nodes: the answer" "$answer" "mixed right"
finish
