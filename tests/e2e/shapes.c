/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of extreme shapes, each with a known answer: very deep, very wide, very large. */
#include <satin.h>

#include <stdlib.h>
#include <string.h>

#define WIDE_MAX 1000000

static uint64_t
mix (uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Work that the compiler cannot remove. */
static uint64_t
grind (uint64_t seed, uint32_t work)
{
  for (uint32_t i = 0; i < work; i++)
    seed = mix (seed);
  return seed;
}

/* A comb: at each level one heavy child and a leaf. */
SATIN_JOB (leaf, uint64_t, (uint64_t, seed), (uint32_t, work))
{
  return grind (seed, work);
}

SATIN_JOB (comb, uint64_t, (uint32_t, depth), (uint32_t, work))
{
  uint64_t heavy, light;

  if (depth == 0)
    return 0;
  satin_spawn (leaf, &light, depth, work);
  satin_spawn (comb, &heavy, depth - 1, work);
  satin_sync ();
  return heavy + light;
}

/* A comb whose heavy child is the one that thieves take. */
SATIN_JOB (spine, uint64_t, (uint32_t, depth), (uint32_t, work))
{
  uint64_t heavy, light;

  if (depth == 0)
    return 0;
  satin_spawn (spine, &heavy, depth - 1, work);
  satin_spawn (leaf, &light, depth, work);
  satin_sync ();
  return heavy + light;
}

static uint64_t
comb_expected (uint32_t depth, uint32_t work)
{
  uint64_t sum = 0;

  for (; depth > 0; depth--)
    sum += grind (depth, work);
  return sum;
}

/* A tree whose nodes have 4 children with the probability `chance` / 2^32, else none. Near a
 * quarter the tree is narrow, unbalanced and thousands of levels deep. */
SATIN_RECORD (Count, (uint64_t, nodes), (uint32_t, depth))

SATIN_JOB (narrow, Count, (uint64_t, seed), (uint32_t, chance))
{
  Count child[4], sum = { 1, 0 };

  if ((uint32_t)mix (seed) >= chance)
    return sum;
  for (uint32_t i = 0; i < 4; i++)
    satin_spawn (narrow, &child[i], mix (seed ^ (i + 1)), chance);
  satin_sync ();
  for (uint32_t i = 0; i < 4; i++)
    {
      sum.nodes += child[i].nodes;
      sum.depth = MAX (sum.depth, child[i].depth + 1);
    }
  return sum;
}

/* The expected counts of `narrow`, without recursion. */
static Count
narrow_expected (uint64_t root, uint32_t chance)
{
  g_autoptr (GArray) todo = g_array_new (FALSE, FALSE, 2 * sizeof (uint64_t));
  uint64_t at[2] = { root, 0 };
  Count sum = { 0, 0 };

  g_array_append_val (todo, at);
  while (todo->len > 0)
    {
      memcpy (at, todo->data + (todo->len - 1) * sizeof at, sizeof at);
      g_array_set_size (todo, todo->len - 1);
      sum.nodes++;
      sum.depth = MAX (sum.depth, (uint32_t)at[1]);
      for (uint32_t i = 0; (uint32_t)mix (at[0]) < chance && i < 4; i++)
        {
          uint64_t child[2] = { mix (at[0] ^ (i + 1)), at[1] + 1 };

          g_array_append_val (todo, child);
        }
    }
  return sum;
}

/* A job with `n` children: with small arguments, with arguments too large for a slot, or with
 * bytes. */
SATIN_RECORD (Block, (uint64_t, words, 32))

SATIN_JOB (block, uint64_t, (Block, block), (uint32_t, work))
{
  return grind (block.words[0] + block.words[31], work);
}

SATIN_JOB (text, SatinBytes, (uint64_t, seed), (SatinBytes, name), (uint32_t, work))
{
  uint64_t value = grind (seed + *(const uint8_t *)g_bytes_get_data (name, NULL), work);

  return satin_bytes (g_bytes_new (&value, sizeof value));
}

SATIN_JOB (wide, uint64_t, (uint32_t, n), (uint32_t, work))
{
  uint64_t result[WIDE_MAX], sum = 0;

  for (uint32_t i = 0; i < n; i++)
    satin_spawn (leaf, &result[i], i, work);
  satin_sync ();
  for (uint32_t i = 0; i < n; i++)
    sum = sum * 3 + result[i];
  return sum;
}

SATIN_JOB (blocks, uint64_t, (uint32_t, n), (uint32_t, work))
{
  uint64_t result[WIDE_MAX], sum = 0;

  for (uint32_t i = 0; i < n; i++)
    satin_spawn (block, &result[i], (Block){ { [0] = i, [31] = 7 } }, work);
  satin_sync ();
  for (uint32_t i = 0; i < n; i++)
    sum = sum * 3 + result[i];
  return sum;
}

SATIN_JOB (texts, uint64_t, (uint32_t, n), (uint32_t, work))
{
  SatinBytes result[WIDE_MAX];
  uint64_t sum = 0;

  for (uint32_t i = 0; i < n; i++)
    {
      uint8_t name[16] = { 7 };

      satin_spawn (text, &result[i], i, satin_bytes (g_bytes_new (name, sizeof name)), work);
    }
  satin_sync ();
  for (uint32_t i = 0; i < n; i++)
    sum = sum * 3 + *(const uint64_t *)g_bytes_get_data (result[i], NULL);
  return sum;
}

static uint64_t
wide_expected (uint32_t n, uint64_t more, uint32_t work)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < n; i++)
    sum = sum * 3 + grind (i + more, work);
  return sum;
}

/* Two children make the same mebibytes of bytes, and their parent compares them. */
SATIN_JOB (bulk, SatinBytes, (uint32_t, mebibytes), (uint64_t, seed), (uint32_t, work))
{
  gsize size = (gsize)mebibytes << 20;
  uint64_t *words = g_malloc (size);

  seed += grind (seed, work) & 1;
  for (gsize i = 0; i < size / sizeof *words; i++)
    words[i] = mix (seed + i);
  return satin_bytes (g_bytes_new_take (words, size));
}

SATIN_JOB (large, uint64_t, (uint32_t, mebibytes), (uint32_t, work))
{
  SatinBytes a, b;

  satin_spawn (bulk, &a, mebibytes, 1, work);
  satin_spawn (bulk, &b, mebibytes, 1, work);
  satin_sync ();
  return g_bytes_equal (a, b) ? ((const uint64_t *)g_bytes_get_data (a, NULL))[1] : 0;
}

static int
say (gboolean right, const char *what)
{
  g_print ("%s %s\n", what, right ? "right" : "WRONG");
  return right ? 0 : 1;
}

/* Recursion of main itself. */
static uint64_t
fall (uint64_t depth)
{
  volatile char frame[4096];

  frame[depth % sizeof frame] = 1;
  return depth == 0 ? 0 : fall (depth - 1) + (uint64_t)frame[depth % sizeof frame];
}

static int
shapes_main (SatinRun *run, int argc, char **argv)
{
  uint32_t n = argc > 2 ? (uint32_t)strtoul (argv[2], NULL, 10) : 0;
  uint32_t work = argc > 3 ? (uint32_t)strtoul (argv[3], NULL, 10) : 1;
  const char *shape = argc > 1 ? argv[1] : "";
  gboolean done = FALSE;
  uint64_t sum = 0;
  Count count;

  if (g_str_equal (shape, "main"))
    return say (fall (n > 0 ? n : UINT64_MAX) == n, shape);
  if (g_str_equal (shape, "narrow"))
    {
      if (!satin_root (run, narrow, &count, n, work))
        return satin_stopped (run);
      Count expected = narrow_expected (n, work);

      g_print ("nodes %" G_GUINT64_FORMAT " depth %u ", expected.nodes, expected.depth);
      return say (count.nodes == expected.nodes && count.depth == expected.depth, shape);
    }
  if (g_str_equal (shape, "comb"))
    done = satin_root (run, comb, &sum, n, work);
  else if (g_str_equal (shape, "spine"))
    done = satin_root (run, spine, &sum, n, work);
  else if (g_str_equal (shape, "wide"))
    done = satin_root (run, wide, &sum, MIN (n, WIDE_MAX), work);
  else if (g_str_equal (shape, "blocks"))
    done = satin_root (run, blocks, &sum, MIN (n, WIDE_MAX), work);
  else if (g_str_equal (shape, "texts"))
    done = satin_root (run, texts, &sum, MIN (n, WIDE_MAX), work);
  else if (g_str_equal (shape, "large"))
    {
      g_usleep (work > 0 ? G_USEC_PER_SEC : 0); /* until the other nodes are idle */
      done = satin_root (run, large, &sum, n, work);
    }
  else
    {
      g_printerr ("usage: shapes comb DEPTH WORK | spine DEPTH WORK | narrow SEED CHANCE | wide N "
                  "WORK | blocks N WORK"
                  " | texts N WORK | large MEBIBYTES WORK\n");
      return 2;
    }
  if (!done)
    return satin_stopped (run);
  if (g_str_equal (shape, "comb") || g_str_equal (shape, "spine"))
    return say (sum == comb_expected (n, work), shape);
  if (g_str_equal (shape, "large"))
    return say (sum == mix (2 + (grind (1, work) & 1)), shape);
  return say (sum == wide_expected (MIN (n, WIDE_MAX), g_str_equal (shape, "wide") ? 0 : 7, work),
              shape);
}

SATIN_APP ("shapes", "SHAPE N [WORK]", shapes_main)
