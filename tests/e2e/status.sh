#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `satin status` says of a run whose paths are no UTF-8.
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
ok "the table is read from it" grep -q 'up .*master' <<<"$answer"
try "$satin" status "$latin" --json
is "the path itself names the run" "$code" 0
try "$satin" cancel latin
is "it is cancelled" "$code" 0
ended
finish
