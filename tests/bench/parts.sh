# SPDX-License-Identifier: BSD-3-Clause
# The parts of the benchmark: which runs are made. Sourced by bench.sh. `measures` lists the figures that are computed from
# them.

plan_parts ()
{
  local bench

  # one: one worker against plain C.
  for bench in "fib 40" "nqueens 13" "uts T1" "uts T3"; do
    plan one "$bench" serial 1 1
    plan one "$bench" satin 1 1
  done
  plan one "fibcall 40" satin 1 1
  plan one "sum 1000000000" satin 1 1
  plan one "sumhand 1000000000" satin 1 1

  # peers: the other runtimes on the same kernels. Their fib 40 takes ten seconds.
  for bench in "fib 32" "nqueens 12" "uts T1" "uts T3" "sum 1000000000"; do
    plan peers "$bench" serial 1 1
    plan peers "$bench" satin 1 1
    plan peers "$bench" satin 2 1
    plan peers "$bench" openmp 1 1
    plan peers "$bench" openmp 2 1
    plan peers "$bench" tbb 1 1
    plan peers "$bench" tbb 2 1
  done
  plan peers "nqueens 13" openmp 1 1
  plan peers "nqueens 13" tbb 1 1
  plan peers "fib 40" openmp 1 1 1
  plan peers "fib 40" tbb 1 1 1

  # two: two workers in one process. nodes: two processes of one worker. Both against the ceiling, which two processes of plain
  # C at once show.
  for bench in "fib 42" "nqueens 14" "uts T1" "uts T3"; do
    plan two "$bench" serial 1 1
    plan two "$bench" serial-twice 2 2
    plan two "$bench" satin 1 1
    plan two "$bench" satin 2 1
  done
  for bench in "fib 44" "nqueens 14" "integrate 1e-10" "uts T3L"; do
    plan nodes "$bench" serial 1 1
    plan nodes "$bench" serial-twice 2 2
    plan nodes "$bench" satin 1 1
    plan nodes "$bench" satin 2 2
  done
}

figure () # NAME VALUE
{
  echo "$1|$2" >>"$figures"
}

# Makes a run of two nodes of one worker each, which share a page.
pair () # [OPTIONS…] -- COMMAND…
{
  rm -f "$work/shared"
  BENCH_SHARED=$work/shared limited "$satin" run -n 2 -w 1 "$@"
}

# The p50 of a steal over TLS.
tls_steal ()
{
  local line
  line=$(pair --tcp -- "$bin/probe" 300 0) && echo "${line%% *}"
}

# steal: the time from a request to the job, compared with a plain exchange of as many bytes; over TLS compared with a Unix
# socket.
part_steal ()
{
  local round mode count gap line p50 request reply raw tls _
  for ((round = 1; round <= ROUNDS; round++)); do
    for mode in "spinning 300 0" "asleep 60 15000"; do
      read -r mode count gap <<<"$mode"
      say "round $round of $ROUNDS: steal, $mode"
      line=$(pair -- "$bin/probe" "$count" "$gap") || { failed "steals, $mode"; return; }
      read -r p50 _ _ request reply <<<"$line"
      raw=$("$bin/raw" "$mode" "$count" "$gap" "$request" "$reply") || { failed "raw, $mode"; return; }
      figure "steal $mode" "$p50"
      figure "raw $mode" "${raw%% *}"
      figure "steal $mode over raw" "$(awk -v a="$p50" -v b="${raw%% *}" 'BEGIN { print a - b }')"
      [ "$mode" = spinning ] || continue
      tls=$(tls_steal) || { failed "steals over TLS"; return; }
      figure "steal tls over unix" "$(awk -v a="$tls" -v b="$p50" 'BEGIN { print a - b }')"
    done
  done
}

# bulk: results of 64 MiB from the other process.
part_bulk ()
{
  local round line
  for ((round = 1; round <= ROUNDS; round++)); do
    say "round $round of $ROUNDS: bulk"
    line=$(pair -- "$bin/throughput" 64 5) || { failed "bulk over Unix sockets"; return; }
    figure "bulk unix" "$(sed 's/.*median \([0-9.]*\).*/\1/' <<<"$line")"
    line=$(pair --tcp -- "$bin/throughput" 64 5) || { failed "bulk over TCP"; return; }
    figure "bulk tcp" "$(sed 's/.*median \([0-9.]*\).*/\1/' <<<"$line")"
  done
}

# Fewer rounds for figures that hardly change from round to round.
few_rounds=$((ROUNDS < 6 ? 1 : ROUNDS / 3))

# Prints the value of a key in a file of --stats.
stat_of () { sed -n 's/.*"'"$1"'": *\([0-9.e+-]*\).*/\1/p' "$2"; }

# checkpoint: the share of the CPU time that scans, the driver's thread and the scribe's take; for a shallow and a deep tree.
part_checkpoint ()
{
  local round bench interval
  for ((round = 1; round <= few_rounds; round++)); do
    for bench in "nqueens 15" "uts T3L"; do
      for interval in 1 0.1; do
        say "round $round: checkpoint of $bench each $interval s"
        # shellcheck disable=SC2086
        limited "$bin/satin" $bench --workers 2 --checkpoint "$work/c.satin" --interval $interval --stats "$work/stats" \
          >"$work/answer" || { failed "$bench with a checkpoint"; continue; }
        rm -f "$work"/c.satin*
        figure "checkpoint $bench $interval" "$(awk -v a="$(stat_of scan_s "$work/stats")" \
          -v b="$(stat_of driver_s "$work/stats")" -v c="$(stat_of scribe_s "$work/stats")" \
          -v all="$(stat_of cpu_s "$work/stats")" 'BEGIN { printf "%.4f", 100 * (a + b + c) / all }')"
      done
    done
  done
}

# Prints the CPU seconds of process PID.
cpu_of ()
{
  if ! cat "/proc/$1"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { if (NR > 0) print ns / 1e9; exit NR == 0 }'; then
    sed 's/.*) //' "/proc/$1/stat" | awk -v tick="$(getconf CLK_TCK)" '{ print ($12 + $13) / tick }'
  fi
}

# idle: the CPU time of a node without work, while the only job, on the other node, sleeps.
part_idle ()
{
  local before after pid node=
  say "an idle node for $IDLE_S s"
  "$satin" run -n 2 -w 1 --name bench-idle -- "$BENCH_BUILD/bin/sleep" $(((IDLE_S + 4) * 1000)) --depth 0 >"$work/answer" &
  sleep 2
  for pid in $("$satin" status bench-idle --json | tr '{' '\n' | grep -v '"master"' | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p'); do
    node=$pid
  done
  [ -n "$node" ] || { failed "no idle node"; return; }
  before=$(cpu_of "$node")
  sleep "$IDLE_S"
  after=$(cpu_of "$node")
  wait $!
  figure idle "$(awk -v a="$before" -v b="$after" -v s="$IDLE_S" 'BEGIN { print (b - a) * 60 / s }')"
}

# memory: the peak resident memory with two workers, and what each further worker adds.
part_memory ()
{
  local round few many
  for ((round = 1; round <= few_rounds; round++)); do
    say "memory"
    few=$(limited "$bin/satin" fib 42 --workers 2) && many=$(limited "$bin/satin" fib 42 --workers 10) \
      || { failed "memory"; return; }
    figure "memory two" "$(awk -v a="${few##* }" 'BEGIN { print a / 1024 }')"
    figure "memory further" "$(awk -v a="${few##* }" -v b="${many##* }" 'BEGIN { print (b - a) / 8 / 1024 }')"
  done
}

other_parts ()
{
  local part
  for part in steal bulk checkpoint idle memory; do
    if wanted $part; then
      part_$part
    fi
  done
  say
}
