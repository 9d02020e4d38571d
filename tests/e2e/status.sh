#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin status`: a run with a path that is not UTF-8, the time left, a silent node.
. "$(dirname "$0")/lib.sh"
nap=("$SATIN_BIN/sleep" $((600 * 1000)) --depth 0)

latin=$work/$'caf\xe9.db'
begin "$satin" run -n 2 -w 1 --name latin --checkpoint "$latin" -- "${nap[@]}"
ok "a run with a checkpoint whose name is Latin-1" wait_for $((10 * slow)) up latin 2
try "$satin" status latin --json
is "its status is JSON" "$code" 0
ok "… of UTF-8 only" iconv -f UTF-8 -t UTF-8 "$work/answer"
ok "… with the path's other bytes replaced" grep -q $'caf\xef\xbf\xbd.db' "$work/answer"
try "$satin" status latin
ok "the table is shown" grep -q 'up .*master' <<<"$answer"
ok "with a single job the time left is not known" grep -q '% done  time left not yet known  term ' <<<"$answer"
try "$satin" status "$latin" --json
is "the checkpoint's path names the run" "$code" 0
try "$satin" cancel latin
is "it is cancelled" "$code" 0
ended

# A tree of 6,561 leaves that sleep. When a part is saved, Satin can estimate the rest.
begin "$satin" run -n 2 -w 1 --name naps --interval 0.2 --checkpoint "$work/naps.db" -- "$SATIN_BIN/sleep" 30 --depth 8 --branch 3
left () { "$satin" status naps --json 2>/dev/null | sed -n 's/.*"left_s":\([0-9.]*\),"left_low_s":\([0-9.]*\),"left_high_s":\([0-9.]*\),.*/\1 \2 \3/p'; }
has_left () { left >"$work/left" && [ -s "$work/left" ]; }
ok "a run with saved jobs shows the time left" wait_for $((60 * slow)) has_left
ok "… which is in its range" awk '{ exit !($2 <= $1 && $1 <= $3 && $1 > 0) }' "$work/left"
shows_left () { "$satin" status naps | grep -qE '% done  about [^(]* left \([^)]* to [^)]*\)  term '; }
ok "… in words, too" wait_for $((60 * slow)) shows_left
has_metric () { "$satin" metrics naps | grep -qE '^satin_left_high_seconds\{run="naps"\} [0-9]'; }
ok "… as metrics" wait_for $((60 * slow)) has_metric
# One of the two nodes is stopped, for less time than it takes to be taken for dead.
still=$(other_of naps)
kill -STOP "$still"
says () { "$satin" status naps | grep -qE "^ +1\\.2 +$still +local +$1 "; }
ok "a stopped node is silent" wait_for $((20 * slow)) says silent
is "… in JSON, too, of that node alone" "$("$satin" status naps --json | grep -o '"silent":[a-z]*' | tr '\n' ' ')" '"silent":false "silent":true '
kill -CONT "$still"
ok "… and up when it continues" wait_for $((20 * slow)) says up
try "$satin" cancel naps
is "it is cancelled" "$code" 0
ended
finish
