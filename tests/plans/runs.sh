# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2030,SC2031,SC2154 # plans.sh and sizes.sh set the others
# The runs of make plans: each starts real nodes, does what its case says, checks the answer and writes figures to $samples.
# Sourced by plans.sh.

# Records a figure of a run: PART|CASE|PLAN|FIGURE|VALUE.
sample () { echo "$1|$2|$3|$4|$5" >>"$samples"; }

# Reports a failed run at once and again at the end; the other runs go on.
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

# The nodes of a run, eldest first, one a line: ID PID ROLES SITE.
nodes_of ()
{
  "$satin" status "$1" --json 2>/dev/null | tr -d ' \n' | sed 's/.*"nodes":\[//' | sed 's/},{/}\n{/g' \
    | sed -n 's/.*"id":"\([0-9.]*\)".*"pid":\([0-9]*\),"site":"\([^"]*\)","roles":\[\([^]]*\)\].*/\1 \2 [\4] \3/p'
}

# Sets `options` to those of the plan. A checkpoint is always a new one.
options_of () # PLAN INTERVAL
{
  options=(--protect "$1")
  rm -f "$file"*
  has_file "$1" && options+=(--checkpoint "$file" --interval "$2")
}

# Starts a run in the background, after removing what an earlier one left. `now` prints the time since the start.
start () # COMMAND…
{
  rm -rf "${runs:?}" "$work/stats"
  begun=$EPOCHREALTIME
  timeout -k 10 "$limit_s" "$@" >"$work/out" 2>"$work/err" </dev/null &
  launcher=$!
}
now () { calculate "$EPOCHREALTIME - $begun"; }
# Waits for the end of that run. Sets `ended` to its time and returns the launcher's exit code.
finish ()
{
  local code
  wait "$launcher"
  code=$?
  ended=$(now)
  return $code
}
# Waits like `finish` and ends all nodes. FALSE if the answer is wrong.
answered () # NAME ANSWER
{
  local answer
  finish
  kill_nodes
  answer=$(head -n 1 "$work/out")
  [ "$answer" = "$2" ] || { failed "$1: the answer is '$answer', not '$2'"; return 1; }
}

# Waits until so many nodes have joined. Writes the file `joined`: a line PID SECONDS for each, by the time of its log.
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

# Prints the process ids of the nodes to end, by case.
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

# Half time is when the nodes have done half of the work. With a checkpoint it is the middle of the interval that contains that
# time; an interval begins with a publication of the file.
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

# Prints the time of the first join, and the ideal time of the run from then on: if all nodes had worked from joining to their
# death or the end, and no work was lost.
ideal_of () # KILLED: seconds; $work/victims
{
  awk -v work="$work_s" -v w="$sleep_workers" -v killed="$1" -v victims="$(tr '\n' ' ' <"$work/victims")" '
    BEGIN { n = split(victims, v, " "); for (i = 1; i <= n; i++) dead[v[i]] = 1; first = 1e9 }
    { first = $2 < first ? $2 : first }
    $1 in dead { work -= w * (killed - $2); next }
    { alive += w; work += w * $2 }
    END { printf "%.6f %.6f", first, work / alive - first }' "$work/joined"
}

# Denies the founder access to the checkpoint: it is master, but not coordinator.
deny_place () # CASE
{
  place=()
  [[ $1 == *coordinator ]] || return
  rm -rf "$work/numbers" && mkdir "$work/numbers"
  place=(env LD_PRELOAD="$slow_place" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME="${file##*/}" SLOW_PLACE_DENIED=1)
}

# Makes some runs of `sleep` at once, since their nodes need little processor time. Each runs in a lane, a subshell with its own
# files and runs. Its samples are kept in a file of its own until the round is over, so that their order is that of the tasks.
run_in_lane () # TASK SLEEP-RUN-ARGUMENTS…
{
  local lane part
  part=$work/parts/$(printf '%04d' "$1")
  shift
  mkdir -p "$work/parts"
  while [ "$(jobs -rp | wc -l)" -ge "$sleep_lanes" ]; do wait -n; done # wait -n also returns for a lane that has already ended
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

# Runs `sleep` on nodes of two sites; CASE says which nodes are ended at half time. A run that ended too early is repeated.
sleep_run () # CASE PLAN SHARE
{
  local _
  for _ in 1 2 3 4 5; do
    sleep_once "$@"
    [ $? -eq 2 ] || return
  done
  failed "$1, $2: the run was over before its dead were missed, five times"
}

# Returns 2 if the run ended before a node was killed or its death was noticed. SHARE: the interval of the checkpoint as a share
# of the run's time.
sleep_once () # CASE PLAN SHARE
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

# Prints how many victims had ROLE.
count_victims () # ROLE
{
  awk -v role="\"$1\"" -v victims="$work/victims" 'BEGIN { while ((getline pid < victims) > 0) dead[pid] = 1 }
    $2 in dead && index ($3, role) { n++ } END { print n + 0 }' "$work/nodes"
}

# Prints the seconds from the kill until the last job that a dead node had borrowed was back at its lender; nothing if none came
# back. Uses the marks `lost` of --trace. Their clock is that of /proc/uptime, which has hundredths of a second.
last_back ()
{
  sed -n 's/.*"ts":\([0-9]*\),"name":"lost".*/\1/p' "$work/trace" 2>/dev/null \
    | awk -v killed="$uptime" '$1 / 1e6 > killed { last = $1 / 1e6 > last ? $1 / 1e6 : last } END { if (last) printf "%.3f\n", last - killed }'
}

# Records what nodes sent each other, the most memory that a node used for results of others, and the messages that waited for a
# keeper. In theft and buddy each of these is a save that a steal or a result forced.
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

# Prints the answer of the program alone, with one worker. Other runs are compared with it if no answer is published.
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

# Makes a run of two nodes of one worker. Sets `time`, from the first join to the end, and `cpu`, that of all processes.
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

# Makes an uninterrupted run, and then one that is suspended at half time and resumed.
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

# Makes a run without faults: the share of the CPU time that protection takes. A keeper works in the thread of its driver.
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
