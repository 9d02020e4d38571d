# SPDX-License-Identifier: BSD-3-Clause
# Prints the tables of scale.sh, from lines SIZE NAME VALUE. The SIZE of a simulated run is sim-NODES.
{
  if (!($1 in seen)) {
    seen[$1] = 1
    if ($1 ~ /^sim-/)
      sims[++n_sims] = substr($1, 5)
    else
      reals[++n_reals] = $1
  }
  value[$1, $2] = $3
}

function has(size, name) { return (size, name) in value }
function get(size, name) { return has(size, name) ? value[size, name] : "-" }

function over(size, name) {
  return has(size, name) ? sprintf("%.2f", value[size, name] / value[size, "ideal_s"]) : "-"
}

function more(size, name) {
  return has(size, name) && has(size, "crash_" name) ? \
    sprintf("%+.2f", value[size, "crash_" name] - value[size, name]) : "-"
}

# The largest size that has this figure; "" if there is none.
function largest(prefix, name,    i, best) {
  for (i in seen)
    if ((i ~ /^sim-/) == (prefix != "") && has(i, name) && (best == "" || nodes(i) > nodes(best)))
      best = i
  return best
}

function nodes(size) { sub(/^sim-/, "", size); return size + 0 }

# Prints one bound, for runs of `at` nodes. If there is no run of that size, the largest run stands for it.
function bound(what, at, prefix, name, limit, least, divide,    size, is, good, reached) {
  size = has(prefix at, name) ? prefix at : largest(prefix, name)
  if (size == "") {
    printf "| %s | %s | - | not measured |\n", what, (least ? ">= " : "<= ") limit
    return
  }
  is = divide == "" ? value[size, name] : value[size, name] / value[size, divide]
  good = least ? is >= limit : is <= limit
  reached = good ? "yes" : "no"
  if (nodes(size) != at)
    reached = good ? "not measured" : "no"
  printf "| %s | %s | %s%s | %s |\n", what, (least ? ">= " : "<= ") limit, \
    is == int(is) ? is : sprintf("%.3f", is), nodes(size) != at ? " (" nodes(size) " nodes)" : "", reached
}

END {
  if (n_reals > 0) {
    print "\n| real nodes | ideal, s | wall | over ideal | without start | all joined after, s | CPU, s | memory, MiB a node" \
      " | files a node, all | sockets a node | a crash: s more, CPU more |"
    print "|---|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= n_reals; i++) {
      s = reals[i]
      printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s, %s | %s | %s, %s |\n", s, get(s, "ideal_s"), get(s, "wall_s"),
        over(s, "wall_s"), over(s, "run_s"), get(s, "joined_s"), get(s, "cpu_s"), get(s, "pss_mib"), get(s, "fds"),
        get(s, "fds_all"), get(s, "sockets"), more(s, "wall_s"), more(s, "cpu_s")
    }
  }
  if (n_sims > 0) {
    print "\n| simulated nodes | efficiency | messages a node: joining, running | queue | links | one crash: noticed by all, ms;" \
      " over ideal; messages | a site: noticed by all, ms; over ideal; messages |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= n_sims; i++) {
      s = "sim-" sims[i]
      printf "| %s | %s | %s, %s | %s | %s | %s; %s; %s | %s; %s; %s |\n", sims[i], get(s, "efficiency"),
        get(s, "joining_messages"), get(s, "running_messages"), get(s, "queue"), get(s, "links"), get(s, "one_noticed_ms"),
        get(s, "one_over_ideal"), get(s, "one_messages"), get(s, "site_noticed_ms"), get(s, "site_over_ideal"),
        get(s, "site_messages")
    }
  }
  print "\n| bound | must | measured | reached |"
  print "|---|---|---|---|"
  bound("256 real nodes, wall over ideal", 256, "", "wall_s", 1.15, 0, "ideal_s")
  bound("256 real nodes, CPU seconds of all", 256, "", "cpu_s", 6, 0, "")
  bound("1,000 real nodes, wall without the start over ideal", 1000, "", "run_s", 1.3, 0, "ideal_s")
  bound("sockets of a node in a run of 1,000", 1000, "", "sockets", 64, 0, "")
  bound("1,000 simulated nodes on 5 sites, efficiency", 1000, "sim-", "efficiency", 0.90, 1, "")
  bound("... with a site lost at half, over ideal", 1000, "sim-", "site_over_ideal", 1.08, 0, "")
  bound("messages that the crash of one in 1,000 causes", 1000, "sim-", "one_messages", 1500, 0, "")
  bound("... of a site of 200", 1000, "sim-", "site_messages", 20000, 0, "")
}
