#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin view` of a live run with many rows, in check-long a million: the size of a page, and the processor time of the view.
# The page of a thousand nodes is measured in test-view-model; both together stay under 300 KB.
. "$(dirname "$0")/lib.sh"
file=$work/c.satin
levels=20
is_long && width=50000 || width=1000
export WIDE_GO=$work/go
wide=("$SATIN_BIN/../tests/e2e/wide" 450 "$levels" "$width")

ask () # REQUEST-LINE [HEADER…]: sets $answer to the whole reply of the server at $port
{
  local line
  exec 5<>"/dev/tcp/127.0.0.1/$port" || return
  { for line in "$@" ''; do printf '%s\r\n' "$line"; done; } >&5
  answer=$(timeout $((60 * slow)) cat <&5 | tr -d '\r\0')
  exec 5>&-
}
body () { tail -n +2 <<<"$answer" | sed '1,/^$/d'; }
# How often the view has read the checkpoint: it sends the ledger with each complete state.
readings () { grep -o '^data: {"kind":"ledger","generation":[0-9]*' "$work/events" | sort -u | wc -l; }
has_read () { [ "$(readings)" -ge "$1" ]; }
spent () { awk '{ print ($14 + $15) * 10 }' "/proc/$viewer/stat"; } # milliseconds
now () { date +%s%3N; }

# All leaves have run, and a suspend saves them. Then the run is resumed, and waits.
begin "$satin" run -n 1 -w 1 --name large --checkpoint "$file" -- "${wide[@]}"
ok "a node is up" wait_for $((20 * slow)) up large 1
all_ran () { [ -e "$WIDE_GO.waits" ]; }
ok "the leaves have run" wait_for $((120 * slow)) all_ran
"$satin" suspend large 2>/dev/null
ended
is "the run is suspended" "$code" 75
ok "there is a row for each leaf" [ "$(rows "$file")" -ge $((levels * width)) ]
begin "$satin" run -n 1 -w 1 --name large --checkpoint "$file" -- "${wide[@]}"
ok "the run is resumed" wait_for $((60 * slow)) up large 1

"$satin" view large >"$work/url" 2>/dev/null &
viewer=$!
has_url () { grep -q '?token=' "$work/url"; }
ok "a view begins" wait_for $((20 * slow)) has_url
url=$(cat "$work/url") port=${url#http://127.0.0.1:} token=${url#*token=}
port=${port%%/*}
ask "GET /?token=$token HTTP/1.1" "Host: 127.0.0.1:$port"
cookie="Cookie: $(sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p' <<<"$answer")"
exec 5<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /events HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n%s\r\n\r\n' "$port" "$cookie" >&5
timeout 3600 cat <&5 >"$work/events" &
streamer=$!
exec 5>&-
ok "the view has read the checkpoint" wait_for $((120 * slow)) has_read 1
n=$(readings) from=$(now) began=$(spent)
bytes=0
for part in / /page.js /page.css '/boxes?path=%2F'; do
  ask "GET $part HTTP/1.1" "Host: 127.0.0.1:$port" "$cookie"
  bytes=$((bytes + $(body | wc -c)))
done
boxes=$(body | grep -o '"k":"saved"' | wc -l)
bytes=$((bytes + $(grep -m 1 '^data: {"kind":"whole"' "$work/events" | wc -c) + $(grep -m 1 '^data: {"kind":"ledger"' "$work/events" | wc -c)))
ok "the tree is wide: $boxes boxes" [ "$boxes" -ge 400 ]
ok "a page gets less than 180 KB: $bytes" [ "$bytes" -lt 180000 ]
# The time from one reading to the next includes everything that the view does repeatedly.
ok "the view reads the checkpoint again" wait_for $((1200 * slow)) has_read $((n + 1))
used=$(($(spent) - began)) in=$(($(now) - from))
is "the view takes less than 50 ms a second of one core, in all" "$((used * 1000 / in < 50))" 1
echo "# $used ms in $in ms, $((used * 1000 / in)) a second; $bytes bytes"
kill "$viewer" "$streamer" 2>/dev/null
wait "$viewer" "$streamer" 2>/dev/null
"$satin" cancel large 2>/dev/null
ended
is "the run is cancelled" "$code" 7
finish
