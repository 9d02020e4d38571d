#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A node without free descriptors keeps its connections and does not spin. Other nodes can still join the run.
. "$(dirname "$0")/lib.sh"
if ! command -v prlimit >/dev/null; then
  echo "1..0 # SKIP no prlimit (package util-linux)"
  exit 0
fi
choose_heavy
ticks () { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
two_more () { up files 5; }

begin "$satin" run -n 3 -w 1 --tcp --name files -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up files 3
victim=$(other_of files)
used=$(find "/proc/$victim/fd" -mindepth 1 | wc -l)
prlimit --pid "$victim" --nofile=$((used + 1))
"$satin" add files -n 2 -w 1 >/dev/null 2>&1 &
ok "two more join" wait_for $((10 * slow)) two_more
before=$(ticks "$victim")
sleep 2
ok "the node without descriptors is still a member" eval 'nodes_of files | grep -q "^$victim .* up$"'
ok "and does not spin" [ $(($(ticks "$victim") - before)) -lt 40 ]
finished
is "the answer" "$code:$answer" "0:$heavy_answer"
is "no node died" "$words" ""
finish
