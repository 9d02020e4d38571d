/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees by name and by the parameters of the reference program. */
#include "tree.h"

#include <stdlib.h>

/* The benchmark's sample trees, `sample_trees.sh`. */
static const struct
{
  const char *name;
  UtsTree tree; /* type, shape, depth, seed, m, granularity, branch, q, shift */
} trees[] = {
  { "T1", { UTS_GEOMETRIC, UTS_FIXED, 10, 19, 4, 1, 4, 15.0 / 64, 0.5 } },
  { "T2", { UTS_GEOMETRIC, UTS_CYCLIC, 16, 502, 4, 1, 6, 15.0 / 64, 0.5 } },
  { "T3", { UTS_BINOMIAL, UTS_LINEAR, 6, 42, 8, 1, 2000, 0.124875, 0.5 } },
  { "T4", { UTS_HYBRID, UTS_LINEAR, 16, 1, 4, 1, 6, 15.0 / 64, 0.5 } },
  { "T5", { UTS_GEOMETRIC, UTS_LINEAR, 20, 34, 4, 1, 4, 15.0 / 64, 0.5 } },
  { "T1L", { UTS_GEOMETRIC, UTS_FIXED, 13, 29, 4, 1, 4, 15.0 / 64, 0.5 } },
  { "T2L", { UTS_GEOMETRIC, UTS_CYCLIC, 23, 220, 4, 1, 7, 15.0 / 64, 0.5 } },
  { "T3L", { UTS_BINOMIAL, UTS_LINEAR, 6, 7, 5, 1, 2000, 0.200014, 0.5 } },
  { "T1XL", { UTS_GEOMETRIC, UTS_FIXED, 15, 29, 4, 1, 4, 15.0 / 64, 0.5 } },
  { "T1XXL", { UTS_GEOMETRIC, UTS_FIXED, 15, 19, 4, 1, 4, 15.0 / 64, 0.5 } },
  { "T2XXL", { UTS_BINOMIAL, UTS_LINEAR, 6, 0, 2, 1, 2000, 0.499999995, 0.5 } },
  { "T3XXL", { UTS_BINOMIAL, UTS_LINEAR, 6, 316, 2, 1, 2000, 0.499995, 0.5 } },
  { "T1WL", { UTS_GEOMETRIC, UTS_FIXED, 18, 19, 4, 1, 4, 15.0 / 64, 0.5 } },
  { "T2WL", { UTS_BINOMIAL, UTS_LINEAR, 6, 559, 2, 1, 2000, 0.4999999995, 0.5 } },
  { "T3WL", { UTS_BINOMIAL, UTS_LINEAR, 6, 559, 2, 1, 2000, 0.4999995, 0.5 } },
};

/* The reference program's defaults. */
static const UtsTree default_tree = { UTS_GEOMETRIC, UTS_LINEAR, 6, 0, 4, 1, 4.0, 15.0 / 64, 0.5 };

/* The options: the reference program's letter, our name, the least and the greatest value. --branch
 * is limited, since a node's results are on the C stack while its children run. */
static const struct
{
  const char *letter, *name;
  gboolean whole;
  size_t at;
  double least, greatest;
} options[] = {
  { "-t", "--type", TRUE, offsetof (UtsTree, type), UTS_BINOMIAL, UTS_BALANCED },
  { "-a", "--shape", TRUE, offsetof (UtsTree, shape), UTS_LINEAR, UTS_FIXED },
  { "-d", "--depth", TRUE, offsetof (UtsTree, depth), 1, 100000000 },
  { "-r", "--seed", TRUE, offsetof (UtsTree, seed), 0, 2147483647 },
  { "-m", "--m", TRUE, offsetof (UtsTree, m), 0, 1000000 },
  { "-g", "--granularity", TRUE, offsetof (UtsTree, granularity), 1, 1000000000 },
  { "-b", "--branch", FALSE, offsetof (UtsTree, branch), 0, 1000000 },
  { "-q", "--q", FALSE, offsetof (UtsTree, q), 0, 1 },
  { "-f", "--shift", FALSE, offsetof (UtsTree, shift), 0, 1000000 },
};

/* The index of the option that argument `text` names, and its value if it follows a '='; -1:
 * none. */
static int
find_option (const char *text, const char **value)
{
  size_t length = strcspn (text, "=");

  *value = text[length] == '=' ? text + length + 1 : NULL;
  for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
    if (strcmp (text, options[i].letter) == 0
        || (strlen (options[i].name) == length && strncmp (text, options[i].name, length) == 0))
      return (int)i;
  return -1;
}

static gboolean
set_option (int i, const char *text, UtsTree *tree, char *sentence, size_t size)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0' || !(value >= options[i].least && value <= options[i].greatest)
      || (options[i].whole && value != (int32_t)value))
    {
      snprintf (sentence, size, "%s takes a %snumber from %.0f to %.0f, not '%s'", options[i].name,
                options[i].whole ? "whole " : "", options[i].least, options[i].greatest, text);
      return FALSE;
    }
  if (options[i].whole)
    *(int32_t *)(void *)((char *)tree + options[i].at) = (int32_t)value;
  else
    *(double *)(void *)((char *)tree + options[i].at) = value;
  return TRUE;
}

/* The tree that the options modify: the named one, wherever it is on the line, or the default. All
 * options are known ones then. */
static gboolean
find_tree (int argc, char **argv, UtsTree *tree, char *sentence, size_t size)
{
  const char *name = NULL, *value;

  *tree = default_tree;
  for (int i = 1; i < argc; i++)
    {
      if (argv[i][0] == '-')
        {
          if (find_option (argv[i], &value) < 0)
            {
              snprintf (sentence, size, "'%s' is no option of uts", argv[i]);
              return FALSE;
            }
          if (value == NULL)
            i++;
          continue;
        }
      if (name != NULL)
        {
          snprintf (sentence, size, "one tree at a time: '%s' or '%s'", name, argv[i]);
          return FALSE;
        }
      name = argv[i];
    }
  if (name == NULL)
    return TRUE;
  for (size_t i = 0; i < G_N_ELEMENTS (trees); i++)
    if (strcmp (name, trees[i].name) == 0)
      {
        *tree = trees[i].tree;
        return TRUE;
      }
  snprintf (sentence, size, "no tree is called '%s'; the names are T1 to T5, T1L to T3L, ...",
            name);
  return FALSE;
}

gboolean
uts_parse (int argc, char **argv, UtsTree *tree, char *sentence, size_t size)
{
  if (!find_tree (argc, argv, tree, sentence, size))
    return FALSE;
  for (int i = 1; i < argc; i++)
    {
      const char *value;
      int option;

      if (argv[i][0] != '-')
        continue;
      option = find_option (argv[i], &value);
      if (value == NULL && ++i == argc)
        {
          snprintf (sentence, size, "%s needs a value", options[option].name);
          return FALSE;
        }
      if (!set_option (option, value != NULL ? value : argv[i], tree, sentence, size))
        return FALSE;
    }
  return TRUE;
}
