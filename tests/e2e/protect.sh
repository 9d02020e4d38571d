#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same crash of real processes under each plan of protection: the answer is right, and the rows that the file holds of the
# dead node are used, also if that node was coordinator. Jobs are so large that a node cannot finish a stolen job before it
# dies: all its rows in the file lie below a job that comes back. How many jobs each plan executes again is measured in virtual
# time: tests/sim.
. "$(dirname "$0")/lib.sh"
choose_heavy
file=$work/p.satin
figure () { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/stats"; }
more () { awk "BEGIN { exit !($1 > $2) }"; }
ask () { sqlite3 "file:$file?mode=ro" "$1" 2>/dev/null; }
has_role () { victim=$(nodes_of crash | awk -v role="\"$1\"" 'index ($2, role) && !/"master"/ { print $1; exit }'); [ -n "$victim" ]; }
id_of () { "$satin" status crash --json | tr -d ' \n' | sed 's/{"id"/\n&/g' | sed -n "s/^{\"id\":\"\([0-9.]*\)\".*\"pid\":$1,.*/\1/p"; }

# TRUE if the node that will be killed has done much, as far as the plan shows that: in the file, by the work at risk of all
# nodes, or by that of the node.
much_is_done () # PLAN PID
{
  case $1 in
    checkpoint) [ "$(ask "SELECT total (work_s) > 1 FROM readable WHERE node LIKE '$(id_of "$2").%'")" = 1 ] ;;
    auto | buddy | mirror) has_worked crash 3 ;;
    *) has_worked crash 1 "$2" ;;
  esac
}

# TRUE if the coordinator knows that a node has left; it has then read the rows of that node.
is_noted () { [ "$(ask "SELECT count (*) FROM event WHERE kind = 'left'")" = 1 ]; }

# Kills a node that is not the master when the run has done much, and waits for the end of the run.
crash () # PLAN OPTION…
{
  local plan=$1
  shift
  begin "${slowly[@]}" "$satin" run -n 3 -w 1 --name crash --stats "$work/stats" --protect "$plan" "$@" -- "${heavy[@]}"
  ok "$what: three nodes are up" wait_for $((10 * slow)) up crash 3
  if [ ${#slowly[@]} -gt 0 ]; then
    ok "$what: a node other than the master is elected" wait_for $((20 * slow)) has_role coordinator
  else
    victim=$(other_of crash)
  fi
  ok "$what: much is done" wait_for $((20 * slow)) much_is_done "$plan" "$victim"
  kill -9 "$victim"
  # A launcher that sees the end of the run first counts no crash.
  ok "$what: the launcher reports the death" wait_for $((20 * slow)) grep -q "node $victim died (signal 9)" "$work/begun.words"
  [ "$plan" = checkpoint ] && ok "$what: the dead node is in the ledger" wait_for $((20 * slow)) is_noted
  finished
  is "$what: the answer" "$answer" "$heavy_answer"
  is "$what: one crash" "$(figure crashes)" 1
  ok "$what: --stats shows what it cost" more "$(figure lost_s)" 0
}

# The published Satin never looked up the rows of a crashed node in the file (S2).
crash_with_file ()
{
  crash checkpoint --checkpoint "$file" --interval 0.3
  ok "S2, $what: work of the dead node is salvaged" more "$(figure salvaged_s)" 0.5
  ok "$what: less is lost than was salvaged" more "$(figure salvaged_s)" "$(figure lost_s)"
  ok "$what: each slot that came back has a row" [ "$(ask \
    "SELECT count (*) FROM event WHERE kind = 'requeued' AND work_s > 0 AND path IS NOT NULL")" -ge 1 ]
  is "$what: with the sum of the losses" "$(ask \
    "SELECT abs (total (work_s) - $(figure lost_s)) < 0.01 FROM event WHERE kind = 'requeued'")" 1
  ok "$what: … once" is_noted
}

slowly=() what=naive
crash naive
ok "naive: nothing is salvaged" [ "$(figure salvaged_s)" = 0 ]
what=orphan
crash orphan
what=auto
crash auto
ok "auto: work of the dead node is salvaged without a file" more "$(figure salvaged_s)" 0.3
ok "auto: less is lost than was salvaged" more "$(figure salvaged_s)" "$(figure lost_s)"
what=buddy
crash buddy
ok "buddy: work of the dead node is salvaged without a file" more "$(figure salvaged_s)" 0.3
what=mirror
crash mirror
ok "mirror: work of the dead node is salvaged without a file" more "$(figure salvaged_s)" 0.3
is "mirror: nothing waited" "$(figure waits)" 0
what=cut
epoch_has_others () { [ "$(ask "SELECT count (DISTINCT node) > 1 FROM readable")" = 1 ]; }
begin "$satin" run -n 4 -w 1 --name cut --stats "$work/stats" --protect cut --checkpoint "$file" --interval 0.3 -- "${heavy[@]}"
ok "cut: four nodes are up" wait_for $((10 * slow)) up cut 4
ok "cut: an epoch has rows of several nodes" wait_for $((20 * slow)) epoch_has_others
try "$satin" save cut
is "cut: satin save waits for an epoch" "$code" 0
kill -9 "$(other_of cut)"
finished
is "cut: the answer, after a crash" "$code:$answer" "0:$heavy_answer"
rm -f "$file"
# With four nodes most steals and results go to a node that is not the keeper.
begin "$satin" run -n 4 -w 1 --name four --stats "$work/stats" --protect theft -- "${heavy[@]}"
ok "theft: four nodes are up" wait_for $((10 * slow)) up four 4
ok "theft: they have worked" wait_for $((20 * slow)) has_worked four 12
finished
is "theft: four nodes" "$code:$answer" "0:$heavy_answer"
ok "theft: messages waited for keepers" more "$(figure waits)" 0
what=checkpoint
crash_with_file

# The path to the file is slow for all nodes except one, which is not the founder.
what=coordinator
if ${CC:-cc} -shared -fPIC -O1 -o "$work/slow-place.so" "$SATIN_SOURCE/tests/e2e/slow-place.c" -ldl 2>"$work/words" \
    && [ -z "${SATIN_SANITIZED-}" ]; then
  rm -f "$file" && mkdir "$work/numbers"
  slowly=(env LD_PRELOAD="$work/slow-place.so" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME=p.satin SLOW_PLACE_FAST=1)
  crash_with_file
else
  skip "a coordinator that is not the master" "no way to make the path of some nodes slow"
fi

naps=("$SATIN_BIN/sleep" 20 --depth 9)
# The other figure of work at risk: that of the death of one node.
begin "$satin" run -n 4 -w 1 --name one -- "${heavy[@]}"
ok "one: four nodes are up" wait_for $((10 * slow)) up one 4
ok "one: much is done" wait_for $((20 * slow)) has_worked one 4
# Nodes report it from time to time, and a row is at risk until its keeper has it.
one_is_less ()
{
  local status one all
  status=$("$satin" status one --json)
  one=$(sed -n 's/.*"at_risk_s":\([0-9.]*\),"at_risk_all_s".*/\1/p' <<<"$status")
  all=$(sed -n 's/.*"at_risk_all_s":\([0-9.]*\).*/\1/p' <<<"$status")
  more "$all" "$one"
}
ok "one: any node alone has less at risk than all together" wait_for $((20 * slow)) one_is_less
"$satin" cancel one >/dev/null 2>&1
ended

try "$satin" run --protect never -- "${naps[@]}"
is "an unknown plan is refused" "$code" 2
try "$satin" run --protect buddy -- "${naps[@]}"
is "buddy needs two nodes" "$code" 2
try "$satin" run --protect mirror -n 1 -- "${naps[@]}"
is "mirror needs two nodes" "$code" 2
try "$satin" run --protect checkpoint -- "${naps[@]}"
is "checkpoint needs a file" "$code" 2
try "$satin" run --protect cut -- "${naps[@]}"
is "cut needs a file" "$code" 2
try "$satin" run --protect naive --checkpoint "$work/q.satin" -- "${naps[@]}"
is "naive takes none" "$code" 2
# A conflict is refused with one message, wherever the plan, the number of nodes and the checkpoint are given.
refused () # NAME WORDS COMMAND…
{
  local name=$1 sentence=$2
  shift 2
  try "$@"
  is "$name: exit code" "$code" 2
  is "$name: one message" "$(grep -c . <<<"$words"):$(grep -cF -- "$sentence" <<<"$words")" 1:1
}
nap=("$SATIN_BIN/sleep" 1 --depth 2)
printf '[site one]\nnodes = 1\n' >"$work/one"
refused "a file of sites with one node" "--protect buddy needs two nodes" "$satin" run --sites "$work/one" --protect buddy -- "${nap[@]}"
refused "a checkpoint after the program" "--protect naive conflicts with --checkpoint" \
  "$satin" run -n 2 --protect naive -- "${nap[@]}" --checkpoint "$work/q.satin"
refused "a plan after the program" "--protect cut needs --checkpoint" "$satin" run -n 2 -- "${nap[@]}" --protect cut
for plan in buddy theft mirror; do
  refused "$plan, a program alone" "--protect $plan needs two nodes" "${nap[@]}" --protect $plan --checkpoint "$work/q.satin"
done
for plan in checkpoint cut; do
  refused "$plan, a program alone without a file" "--protect $plan needs --checkpoint" "${nap[@]}" --protect $plan
  try "${nap[@]}" --protect $plan --checkpoint "$work/$plan.satin"
  is "$plan, a program alone with one" "$code:$answer" "0:leaves 4"
  try "$satin" run -n 2 --protect $plan -- "${nap[@]}" --checkpoint "$work/$plan-2.satin"
  is "$plan with a checkpoint after the program" "$code:$answer" "0:leaves 4"
done
for plan in naive orphan; do
  refused "$plan, a program alone with a file" "--protect $plan conflicts" "${nap[@]}" --protect $plan --checkpoint "$work/q.satin"
  try "${nap[@]}" --protect $plan
  is "$plan, a program alone without one" "$code:$answer" "0:leaves 4"
  refused "$plan, resumed" "--protect $plan conflicts" "$satin" resume "$work/cut.satin" --protect $plan
done
refused "no plan, a program alone" "--protect takes auto, naive" "${nap[@]}" --protect never
finish
