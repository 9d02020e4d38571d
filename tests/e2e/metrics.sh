#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin metrics` of a real run. promtool checks the output where it is installed.
. "$(dirname "$0")/lib.sh"
choose_heavy

try "$satin" metrics
is "without a run it is refused" "$code" 2
begin "$satin" run -n 2 -w 1 --name counted --checkpoint "$work/c.db" -- "${heavy[@]}"
ok "a run on two nodes" wait_for $((20 * slow)) up counted 2
has () { "$satin" metrics counted >"$work/metrics" 2>/dev/null && grep -qE -- "$1" "$work/metrics"; }
ok "the nodes are counted" wait_for $((20 * slow)) has '^satin_nodes\{run="counted",state="up"\} 2$'
ok "… the share done" wait_for $((20 * slow)) has '^satin_done_ratio\{run="counted"\} 0'
ok "… the work" wait_for $((20 * slow)) has '^satin_work_seconds_total\{run="counted",node="1\.2",site="local"\} [0-9]'
ok "… and what was lost" has '^satin_lost_seconds_total\{run="counted",node="1\.1",site="local"\} [0-9]'
is "the last line marks the end" "$(tail -n 1 "$work/metrics")" "# EOF"
ok "no path is in the output" sh -c "! grep -qF '$work' '$work/metrics'"
"$satin" metrics --prometheus counted >"$work/plain"
is "the format of Prometheus has the same figures" "$(sed -n 's/[ {].*//p' "$work/plain" | grep -v '#' | sort -u | tr '\n' ' ')" \
  "$(sed -n 's/[ {].*//p' "$work/metrics" | grep -v '#' | sort -u | tr '\n' ' ')"
is "each figure has a TYPE line with its name" "$(comm -3 <(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' "$work/plain" | grep -v '^satin_left' | sort) \
  <(sed -n 's/^\(satin[^{]*\){.*/\1/p' "$work/plain" | grep -v '^satin_left' | sort -u) | tr -d '\n')" ""
if command -v promtool >/dev/null 2>&1; then
  try sh -c "promtool check metrics <'$work/plain'"
  is "promtool has no complaint" "$code:$answer$words" 0:
  try sh -c "promtool check metrics <'$work/metrics'"
  ok "and no error in OpenMetrics" sh -c "! grep -qi error '$work/words'"
else
  skip "promtool has no complaint" "there is no promtool"
fi
# The server of `satin view` has the same figures: only with its token.
if ! command -v curl >/dev/null 2>&1; then
  skip "the view has the figures at /metrics" "there is no curl"
else
  "$satin" view counted >"$work/view" 2>"$work/view.words" &
  viewer=$!
  printed () { grep -q '^http' "$work/view"; }
  ok "a view" wait_for $((20 * slow)) printed
  place=$(sed -n '1s,/?token=.*,,p' "$work/view") token=$(sed -n '1s,.*token=,,p' "$work/view")
  page () { curl -s -m 20 -o "$work/page" -w '%{http_code} %{content_type}' "$@"; }
  is "the view has the figures at /metrics" "$(page "$place/metrics?token=$token")" \
    "200 application/openmetrics-text; version=1.0.0; charset=utf-8"
  is "… the same families" "$(grep '^# TYPE' "$work/page")" "$(grep '^# TYPE' "$work/metrics")"
  is "… up to the end" "$(tail -n 1 "$work/page")" "# EOF"
  is "… not without a token" "$(page "$place/metrics")" "403 text/plain; charset=utf-8"
  is "… nor with another token" "$(page "$place/metrics?token=${token//[0-8]/9}")" "403 text/plain; charset=utf-8"
  is "… nor under another host name" "$(page -H 'Host: example.org' "$place/metrics?token=$token")" "403 text/plain; charset=utf-8"
  is "… nor to another site's page" "$(page -H 'Origin: http://example.org' "$place/metrics?token=$token")" "403 text/plain; charset=utf-8"
  is "… and the token opens nothing else" "$(page "$place/boxes?token=$token")" "403 text/plain; charset=utf-8"
  kill "$viewer"
  wait "$viewer" 2>/dev/null
fi
kill -9 "$(other_of counted)"
ok "a death is seen" wait_for $((60 * slow)) has '^satin_nodes\{run="counted",state="up"\} 1$'
finished
is "the answer" "$answer" "$heavy_answer"
finish
