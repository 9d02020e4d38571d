#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin jobs`: what every node runs, also while a node is stopped.
. "$(dirname "$0")/lib.sh"
choose_heavy

try "$satin" jobs
is "without a run it is refused" "$code" 2
try "$satin" jobs nobody
is "a run that is not there is refused" "$code" 1

begin "$satin" run -n 2 -w 1 --name seen -- "${heavy[@]}"
ok "a run on two nodes" wait_for $((20 * slow)) up seen 2
both_run () { [ "$("$satin" jobs seen | grep -cE '^1\.[12] +0 +running .* /[01](/[01])* +held \(1?[0-9]\)$')" = 2 ]; }
ok "both run a job, with path and arguments" wait_for $((20 * slow)) both_run
try "$satin" jobs seen --json
is "the same as JSON" "$code" 0
ok "… with the number of its format" grep -q '^{"format":1,"run":"seen","nodes":\[' "$work/answer"
if command -v python3 >/dev/null 2>&1; then
  ok "… which python reads" python3 -c '
import json, sys
all = json.load (open (sys.argv[1]))
assert [n["id"] for n in all["nodes"]] == ["1.1", "1.2"], all
for node in all["nodes"]:
    assert not node["silent"] and node["more"] == 0 and node["workers"] == 1, node
    for job in node["jobs"]:
        assert job["job"] == "held" and job["path"].startswith ("/") and job["for_s"] >= 0, job
        assert (job["waits_for"] is None) == (job["state"] == "running"), job' "$work/answer"
fi

still=$(other_of seen)
kill -STOP "$still"
try "$satin" jobs seen
is "it answers although a node is stopped" "$code" 0
is "… and says that the node is silent" "$(grep -cE "^1\\.2 +silent +process $still on host '.*' does not answer$" <<<"$answer")" 1
ok "… and what the other node runs" grep -qE '^1\.1 +0 +(running|waiting) ' <<<"$answer"
try "$satin" jobs seen --json
is "the same in JSON" "$(grep -o '"silent":[a-z]*' "$work/answer" | tr '\n' ' ')" '"silent":false "silent":true '
kill -CONT "$still"
ok "when the node continues it answers again" wait_for $((20 * slow)) both_run

# The master finishes its part first. Then it waits for what the stopped node holds.
kill -STOP "$still"
let_go
waits () { "$satin" jobs seen | grep -qE '^1\.1 +0 +waiting .* a child /[01/]*, held by 1\.2$'; }
ok "a waiting job is shown with the child and the node that it waits for" wait_for $((20 * slow)) waits
kill -CONT "$still"
ended
is "the answer" "$answer" "$heavy_answer"
try "$satin" jobs seen
is "a run that has ended is refused" "$code" 1

# Arguments that are wider than a terminal.
begin "$satin" run -n 1 -w 1 --name long -- "$SATIN_BIN/nqueens" 18
whole () { "$satin" jobs long | grep -qE 'queens \([0-9, ]{33,}\)$'; }
ok "if the output is no terminal, arguments are not cut" wait_for $((20 * slow)) whole
"$satin" cancel long 2>/dev/null
ended
finish
