# SPDX-License-Identifier: BSD-3-Clause
# Reads the samples of make plans, PART|CASE|PLAN|FIGURE|VALUE a line, and the lists `papers` and `bounds`. table.awk or
# plot.awk, given after this file, writes the results.
#   median[key], low[key], high[key], count[key]   of a key PART|CASE|PLAN|FIGURE
#   names[part, "case" or "plan", i]               the cases and plans of a part, in the order of their first sample

BEGIN { FS = "|"; n_plans = split(plans, plan_names, " ") }

{
  key = $1 FS $2 FS $3 FS $4
  if (!(key in count))
    keys[++n_keys] = key
  sample[key, ++count[key]] = $5 + 0
  enter($1, "case", $2)
  enter($1, "plan", $3)
}

function enter(part, kind, name)
{
  if ((part, kind, name) in entered)
    return
  entered[part, kind, name] = 1
  names[part, kind, ++n_names[part, kind]] = name
}

function sort_all(    k, key, i, j, value)
{
  for (k = 1; k <= n_keys; k++)
    {
      key = keys[k]
      for (i = 2; i <= count[key]; i++)
        {
          value = sample[key, i]
          for (j = i - 1; j >= 1 && sample[key, j] > value; j--)
            sample[key, j + 1] = sample[key, j]
          sample[key, j + 1] = value
        }
      low[key] = sample[key, 1]
      high[key] = sample[key, count[key]]
      i = int((count[key] + 1) / 2)
      median[key] = count[key] % 2 ? sample[key, i] : (sample[key, i] + sample[key, i + 1]) / 2
    }
}

# Sorts the columns of the part order: the plans in the order of `plans`, each with its intervals, then the other columns.
function arrange_order(    i, j, n, old, name, placed)
{
  n = n_names["order", "plan"]
  for (j = 1; j <= n; j++)
    old[j] = names["order", "plan", j]
  n_names["order", "plan"] = 0
  for (i = 1; i <= n_plans + 1; i++)
    for (j = 1; j <= n; j++)
      {
        name = old[j]
        sub(/ .*/, "", name)
        if (old[j] in placed || (i <= n_plans && name != plan_names[i]))
          continue
        placed[old[j]] = 1
        names["order", "plan", ++n_names["order", "plan"]] = old[j]
      }
}

# The value of a line of a list (see `papers`); "" if it was not run. Sets `value_of_case` to the case with the worst value.
function evaluate(kind, a, b,    k, worst, value, base, f, g)
{
  if (kind == "value")
    return a in median ? median[a] : ""
  if (kind == "less")
    return a in median && b in median ? 100 * (1 - median[a] / median[b]) : ""
  if (kind == "more")
    return a in median && b in median ? 100 * (median[a] / median[b] - 1) : ""
  if (kind == "over")
    return a in median ? 100 * (median[a] - 1) : ""
  worst = ""
  split(a, f, FS)
  for (k = 1; k <= n_keys; k++)
    {
      split(keys[k], g, FS)
      base = g[1] FS g[2] FS b FS g[4]
      if (f[1] != g[1] || f[3] != g[3] || f[4] != g[4] || (f[2] != "*" && index("+" f[2] "+", "+" g[2] "+") == 0) \
          || (kind == "beyond" && !(base in median)))
        continue
      value = median[keys[k]] - (kind == "beyond" ? median[base] : 0)
      if (worst == "" || value > worst)
        {
          worst = value
          value_of_case = g[2]
        }
    }
  return worst
}

# Turns a key of a list, with commas, into a key of the arrays.
function key_of(text)
{
  gsub(/,/, FS, text)
  return text
}
