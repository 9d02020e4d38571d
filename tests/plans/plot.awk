# SPDX-License-Identifier: BSD-3-Clause
# Writes an SVG into the folder `out` for each part that was run. Used after stats.awk. A bar is a median; its line goes from
# the least to the greatest value. A grey band is the paper's figure.

BEGIN {
  WIDTH = 1000; HEIGHT = 360; LEFT = 60; RIGHT = 10; TOP = 44; BOTTOM = 64
  split("#999999 #e69f00 #56b4e9 #009e73 #0072b2 #d55e00 #cc79a7 #f0e442 #000000", colours, " ")
}

function escape(text)
{
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  return text
}

function put(x, y, anchor, text)
{
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, escape(text) > svg
}

function y_of(value)
{
  value = value < bottom ? bottom : value > top ? top : value
  return TOP + (top - value) / (top - bottom) * (HEIGHT - TOP - BOTTOM)
}

function line(x1, y1, x2, y2, style)
{
  printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style > svg
}

function box(x, y1, y2, width, style)
{
  printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x, y1, width, y2 - y1, style > svg
}

# An axis from `from` to `to` in round steps.
function begin_plot(name, title, from, to,    step, value)
{
  svg = out "/" name ".svg"
  step = 10 ^ int(log((to - from) / 5) / log(10) - 1)
  while ((to - from) / step > 8)
    step = step * ((to - from) / step > 40 ? 5 : 2)
  bottom = from
  top = from + step * (int((to - from) / step) + 1)
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" " \
         "font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT > svg
  put(LEFT, 16, "start", title)
  for (value = bottom; value <= top + step / 2; value += step)
    {
      line(LEFT, y_of(value), WIDTH - RIGHT, y_of(value), "stroke=\"#dddddd\"")
      put(LEFT - 6, y_of(value) + 4, "end", sprintf("%.4g", value))
    }
}

function end_plot()
{
  line(LEFT, y_of(bottom), WIDTH - RIGHT, y_of(bottom), "stroke=\"black\"")
  print "</svg>" > svg
  close(svg)
}

# A bar of (median + offset) * scale.
function bar(x, width, key, colour, scale, offset,    middle, least, most)
{
  if (!(key in median))
    return
  box(x, y_of((median[key] + offset) * scale), y_of(bottom), width, "fill=\"" colour "\"")
  middle = x + width / 2
  least = y_of((low[key] + offset) * scale)
  most = y_of((high[key] + offset) * scale)
  line(middle, least, middle, most, "stroke=\"black\"")
  line(middle - 3, least, middle + 3, least, "stroke=\"black\"")
  line(middle - 3, most, middle + 3, most, "stroke=\"black\"")
}

# The median of such a bar as a number, above its line.
function label(x, width, key, scale, offset)
{
  if (key in median)
    put(x + width / 2, y_of((high[key] + offset) * scale) - 5, "middle", sprintf("%.3g", (median[key] + offset) * scale))
}

function greatest(part, figure,    k, f, most)
{
  most = 0
  for (k = 1; k <= n_keys; k++)
    {
      split(keys[k], f, FS)
      if (f[1] == part && f[4] == figure && high[keys[k]] > most)
        most = high[keys[k]]
    }
  return most
}

# Groups of bars: a group for each case, a bar for each plan. `reference`: a line with the text `words`; "" means none.
function plot_groups(part, figure, title, scale, offset, reference, words,    i, j, n, group, width, x, most)
{
  n = n_names[part, "case"]
  if (n == 0)
    return
  most = (greatest(part, figure) + offset) * scale
  begin_plot(part, title, 0, most > reference + 0.1 ? most : reference + 0.1)
  group = (WIDTH - LEFT - RIGHT) / n
  width = group * 0.8 / n_names[part, "plan"]
  for (i = 1; i <= n; i++)
    {
      x = LEFT + group * (i - 1) + group * 0.1
      put(x + group * 0.4, HEIGHT - BOTTOM + 18, "middle", names[part, "case", i])
      for (j = 1; j <= n_names[part, "plan"]; j++)
        bar(x + width * (j - 1), width * 0.9, part FS names[part, "case", i] FS names[part, "plan", j] FS figure, colours[j], \
            scale, offset)
    }
  for (j = 1; j <= n_names[part, "plan"]; j++)
    {
      x = LEFT + (WIDTH - LEFT - RIGHT) / n_names[part, "plan"] * (j - 1)
      box(x, HEIGHT - 26, HEIGHT - 14, 12, "fill=\"" colours[j] "\"")
      put(x + 18, HEIGHT - 15, "start", names[part, "plan", j])
    }
  if (reference != "")
    {
      line(LEFT, y_of(reference), WIDTH - RIGHT, y_of(reference), "stroke=\"#666666\" stroke-dasharray=\"6 4\"")
      put(WIDTH - RIGHT, y_of(reference) - 4, "end", words)
    }
  end_plot()
}

# Paper 001's order of merit, as shares of the time of naive. A band is what remains of that time if the paper's percentages are
# applied one after the other.
function plot_order(    j, n, plan, x, width, scale, from, to)
{
  n = n_names["order", "plan"]
  if (n == 0 || !(("order" FS "crash" FS "naive" FS "time_s") in median))
    return
  scale = 100 / median["order" FS "crash" FS "naive" FS "time_s"]
  begin_plot("order", "Half of the nodes go at half time: % of the time of naive; grey: paper 001, Fig. 3", 0, \
             greatest("order", "time_s") * scale)
  width = (WIDTH - LEFT - RIGHT) / n
  for (j = 1; j <= n; j++)
    {
      plan = names["order", "plan", j]
      x = LEFT + width * (j - 1) + width * 0.1
      bar(x, width * 0.45, "order" FS "crash" FS plan FS "time_s", colours[1 + (j - 1) % 9], scale, 0)
      label(x, width * 0.45, "order" FS "crash" FS plan FS "time_s", scale, 0)
      from = plan == "orphan" ? 75 : plan ~ /^checkpoint/ ? 75 * 0.85 : plan == "leave" ? 60 : 0
      to = plan == "orphan" ? 85 : plan ~ /^checkpoint/ ? 85 * 0.9 : plan == "leave" ? 61 : 0
      if (from > 0)
        box(x + width * 0.5, y_of(to), y_of(from), width * 0.3, "fill=\"#bbbbbb\"")
      put(x + width * 0.4, HEIGHT - BOTTOM + 18, "middle", plan)
    }
  end_plot()
}

# Next to each bar is the paper's. Its figure is the first word of the paper's column in `papers`.
function plot_suspend(    i, n, name, x, width, list, f, most, key)
{
  n = n_names["suspend", "case"]
  if (n == 0)
    return
  while ((getline list < papers) > 0)
    if (split(list, f, FS) >= 7 && f[3] ~ /^suspend,.*,over$/)
      paper_says[key_of(f[3])] = f[6] + 0
  most = 100 * (greatest("suspend", "over") - 1)
  begin_plot("suspend", "Suspended at half time and resumed: % over an uninterrupted run; grey: paper 001, Table 2", 0, \
             most > 12 ? most : 12)
  width = (WIDTH - LEFT - RIGHT) / n
  for (i = 1; i <= n; i++)
    {
      name = names["suspend", "case", i]
      key = "suspend" FS name FS "suspend" FS "over"
      x = LEFT + width * (i - 1) + width * 0.2
      bar(x, width * 0.2, key, colours[5], 100, -1)
      label(x, width * 0.2, key, 100, -1)
      if (key in paper_says)
        box(x + width * 0.25, y_of(paper_says[key]), y_of(bottom), width * 0.2, "fill=\"#bbbbbb\"")
      put(x + width * 0.22, HEIGHT - BOTTOM + 18, "middle", name)
    }
  end_plot()
}

END {
  sort_all()
  arrange_order()
  plot_groups("crash", "over", "Nodes killed at half time: time, % over the ideal", 100, -1, "", "")
  plot_order()
  plot_suspend()
  plot_groups("overhead", "share", "Nothing fails: CPU time of scans, driver and scribe, % of all", 1, 0, 1.5, \
              "paper 000: below 1.5 %, QAP")
}
