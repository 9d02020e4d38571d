#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A long run whose nodes are killed, added, told to leave and stopped at random, beside short runs that are suspended, killed
# and resumed. All answers are right. The two nodes that stay have as much memory and as many descriptors at the end as after
# five minutes (or after a third of the time, if that is less). Usage: soak.sh MINUTES; SEED=N repeats the random choices.
. "$(dirname "$0")/lib.sh"
minutes=${1:-30}
echo "# $minutes minutes"
file=$work/long.satin
base=4 # the number of nodes at the start

pids () { nodes_of long | awk '/ up$/ { print $1 }'; }
# others: all nodes except the two that stay. any_other: one of them, if there is any.
others () { pids | grep -vxF -e "$first" -e "$second"; }
any_other () { others | shuf -n 1 --random-source=<(yes "$RANDOM"); }

# Shows the logs of the two nodes that stay, and how their descriptors changed.
show_logs ()
{
  local pid
  for pid in $first $second; do
    tail -n 15 "$runs/long/node-$pid.log" | sed 's/^/# | /'
    diff "$work/fd.$pid.early" "$work/fd.$pid.late" 2>/dev/null | sed "s/^/# $pid /"
  done
}

happen () # does one random thing to the run
{
  local victim
  victim=$(any_other)
  case $((RANDOM % 5)) in
    0) [ -n "$victim" ] && kill -9 "$victim" && killed=$((killed + 1)) ;;
    1) [ -n "$victim" ] && kill -TERM "$victim" && left=$((left + 1)) ;;
    2 | 3) [ "$(pids | wc -l)" -lt 7 ] && "$satin" add long -n 1 -w 1 >/dev/null 2>&1 && added=$((added + 1)) ;;
    4)
      # Sometimes for so long that the node is taken for dead.
      local pause=$((RANDOM % 8))
      [ $((RANDOM % 5)) -eq 0 ] && pause=35
      [ -n "$victim" ] && kill -STOP "$victim" && (sleep $pause; kill -CONT "$victim") 2>/dev/null &
      stopped=$((stopped + 1))
      ;;
  esac 2>/dev/null
}

# All nodes except the two that stay are told to leave. What these had for the others must be gone, too, however many there
# were: only then can descriptors be compared. After that there is time for things that end by themselves (unneeded links,
# threads).
settled () { [ "$(nodes_of long | grep -c .)" -eq 2 ] && [ "$(pids | wc -l)" -eq 2 ]; }
settle ()
{
  local until=$((SECONDS + 120)) victim
  # Stopped nodes continue first.
  for victim in $(our_nodes); do kill -CONT "$victim" 2>/dev/null; done
  until settled; do
    [ $SECONDS -ge $until ] && return 1
    for victim in $(others); do kill -TERM "$victim"; done
    sleep 2
  done
  sleep 20
}

# Prints lines PID RSS-KIB DESCRIPTORS for the two nodes that stay: the median of nine samples in nine seconds, since a sample
# may fall on a publication or a command. The last sample's descriptors are kept in $work/fd.PID.NAME.
middle () { sort -n | awk '{ all[NR] = $1 } END { print all[int ((NR + 1) / 2)] }'; }
measure () # NAME
{
  local pid look
  : >"$work/looks"
  for look in 1 2 3 4 5 6 7 8 9; do
    for pid in $first $second; do
      echo "$pid $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") $(find "/proc/$pid/fd" -mindepth 1 | wc -l)" >>"$work/looks"
    done
    sleep 1
  done
  for pid in $first $second; do
    find "/proc/$pid/fd" -mindepth 1 -printf '%f %l\n' 2>/dev/null | sort -n >"$work/fd.$pid.$1"
    echo "$pid $(awk -v p="$pid" '$1 == p { print $2 }' "$work/looks" | middle)" \
      "$(awk -v p="$pid" '$1 == p { print $3 }' "$work/looks" | middle)"
  done
}

# Makes short runs, one after the other, until the time is over. Lines with BAD are failures.
short_runs ()
{
  local i=0 name kind code answer
  RANDOM=$(((seed + 1) % 32768))
  while [ $SECONDS -lt $end ]; do
    i=$((i + 1)) name=short$i kind=$((RANDOM % 3))
    local place=$work/$name.satin
    "$satin" run -n $((RANDOM % 3 + 2)) -w 1 --name "$name" --checkpoint "$place" --interval 0.3 -- \
      "$SATIN_BIN/sleep" 50 --depth 8 >"$work/$name.answer" 2>"$work/$name.words" &
    wait_for 20 has_rows "$place" $((RANDOM % 30 + 1))
    case $kind in
      0) "$satin" suspend "$name" >/dev/null 2>&1 ;;
      1) kill -9 $(nodes_of "$name" | awk '{ print $1 }') 2>/dev/null ;;
      2) kill -9 "$(master_of "$name")" 2>/dev/null ;;
    esac
    wait $!
    code=$?
    [ $kind -eq 0 ] && [ $code -ne 75 ] && [ $code -ne 0 ] && echo "BAD $i: suspended with $code"
    if [ $code -ne 0 ]; then
      timeout 120 "$satin" resume "$place" -n $((RANDOM % 3 + 1)) -w 2 >"$work/$name.answer" 2>"$work/$name.words"
      code=$?
    fi
    answer=$(cat "$work/$name.answer")
    [ "$code:$answer" = "0:leaves 256" ] && echo "GOOD $i" || echo "BAD $i: $code:$answer: $(head -c 500 "$work/$name.words")"
    rm -f "$place"* "$work/$name".*
  done
}

# Fifty leaves a second or so. At the end many nodes do the rest.
depth=1
while [ $((1 << depth)) -lt $((minutes * 60 * 60)) ]; do depth=$((depth + 1)); done
killed=0 left=0 added=0 stopped=0
end=$((SECONDS + minutes * 60)) early=$((minutes > 15 ? 300 : minutes * 20))
begin "$satin" run -n $base -w 1 --tcp --name long --checkpoint "$file" --interval 2 -- \
  "$SATIN_BIN/sleep" 100 --depth $depth
ok "$base nodes are up" wait_for 20 up long $base
first=$(master_of long) second=$(other_of long)
short_runs >"$work/short" 2>/dev/null &
shorts=$!
early=$((SECONDS + early)) before=
while [ $SECONDS -lt $end ] && ! gone "$begun"; do
  happen
  sleep $((RANDOM % 3 + 1))
  if [ -z "$before" ] && [ $SECONDS -ge $early ]; then
    ok "only two nodes are left" settle
    before=$(measure early)
    "$satin" add long -n $((base - 2)) -w 1 >/dev/null 2>&1
  fi
done
ok "the long run has not ended" eval '! gone "$begun"'
ok "only two nodes are left" settle
after=$(measure late)
echo "# $killed killed, $left left, $added added, $stopped stopped"
echo "# PID RSS-KIB DESCRIPTORS, early:" $before
echo "# PID RSS-KIB DESCRIPTORS, late: " $after
for pid in $first $second; do
  for column in 2 3; do
    then=$(awk -v p="$pid" -v c=$column '$1 == p { print $c }' <<<"$before")
    now=$(awk -v p="$pid" -v c=$column '$1 == p { print $c }' <<<"$after")
    ok "$pid: $([ $column -eq 2 ] && echo memory || echo descriptors) as before: ${then:-none}, ${now:-none}" \
      [ "${now:-999999}" -le $((${then:-0} * 105 / 100)) ]
  done
done
ok "each kind of event happened" [ $((killed * left * added * stopped)) -gt 0 ]
"$satin" add long -n 6 -w 24 >/dev/null 2>&1
wait_for 300 gone "$begun" || kill "$begun"
ended
is "the answer of the long run" "$code:$answer" "0:leaves $((1 << depth))"
ok "its checkpoint is whole" eval 'integrity "$file" && "$satin" inspect --verify "$file" >/dev/null'
wait_for 150 gone $shorts
echo "# short runs: $(grep -c GOOD "$work/short") right"
ok "all short runs gave the right answer" eval 'grep -q GOOD "$work/short" && ! grep -q BAD "$work/short"'
grep BAD "$work/short" | sed 's/^/# /'
finish
