#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Eight nodes, of which one, a different one each time, has a fast path to the checkpoint (slow-place.c): it is elected every
# time. Twice by default; more often: make elections TIMES=20.
. "$(dirname "$0")/lib.sh"
times=${1:-2}
cc=${CC:-cc}
if ! $cc -shared -fPIC -O1 -o "$work/slow-place.so" "$SATIN_SOURCE/tests/e2e/slow-place.c" -ldl 2>"$work/words" \
    || [ -n "${SATIN_SANITIZED-}" ]; then
  skip "elections by the speed of the path" "no way to make the path of some nodes slow"
  finish
fi
export NAPS_HASTE=$work/haste
coordinator_of () { nodes_of "$1" | awk '/"coordinator"/ { print $1; exit }'; }
is_coordinator () { [ "$(coordinator_of "$1")" = "$2" ]; } # RUN PID

right=0 won=0 most=0
for i in $(seq "$times"); do
  rm -rf "$work/numbers" "$NAPS_HASTE" && mkdir "$work/numbers"
  # The founder takes number 0 at its first publication; the others bid in any order.
  fast=$((1 + i % 7)) file=$work/elections-$i.ckpt
  begin env LD_PRELOAD="$work/slow-place.so" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME=elections- \
    SLOW_PLACE_US=1500000 SLOW_PLACE_FAST=$fast "$satin" run -n 8 --workers 1 --name "vote$i" --interval 0.2 --checkpoint "$file" -- \
    "$SATIN_BIN/../tests/e2e/naps" 50 14
  if wait_for $((30 * slow)) test -s "$work/numbers/$fast" && wait_for $((30 * slow)) is_coordinator "vote$i" "$(cat "$work/numbers/$fast")"; then
    won=$((won + 1))
  else
    echo "# $i: the fast one is $(cat "$work/numbers/$fast" 2>/dev/null), the coordinator is $(coordinator_of "vote$i")"
  fi
  touch "$NAPS_HASTE"
  ended
  [ "$answer" = 16384 ] && right=$((right + 1))
  # Each bidder makes one trial file and removes it. The folder has one file for each bidder.
  [ "$(find "$work/numbers" -type f | wc -l)" -gt "$most" ] && most=$(find "$work/numbers" -type f | wc -l)
done
is "the node with the fast path is elected, of 8, every time" "$won" "$times"
is "and the answer is right" "$right" "$times"
is "all eight have bid" "$most" 8
finish
