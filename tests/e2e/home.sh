#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Several hosts share a home: what the command on another host says of a run. The other host is a namespace with its own host
# name and processes, from which no process of the run is visible.
. "$(dirname "$0")/lib.sh"
space=(unshare --uts --pid --fork --mount-proc --kill-child)
[ "$(id -u)" -eq 0 ] || space=(unshare --map-root-user "${space[@]:1}")
if ! "${space[@]}" sh -c 'hostname other' >/dev/null 2>&1; then
  echo "1..0 # SKIP no namespaces can be made here"
  exit 0
fi
printf '#!/bin/sh\nexec %s sh -c '"'"'hostname other && exec "$@"'"'"' sh "$@"\n' "${space[*]}" >"$work/other"
chmod +x "$work/other"
nap=("$SATIN_BIN/sleep" $((600 * 1000)) --depth 0)
fib=("$SATIN_BIN/fib" 10)

begin "$satin" run -n 2 -w 1 --name shared --checkpoint "$work/c.db" -- "${nap[@]}"
launcher=$begun
ok "a run of two nodes" wait_for $((10 * slow)) up shared 2
try "$work/other" "$satin" run --name shared -- "${fib[@]}"
is "another host does not use its name" "$code" 1
ok "… since the run goes on" grep -q "a run named 'shared' is going on" <<<"$words"
ok "the folder is there" test -e "$runs/shared/run"
is "and the nodes are up" "$(nodes_of shared | grep -c ' up$')" 2
try "$work/other" "$satin" status shared
is "another host shows its status" "$code" 0
try "$work/other" "$satin" add shared
is "nodes are added where it was started" "$code" 1
ok "… and not on another host" grep -q "was started on host '$(hostname)'" <<<"$words"
ended_yet () { gone "$launcher"; }
ok "none of that ended the run" eval '! ended_yet'
kill -9 "$launcher" $(our_nodes)
wait "$launcher" 2>/dev/null
try "$work/other" "$satin" run --name shared -- "${fib[@]}"
is "dead processes of another host count for a while" "$code" 1
touch -d '11 minutes ago' "$runs"/shared/node-*.process
try "$work/other" "$satin" run --name shared -- "${fib[@]}"
is "without a heartbeat for ten minutes the name is free" "$code:$answer" "0:55"

# The process id of a dead process belongs to another process now.
begin "$satin" run -n 1 -w 1 --name again -- "${nap[@]}"
launcher=$begun
ok "a run of one node" wait_for $((10 * slow)) up again 1
kill -9 "$launcher" $(our_nodes)
wait "$launcher" 2>/dev/null
wait_for 5 no_nodes
for mark in "$runs"/again/node-*.process; do
  pid=${mark##*/node-} pid=${pid%.process}
  sed -i "1s/-$pid-/-$$-/" "$mark"
  mv "$mark" "$runs/again/node-$$.process"
done
sed -i "s/^launcher_pid=.*/launcher_pid=$$/" "$runs/again/run"
try "$satin" run --name again -- "${fib[@]}"
is "a process with the same id that started later is another one" "$code:$answer" "0:55"

# A program alone.
begin "$SATIN_BIN/sleep" $((600 * 1000)) --depth 0 --checkpoint "$work/alone.db"
alone_up () { "$satin" status "$work/alone.db" 2>/dev/null | grep -q ' up '; }
ok "a program alone" wait_for $((10 * slow)) alone_up
name=$(basename "$(dirname "$(grep -l alone.db "$runs"/*/run)")")
try "$work/other" "$satin" run --name "$name" -- "${fib[@]}"
is "another host does not use its name, either" "$code" 1
kill -9 "$begun"
wait "$begun" 2>/dev/null
finish
