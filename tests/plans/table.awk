# SPDX-License-Identifier: BSD-3-Clause
# Writes plans.json and table.md into the folder `out`. Used after stats.awk. `about`: NAME|VALUE, a line about the machine and
# the runs; `warnings`: the failures.

function quoted(text)
{
  gsub(/\\/, "\\\\", text)
  gsub(/"/, "\\\"", text)
  return "\"" text "\""
}

function read_about(    line, i)
{
  while ((getline line < about) > 0)
    {
      i = index(line, FS)
      about_names[++n_about] = substr(line, 1, i - 1)
      about_value[about_names[n_about]] = substr(line, i + 1)
    }
}

function write_json(    i, j, f, json)
{
  json = out "/plans.json"
  printf "{" > json
  for (i = 1; i <= n_about; i++)
    printf "%s: %s,\n ", quoted(about_names[i]), quoted(about_value[about_names[i]]) > json
  printf "\"figures\": [" > json
  for (i = 1; i <= n_keys; i++)
    {
      split(keys[i], f, FS)
      printf "%s\n  {\"part\": %s, \"case\": %s, \"plan\": %s, \"figure\": %s, \"median\": %.6g, \"min\": %.6g, \"max\": %.6g, " \
             "\"values\": [", (i > 1 ? "," : ""), quoted(f[1]), quoted(f[2]), quoted(f[3]), quoted(f[4]), \
             median[keys[i]], low[keys[i]], high[keys[i]] > json
      for (j = 1; j <= count[keys[i]]; j++)
        printf "%s%.6g", (j > 1 ? ", " : ""), sample[keys[i], j] > json
      printf "]}" > json
    }
  printf "\n]}\n" > json
  close(json)
}

# A cell: "median (least to greatest)", or a dash.
function cell(key, form)
{
  if (!(key in median))
    return "-"
  if (count[key] == 1)
    return sprintf(form, median[key])
  return sprintf(form " (" form " to " form ")", median[key], low[key], high[key])
}

# A table of one figure of a part: a row for each case, a column for each plan.
function grid(part, figure, form, title,    i, j, line, rule)
{
  if (!((part, "case") in n_names))
    return
  line = "| " title " |"
  rule = "|---|"
  for (j = 1; j <= n_names[part, "plan"]; j++)
    {
      line = line " " names[part, "plan", j] " |"
      rule = rule "---|"
    }
  print line "\n" rule > md
  for (i = 1; i <= n_names[part, "case"]; i++)
    {
      line = "| " names[part, "case", i] " |"
      for (j = 1; j <= n_names[part, "plan"]; j++)
        line = line " " cell(part FS names[part, "case", i] FS names[part, "plan", j] FS figure, form) " |"
      print line > md
    }
  print "" > md
}

# A table of what nodes sent each other in a case, by kind of message, and of keepers: a row for each figure, a column for each
# plan.
function print_traffic(part, case,    names_of, figure, forms, n, i, j, line, rule, found)
{
  n = split("jobs, kB sent|results, kB sent|to keepers, kB sent|to the coordinator, kB sent|what is known of jobs, kB sent|" \
            "shared bytes, kB sent|all else, kB sent|most memory of a keeper, kB|messages that waited for a keeper|their waits, s", \
            names_of, "|")
  split("sent_jobs_kb sent_results_kb sent_keepers_kb sent_saves_kb sent_offers_kb sent_shared_kb sent_other_kb kept_kb waits " \
        "waited_s", figure, " ")
  line = "| " case " |"
  rule = "|---|"
  for (j = 1; j <= n_names[part, "plan"]; j++)
    if ((part FS case FS names[part, "plan", j] FS "kept_kb") in median)
      {
        line = line " " names[part, "plan", j] " |"
        rule = rule "---|"
        found = 1
      }
  if (!found)
    return
  print line "\n" rule > md
  for (i = 1; i <= n; i++)
    {
      line = "| " names_of[i] " |"
      for (j = 1; j <= n_names[part, "plan"]; j++)
        if ((part FS case FS names[part, "plan", j] FS "kept_kb") in median)
          line = line " " sprintf(figure[i] == "waited_s" ? "%.2f" : "%.0f", median[part FS case FS names[part, "plan", j] FS \
                                  figure[i]]) " |"
      print line > md
    }
  print "" > md
}

# The overhead minus that of naive, which protects nothing; from medians.
function print_protection(    i, j, line, rule, key, naive)
{
  line = "| two nodes of one worker |"
  rule = "|---|"
  for (j = 1; j <= n_names["overhead", "plan"]; j++)
    if (names["overhead", "plan", j] != "naive")
      {
        line = line " " names["overhead", "plan", j] " |"
        rule = rule "---|"
      }
  print "## overhead: the same less that of naive, in points: what protection costs without the stealing\n\n" line "\n" rule > md
  for (i = 1; i <= n_names["overhead", "case"]; i++)
    {
      naive = "overhead" FS names["overhead", "case", i] FS "naive" FS "share"
      line = "| " names["overhead", "case", i] " |"
      for (j = 1; j <= n_names["overhead", "plan"]; j++)
        {
          if (names["overhead", "plan", j] == "naive")
            continue
          key = "overhead" FS names["overhead", "case", i] FS names["overhead", "plan", j] FS "share"
          line = line " " ((key in median) && (naive in median) ? sprintf("%.2f", median[key] - median[naive]) : "-") " |"
        }
      print line > md
    }
  print "" > md
}

# The cost of a crash: the time beyond the ideal in seconds, minus that of a run without a crash; from medians.
function print_cost(    i, j, line, rule, key, calm)
{
  line = "| nodes killed at half time |"
  rule = "|---|"
  for (j = 1; j <= n_names["crash", "plan"]; j++)
    {
      line = line " " names["crash", "plan", j] " |"
      rule = rule "---|"
    }
  print "## crash: seconds that it cost: time less ideal, less the same of calm\n\n" line "\n" rule > md
  for (i = 1; i <= n_names["crash", "case"]; i++)
    {
      if (names["crash", "case", i] == "calm")
        continue
      line = "| " names["crash", "case", i] " |"
      for (j = 1; j <= n_names["crash", "plan"]; j++)
        {
          key = "crash" FS names["crash", "case", i] FS names["crash", "plan", j] FS
          calm = "crash" FS "calm" FS names["crash", "plan", j] FS
          line = line " " (((key "time_s") in median) && ((calm "time_s") in median) ? sprintf("%.2f", median[key "time_s"] \
                 - median[key "ideal_s"] - median[calm "time_s"] + median[calm "ideal_s"]) : "-") " |"
        }
      print line > md
    }
  print "" > md
}

# The order of merit: a row for each plan and interval, a column for each figure.
function print_order(    j, plan)
{
  if (!(("order", "plan") in n_names))
    return
  print "## order: half of the nodes go at half time, with the master in every second run\n" > md
  print "| | time, s | over the ideal | work done again, s | work salvaged, s |\n|---|---|---|---|---|" > md
  for (j = 1; j <= n_names["order", "plan"]; j++)
    {
      plan = "order" FS "crash" FS names["order", "plan", j] FS
      printf "| %s | %s | %s | %s | %s |\n", names["order", "plan", j], cell(plan "time_s", "%.2f"), \
             cell(plan "over", "%.3f"), cell(plan "redone_s", "%.1f"), cell(plan "salvaged_s", "%.1f") > md
    }
  print "" > md
}

function print_suspend(    i, key)
{
  if (!(("suspend", "case") in n_names))
    return
  print "## suspend: suspended at half time and resumed, over an uninterrupted run\n" > md
  print "| | uninterrupted, s | suspended and resumed, s | time over | CPU time over | work done again, s | file, kB |" > md
  print "|---|---|---|---|---|---|---|" > md
  for (i = 1; i <= n_names["suspend", "case"]; i++)
    {
      key = "suspend" FS names["suspend", "case", i] FS
      printf "| %s | %s | %s | %s | %s | %s | %s |\n", names["suspend", "case", i], \
             cell(key "uninterrupted" FS "time_s", "%.2f"), cell(key "suspend" FS "time_s", "%.2f"), \
             cell(key "suspend" FS "over", "%.3f"), cell(key "suspend" FS "over_cpu", "%.3f"), \
             cell(key "suspend" FS "redone_s", "%.2f"), cell(key "suspend" FS "file_kb", "%.0f") > md
    }
  print "" > md
}

function print_papers(    line, f, value, shown)
{
  print "## Beside the papers\n" > md
  print "| | here | the paper | paper, figure |\n|---|---|---|---|" > md
  while ((getline line < papers) > 0)
    {
      if (line ~ /^#/ || split(line, f, FS) < 7)
        continue
      value = evaluate(f[2], key_of(f[3]), key_of(f[4]))
      shown = value == "" ? "not run" : sprintf("%.3g %s", value, f[5]) (f[2] ~ /^(worst|beyond)$/ ? ", " value_of_case : "")
      printf "| %s | %s | %s | %s |\n", f[1], shown, f[6], f[7] > md
    }
  print "" > md
}

function print_bounds(    line, f, value)
{
  print "## What was expected\n" > md
  print "| | here | must | aim | |\n|---|---|---|---|---|" > md
  while ((getline line < bounds) > 0)
    {
      if (line ~ /^#/ || split(line, f, FS) < 6)
        continue
      value = evaluate(f[2], key_of(f[3]), key_of(f[4]))
      printf "| %s | %s | %s | %s | %s |\n", f[1], value == "" ? "not run" : sprintf("%.3g", value), shown_bound(f[5]), \
             shown_bound(f[6]), value == "" ? "" : verdict(value, f[5], f[6], f[3]) > md
    }
  print "" > md
}

function shown_bound(bound)
{
  return (substr(bound, 1, 1) == "<" ? "at most " : "at least ") substr(bound, 2)
}

function reached(value, bound)
{
  return substr(bound, 1, 1) == "<" ? value <= substr(bound, 2) + 0 : value >= substr(bound, 2) + 0
}

# A ratio well below 1 shows that the machine was busier during the other run.
function verdict(value, must, aim, what)
{
  if (what ~ /,over(_cpu)?$/ && value < LEAST_RATIO)
    return "not believed"
  return reached(value, aim) ? "reaches the aim" : reached(value, must) ? "ok" : "MISSED"
}

END {
  md = out "/table.md"
  sort_all()
  arrange_order()
  read_about()
  write_json()
  print "# The plans of protection side by side\n" > md
  print "Medians, and in brackets the least and the greatest of the rounds. How the runs are made and what the words mean: " \
        "tests/plans/README.\n" > md
  for (i = 1; i <= n_about; i++)
    print "- " about_names[i] ": " about_value[about_names[i]] > md
  if (about_value["wait"] > BUSY_WAIT)
    print "\n**The machine was busy: a short piece of work took " about_value["wait"] " times its CPU time. " \
          "Times mean little; work done again and CPU shares suffer less.**" > md
  print "" > md
  if (("crash", "case") in n_names)
    {
      print "## crash: the time over the ideal\n" > md
      grid("crash", "over", "%.3f", "nodes killed at half time")
      print_cost()
      print "## crash: seconds of work that were done again\n" > md
      grid("crash", "redone_s", "%.1f", "nodes killed at half time")
      print "## crash: seconds from the kill to when the last job that a dead node had borrowed was back at its lender\n" > md
      grid("crash", "back_s", "%.2f", "nodes killed at half time")
      print "## crash: what nodes sent each other, and keepers\n" > md
      print_traffic("crash", "calm")
      print_traffic("crash", "half")
    }
  print_order()
  print_suspend()
  if (("overhead", "case") in n_names)
    {
      print "## overhead: CPU time of scans, driver and scribe, in % of all; nothing fails\n" > md
      grid("overhead", "share", "%.2f", "two nodes of one worker")
      print_protection()
      print "## overhead: what nodes sent each other, and keepers\n" > md
      for (i = 1; i <= n_names["overhead", "case"]; i++)
        print_traffic("overhead", names["overhead", "case", i])
    }
  print_papers()
  print_bounds()
  while ((getline line < warnings) > 0)
    print "- " line > md
  close(md)
}

BEGIN { BUSY_WAIT = 1.15; LEAST_RATIO = 0.97 }
