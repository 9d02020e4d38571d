# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2030,SC2031,SC2154 # plans.sh and sizes.sh set the others
# The runs of make plans: each starts real nodes, does to them what its case says, checks the answer and writes figures into
# $samples. Sourced by plans.sh.

# Figures of one run: PART|CASE|PLAN|FIGURE|VALUE.
sample () { echo "$1|$2|$3|$4|$5" >>"$samples"; }

# A run that did not work is named at the end, and the rest goes on.
failed () # WORDS
{
  echo "FAILED: $1" >>"$warnings"
  say
  echo "plans: $1" >&2
  [ ! -s "$work/err" ] || tail -n 3 "$work/err" | sed 's/^/plans: | /' >&2
}

calculate () { awk "BEGIN { printf \"%.6f\", $1 }"; }
more () { awk "BEGIN { exit !($1 > $2) }"; }
stat_of () { sed -n 's/.*"'"$1"'": *\([0-9.e+-]*\).*/\1/p' "$work/stats"; }
pause () { if more "$1" 0; then sleep "$1"; fi; }
is_up () { kill -0 "$launcher" 2>/dev/null; }

# The nodes of a run, eldest first, a line each: ID PID ROLES SITE.
nodes_of ()
{
  "$satin" status "$1" --json 2>/dev/null | tr -d ' \n' | sed 's/.*"nodes":\[//' | sed 's/},{/}\n{/g' \
    | sed -n 's/.*"id":"\([0-9.]*\)".*"pid":\([0-9]*\),"site":"\([^"]*\)","roles":\[\([^]]*\)\].*/\1 \2 [\4] \3/p'
}

# The options that a plan needs; its checkpoint is new.
options_of () # PLAN INTERVAL
{
  options=(--protect "$1")
  rm -f "$file"*
  has_file "$1" && options+=(--checkpoint "$file" --interval "$2")
}

# Starts a run in the background, without what an earlier one left; `now` is the time since then.
start () # COMMAND…
{
  rm -rf "${runs:?}" "$work/stats"
  begun=$EPOCHREALTIME
  timeout -k 10 "$limit_s" "$@" >"$work/out" 2>"$work/err" </dev/null &
  launcher=$!
}
now () { calculate "$EPOCHREALTIME - $begun"; }
# Waits for the end of that run, at `ended`, with the launcher's exit code.
finish ()
{
  local code
  wait "$launcher"
  code=$?
  ended=$(now)
  return $code
}
# The same; FALSE: the answer is wrong. No node may stay.
answered () # NAME ANSWER
{
  local answer
  finish
  kill_nodes
  answer=$(head -n 1 "$work/out")
  [ "$answer" = "$2" ] || { failed "$1: the answer is '$answer', not '$2'"; return 1; }
}

# Waits until so many nodes have joined. `joined`: a line for each, PID SECONDS, from the time of its log.
joined_all () # NAME NODES
{
  local log
  while is_up; do
    [ "$(grep -ls 'joined as node' "$runs/$1"/node-*.log | grep -c .)" -ge "$2" ] && break
    sleep 0.05
  done
  is_up || return 1
  for log in "$runs/$1"/node-*.log; do
    pid=${log##*node-}
    echo "${pid%.log} $(calculate "$(stat -c %.Y "$log") - $begun")"
  done >"$work/joined"
}

# The process numbers of the nodes that go, by case.
choose_victims () # CASE
{
  local site
  site=$(awk '/"master"/ { print $4 }' "$work/nodes")
  case $1 in
    one) awk '!/"master"/ && !/"coordinator"/ { pid = $2 } END { print pid }' "$work/nodes" ;;
    master) awk '/"master"/ { print $2 }' "$work/nodes" ;;
    coordinator) awk '/"coordinator"/ { print $2 }' "$work/nodes" ;;
    neighbours) awk -v n=$((sleep_nodes / 2)) '!/"master"/ { seen++; if (seen == n - 1 || seen == n) print $2 }' "$work/nodes" ;;
    half | leave) awk -v site="$site" '$4 != site { print $2 }' "$work/nodes" ;;
    half-coordinator)
      awk -v half=$((sleep_nodes / 2)) '/"coordinator"/ { print $2; next } !/"master"/ { pids[++n] = $2 }
        END { for (i = 0; i < half - 1; i++) print pids[n - i] }' "$work/nodes"
      ;;
    half-master | leave-master) awk -v site="$site" '$4 == site { print $2 }' "$work/nodes" ;;
  esac
}

# Half time is when the nodes have done half of the work. With a checkpoint it is the middle of the interval in which that
# falls: the interval begins when the file was last published.
wait_for_half () # PLAN INTERVAL
{
  local half published
  half=$(awk -v work="$work_s" -v w="$sleep_workers" '{ n++; sum += $2 } END { printf "%.6f", (work / 2 / w + sum) / n }' \
    "$work/joined")
  has_file "$1" || { pause "$(calculate "$half - $(now)")"; return; }
  pause "$(calculate "$half - $2 / 2 - $(now)")"
  published=$(calculate "$(stat -c %.Y "$file" 2>/dev/null || echo "$begun") - $begun")
  pause "$(awk -v last="$published" -v i="$2" -v now="$(now)" 'BEGIN { t = last + i / 2; while (t < now) t += i; print t - now }')"
}

# When the run would be over if all nodes had worked from joining to dying and nothing was lost, from the first join on.
ideal_of () # KILLED: seconds; $work/victims
{
  awk -v work="$work_s" -v w="$sleep_workers" -v killed="$1" -v victims="$(tr '\n' ' ' <"$work/victims")" '
    BEGIN { n = split(victims, v, " "); for (i = 1; i <= n; i++) dead[v[i]] = 1; first = 1e9 }
    { first = $2 < first ? $2 : first }
    $1 in dead { work -= w * (killed - $2); next }
    { alive += w; work += w * $2 }
    END { printf "%.6f %.6f", first, work / alive - first }' "$work/joined"
}

# A founder that cannot reach the checkpoint is master, but not coordinator.
deny_place () # CASE
{
  place=()
  [[ $1 == *coordinator ]] || return
  rm -rf "$work/numbers" && mkdir "$work/numbers"
  place=(env LD_PRELOAD="$slow_place" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME="${file##*/}" SLOW_PLACE_DENIED=1)
}

# Some runs of sleep at once, since their nodes need little of a core: each in a lane, a subshell with files and runs of its own.
# Its samples stand apart until the round is over, so that their order is that of the tasks.
run_in_lane () # TASK SLEEP-RUN-ARGUMENTS…
{
  local lane part
  part=$work/parts/$(printf '%04d' "$1")
  shift
  mkdir -p "$work/parts"
  while [ "$(jobs -rp | wc -l)" -ge "$sleep_lanes" ]; do wait -n; done # which also tells of what ended before
  for ((lane = 1; lane < sleep_lanes; lane++)); do
    [[ " $(jobs -rp | tr '\n' ' ')" == *" ${lanes[lane]:-none} "* ]] || break
  done
  (
    work=$work/lane-$lane
    trap kill_nodes EXIT
    trap 'exit 1' INT TERM
    mkdir -p "$work"
    export XDG_STATE_HOME=$work/state
    runs=$XDG_STATE_HOME/satin/runs file=$work/run.satin samples=$part
    sleep_run "$@"
  ) &
  lanes[lane]=$!
}
lanes=()
end_lanes ()
{
  wait
  cat "$work/parts/"* >>"$samples" 2>/dev/null
  rm -rf "$work/parts"
}

# sleep on nodes of two sites; `case` says who goes at half time. A run that was over by then is made again.
sleep_run () # CASE PLAN SHARE
{
  local _
  for _ in 1 2 3 4 5; do
    sleep_once "$@"
    [ $? -eq 2 ] || return
  done
  failed "$1, $2: the run was over before its dead were missed, five times"
}

# 2: it was over before a node was killed, or missed.
sleep_once () # CASE PLAN SHARE: of a run's time, the interval of its checkpoint
{
  local case=$1 plan=$2 share=$3 nodes=$sleep_nodes name killed=0 victims=0 interval first ideal time label=$2 options place signal=KILL uptime=0
  [ "$case" = fewer ] && nodes=$fewer_nodes
  interval=$(calculate "$share * $work_s / $sleep_nodes / $sleep_workers")
  name="$case, $plan"
  printf '[site one]\nnodes = %d\nworkers = %d\n[site two]\nnodes = %d\nworkers = %d\n' \
    $((nodes / 2)) "$sleep_workers" $((nodes - nodes / 2)) "$sleep_workers" >"$work/sites"
  options_of "$plan" "$interval"
  deny_place "$case"
  start "${place[@]}" "$satin" run --sites "$work/sites" --name plans --stats "$work/stats" --trace "$work/trace" "${options[@]}" -- \
    "$bin/sleep" "$sleep_ms" --depth "$sleep_depth"
  : >"$work/victims"
  : >"$work/nodes"
  joined_all plans "$nodes" || { answered "$name" "$sleep_answer"; return 2; }
  if [ "$case" != calm ] && [ "$case" != fewer ]; then
    nodes_of plans >"$work/nodes"
    choose_victims "$case" >"$work/victims"
    [[ $case != leave* ]] || signal=TERM
    wait_for_half "$plan" "$interval"
    killed=$(now) uptime=$(cut -d' ' -f1 /proc/uptime)
    # shellcheck disable=SC2046
    kill -$signal $(cat "$work/victims") 2>/dev/null
    victims=$(grep -c . "$work/victims")
    is_up || { answered "$name" "$sleep_answer"; return 2; }
  fi
  answered "$name" "$sleep_answer" || return
  [ "$victims" -gt 0 ] || [ "$killed" = 0 ] || { failed "$name: there was no node to kill"; return; }
  [ "$signal" = TERM ] || [ "$(stat_of crashes)" -ge "$victims" ] || return 2
  [ "$signal" = TERM ] || [ "$(stat_of crashes)" -eq "$victims" ] || failed "$name: $(stat_of crashes) crashes, not $victims"
  read -r first ideal <<<"$(ideal_of "$killed")"
  time=$(calculate "$ended - $first")
  has_file "$plan" && label="$plan $(calculate "$share * 100" | sed 's/\..*//') %"
  sleep_samples crash "$case" "$plan"
  case $case in
    half | half-master) sleep_samples order crash "$label" ;;
    leave*) sleep_samples order crash leave ;;
    fewer) sleep_samples order crash fewer ;;
  esac
}

# How many of the victims had that role.
count_victims () # ROLE
{
  awk -v role="\"$1\"" -v victims="$work/victims" 'BEGIN { while ((getline pid < victims) > 0) dead[pid] = 1 }
    $2 in dead && index ($3, role) { n++ } END { print n + 0 }' "$work/nodes"
}

# Seconds from the kill to when the last job that a dead node had borrowed was back at its lender; nothing: none came back. By the
# marks `lost` of --trace, whose clock is that of /proc/uptime, read in hundredths of a second.
last_back ()
{
  sed -n 's/.*"ts":\([0-9]*\),"name":"lost".*/\1/p' "$work/trace" 2>/dev/null \
    | awk -v killed="$uptime" '$1 / 1e6 > killed { last = $1 / 1e6 > last ? $1 / 1e6 : last } END { if (last) printf "%.3f\n", last - killed }'
}

# What nodes sent each other, the most memory of one for results of others, and messages that waited for a keeper: in theft and
# buddy each of them is a save that a steal or a result forced.
sample_traffic () # PART CASE PLAN
{
  local kind
  [ -n "$(stat_of kept_bytes)" ] || return # no node has reported
  for kind in $sent_kinds; do
    sample "$1" "$2" "$3" "sent_${kind}_kb" "$(calculate "$(stat_of "sent_${kind}_bytes") / 1000")"
  done
  sample "$1" "$2" "$3" kept_kb "$(calculate "$(stat_of kept_bytes) / 1000")"
  sample "$1" "$2" "$3" waits "$(stat_of waits)"
  sample "$1" "$2" "$3" waited_s "$(stat_of waited_s)"
}

sleep_samples () # PART CASE PLAN
{
  [ "$1" = order ] || { [ "$share" = "$share_middle" ] && [[ $case != leave* ]] && [ "$case" != fewer ]; } || return
  sample "$1" "$2" "$3" over "$(calculate "$time / $ideal")"
  sample "$1" "$2" "$3" time_s "$time"
  sample "$1" "$2" "$3" ideal_s "$ideal"
  sample "$1" "$2" "$3" redone_s "$(stat_of redone_s)"
  sample "$1" "$2" "$3" salvaged_s "$(stat_of salvaged_s)"
  sample "$1" "$2" "$3" saves "$(stat_of saves)"
  sample_traffic "$1" "$2" "$3"
  [ "$victims" -eq 0 ] || [ -z "$(last_back)" ] || sample "$1" "$2" "$3" back_s "$(last_back)"
  sample "$1" "$2" "$3" masters "$(count_victims master)"
  sample "$1" "$2" "$3" coordinators "$(count_victims coordinator)"
}

# A program alone, with one worker: the answer that the others are compared with, where none is published.
answer_of () # WORDS…
{
  local program=$1
  shift
  timeout "$limit_s" "$bin/$program" --workers 1 "$@" 2>"$work/err" | head -n 1
}
# COMMAND: NAME|WORDS|ANSWER, see sizes.sh; sets `name`, `command` and `wanted`.
read_command ()
{
  local words
  IFS='|' read -r name words wanted <<<"$1"
  read -ra command <<<"$words"
  [ "$wanted" != = ] && return
  [ -n "${alone[$words]-}" ] || alone[$words]=$(answer_of "${command[@]}")
  wanted=${alone[$words]}
  [ -n "$wanted" ] || failed "$name: no answer alone"
}
declare -A alone

# Two nodes of one worker; `time` is from the first join to the end, `cpu` that of all processes.
timed_run () # NAME ANSWER [OPTION…] -- WORDS…
{
  local name=$1 wanted=$2 first
  shift 2
  start "$satin" run -n 2 -w 1 --name plans --stats "$work/stats" "$@"
  joined_all plans 2
  first=$(sort -k 2n "$work/joined" | awk 'NR == 1 { print $2 }')
  answered "$name" "$wanted" || return
  time=$(calculate "$ended - $first") cpu=$(stat_of cpu_s)
}

# A run is suspended at half time and resumed; beside it one that is not, in the same round.
suspend_run () # NUMBER
{
  local name command wanted time cpu all_time all_cpu first
  read_command "${suspend_commands[$1]}"
  timed_run "$name" "$wanted" -- "$bin/${command[0]}" "${command[@]:1}" || return
  all_time=$time all_cpu=$cpu
  rm -f "$file"*
  start "$satin" run -n 2 -w 1 --name plans --stats "$work/stats" --checkpoint "$file" -- "$bin/${command[0]}" "${command[@]:1}"
  joined_all plans 2
  first=$(sort -k 2n "$work/joined" | awk 'NR == 1 { print $2 }')
  pause "$(calculate "$all_time / 2 + $first - $(now)")"
  "$satin" suspend plans >"$work/words" 2>&1
  finish
  [ $? -eq 75 ] || { kill_nodes; failed "$name: it was not suspended"; return; }
  time=$(calculate "$ended - $first") cpu=$(stat_of cpu_s)
  sample suspend "$name" suspend file_kb "$(calculate "$(stat -c %s "$file") / 1000")"
  start "$satin" resume "$file" -n 2 -w 1 --name plans --stats "$work/stats"
  joined_all plans 2
  first=$(sort -k 2n "$work/joined" | awk 'NR == 1 { print $2 }')
  answered "$name, resumed" "$wanted" || return
  sample suspend "$name" suspend over "$(calculate "($time + $ended - $first) / $all_time")"
  sample suspend "$name" suspend over_cpu "$(calculate "($cpu + $(stat_of cpu_s)) / $all_cpu")"
  sample suspend "$name" suspend redone_s "$(stat_of redone_s)"
  sample suspend "$name" suspend time_s "$(calculate "$time + $ended - $first")"
  sample suspend "$name" uninterrupted time_s "$all_time"
}

# Nothing fails: which part of the CPU time goes into protection. What a keeper does it does in its driver's thread.
overhead_run () # NUMBER PLAN INTERVAL
{
  local name command wanted time cpu plan=$2 label=$2 options
  read_command "${overhead_commands[$1]}"
  [ "$3" = auto ] || label="$2 $3 s"
  options_of "$plan" "$3"
  timed_run "$name, $plan" "$wanted" "${options[@]}" -- "$bin/${command[0]}" "${command[@]:1}" || return
  sample overhead "$name" "$label" share "$(calculate \
    "100 * ($(stat_of scan_s) + $(stat_of driver_s) + $(stat_of scribe_s)) / $cpu")"
  sample overhead "$name" "$label" scan "$(calculate "100 * $(stat_of scan_s) / $cpu")"
  sample overhead "$name" "$label" driver "$(calculate "100 * $(stat_of driver_s) / $cpu")"
  sample overhead "$name" "$label" scribe "$(calculate "100 * $(stat_of scribe_s) / $cpu")"
  sample overhead "$name" "$label" cpu_s "$cpu"
  sample overhead "$name" "$label" time_s "$time"
  sample overhead "$name" "$label" steals "$(stat_of steals_remote)"
  sample_traffic overhead "$name" "$label"
}
