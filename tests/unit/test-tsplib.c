/* SPDX-License-Identifier: BSD-3-Clause */
/* The TSPLIB reader: every matrix format, distance functions with published results, and broken
 * files. */
#include "config.h"

#include "start.h"
#include "tsplib.h"

#include <stdlib.h>
#include <string.h>

static Tsplib *
read_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  Tsplib *tsplib = tsplib_read ("test.tsp", text, strlen (text), &error);

  g_assert_no_error (error);
  return tsplib;
}

/* The message without the file's name, or "" if the text is accepted. */
static char *
message_for (const char *text, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Tsplib) tsplib = tsplib_read ("test.tsp", text, size, &error);

  g_assert_true ((tsplib == NULL) == (error != NULL));
  if (error == NULL)
    return g_strdup ("");
  g_assert_true (g_str_has_prefix (error->message, "test.tsp:"));
  g_assert_null (strchr (error->message, '\n'));
  return g_strdup (error->message + strlen ("test.tsp:"));
}

static const struct
{
  const char *format;
  const char *numbers;
} matrices[] = {
  { "FULL_MATRIX", "0 1 2 3 1 0 4 5 2 4 0 6 3 5 6 0" },
  { "UPPER_ROW", "1 2 3 4 5 6" },
  { "LOWER_COL", "1 2 3 4 5 6" },
  { "LOWER_ROW", "1 2 4 3 5 6" },
  { "UPPER_COL", "1 2 4 3 5 6" },
  { "UPPER_DIAG_ROW", "0 1 2 3 0 4 5 0 6 0" },
  { "LOWER_DIAG_COL", "0 1 2 3 0 4 5 0 6 0" },
  { "LOWER_DIAG_ROW", "0 1 0 2 4 0 3 5 6 0" },
  { "UPPER_DIAG_COL", "0 1 0 2 4 0 3 5 6 0" },
};

static void
test_formats (void)
{
  static const gint32 expected[] = { 0, 1, 2, 3, 1, 0, 4, 5, 2, 4, 0, 6, 3, 5, 6, 0 };

  for (gsize i = 0; i < G_N_ELEMENTS (matrices); i++)
    {
      g_autofree char *text = g_strdup_printf ("DIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
                                               "EDGE_WEIGHT_FORMAT: %s\nEDGE_WEIGHT_SECTION\n%s\n",
                                               matrices[i].format, matrices[i].numbers);
      g_autoptr (Tsplib) tsplib = read_text (text);

      g_assert_cmpint (tsplib->n, ==, 4);
      g_assert_cmpmem (tsplib->distance, 64, expected, 64);
      g_assert_cmpint (tsplib->label[3], ==, 4);
    }
}

static void
test_loose (void)
{
  static const char *const texts[] = {
    "NAME : x\r\nCOMMENT : some: words\r\nTYPE : TSP (someone)\r\nDIMENSION : 2\r\n"
    "EDGE_WEIGHT_TYPE : EUC_2D\r\nNODE_COORD_SECTION\r\n7 0 0\r\n-3 3.0e0 +4\r\nEOF\r\n",
    "DIMENSION:2\nEDGE_WEIGHT_TYPE:EUC_2D\n\n# a remark\nNODE_COORD_SECTION :\n\n 7 .0 0\n\n-3\n3 "
    "4",
    "COMMENT\nDIMENSION 2\nEDGE_WEIGHT_TYPE\tEUC_2D\nDISPLAY_DATA_TYPE: COORD_DISPLAY\n"
    "BEST_KNOWN: 10\nNODE_COORD_SECTION\n  7 1e1 1E+1  -3 13 14 # end\nEOF\nanything \"goes\" here",
    "DIMENSION: 2.0e0\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n7 0 0\n-3 3 4\n"
    "DISPLAY_DATA_SECTION\n1 2 3\n2 3 4\nEOF\n\x1a",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (Tsplib) tsplib = read_text (texts[i]);

      g_assert_cmpint (tsplib->n, ==, 2);
      g_assert_cmpint (tsplib->distance[1], ==, 5);
      g_assert_cmpint (tsplib->label[0], ==, 7);
      g_assert_cmpint (tsplib->label[1], ==, -3);
    }
}

static void
test_functions (void)
{
  static const struct
  {
    const char *type;
    gint32 length;
  } cases[] = { { "EUC_2D", 4 }, { "CEIL_2D", 5 }, { "MAN_2D", 6 },
                { "MAX_2D", 3 }, { "ATT", 2 },     { "GEO", 473 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("DIMENSION: 3\nEDGE_WEIGHT_TYPE: %s\n"
                                               "NODE_COORD_SECTION\n1 0 0\n2 3 3\n3 0 0\n",
                                               cases[i].type);
      g_autoptr (Tsplib) tsplib = read_text (text);

      g_assert_cmpint (tsplib->distance[1], ==, cases[i].length);
      g_assert_cmpint (tsplib->distance[3], ==, cases[i].length);
      g_assert_cmpint (tsplib->distance[2], ==, strcmp (cases[i].type, "GEO") == 0);
    }
}

#define HEAD "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
#define PLANE "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"

static const struct
{
  const char *text;
  const char *message;
} broken[] = {
  { "", "1: the file is empty" },
  { " \n\n", "3: the file is empty" },
  { "\x7f"
    "ELF\x02\x01",
    "1: this is not a text file" },
  { "NAME: x\n\x01", "2: this is not a text file" },
  { "hello world", "1: 'hello' is not a TSPLIB keyword" },
  { "1 2 3", "1: expected a TSPLIB keyword" },
  { "NAME: x\nEOF", "2: the file ends without DIMENSION" },
  { "DIMENSION: 5\n", "2: the file ends without EDGE_WEIGHT_TYPE" },
  { HEAD, "4: the file ends without EDGE_WEIGHT_SECTION" },
  { "DIMENSION: 5\nEDGE_WEIGHT_TYPE: GEO", "2: the file ends without NODE_COORD_SECTION" },
  { "TYPE: CVRP\n", "1: TYPE 'CVRP': only TYPE TSP and TYPE ATSP are solved" },
  { "TYPE: TSPX\n", "1: TYPE 'TSPX': only TYPE TSP and TYPE ATSP are solved" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1 2\n1 0 3\n2 3 0\nTYPE: ATSP\n", "8: TYPE after the distances" },
  { "TYPE: ATSP\nDIMENSION: 129\n",
    "3: DIMENSION 129 is more than the 128 cities that this program "
    "takes of TYPE ATSP" },
  { "DIMENSION: -4", "1: DIMENSION '-4' is not a number of cities" },
  { "DIMENSION: 0", "1: DIMENSION '0' is not a number of cities" },
  { "DIMENSION: 4.5", "1: DIMENSION '4.5' is not a number of cities" },
  { "DIMENSION: many", "1: DIMENSION 'many' is not a number of cities" },
  { "DIMENSION: 1e30", "1: DIMENSION 1000000000000000019884624838656 is more than the 256 cities "
                       "that this program takes" },
  { "DIMENSION: 257", "1: DIMENSION 257 is more than the 256 cities that this program takes" },
  { "DIMENSION: 2\nDIMENSION: 2", "2: a second DIMENSION" },
  { "EDGE_WEIGHT_SECTION\n0", "1: EDGE_WEIGHT_SECTION before DIMENSION" },
  { "DIMENSION: 1\nEDGE_WEIGHT_SECTION\n0",
    "2: EDGE_WEIGHT_SECTION needs EDGE_WEIGHT_TYPE: EXPLICIT before it" },
  { "EDGE_WEIGHT_TYPE: SPECIAL", "1: EDGE_WEIGHT_TYPE 'SPECIAL' is not known" },
  { "DIMENSION: 1\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FUNCTION\n"
    "EDGE_WEIGHT_SECTION\n0",
    "4: EDGE_WEIGHT_FORMAT 'FUNCTION' is not known" },
  { "DIMENSION: 1\nFIXED_EDGES_SECTION\n", "2: FIXED_EDGES_SECTION is not supported" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1 2\n1 0 3\n2 3",
    "7: EDGE_WEIGHT_SECTION ends too early for 3 cities" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1 2\nEOF", "6: EDGE_WEIGHT_SECTION ends too early for 3 cities" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1 2\n1 0 3\n2 3 0\n4",
    "8: EDGE_WEIGHT_SECTION holds more numbers than 3 cities need" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1 2\n7 0 3\n2 3 0",
    "6: the distance from city 1 to city 2 is 1, but back it is 7, which only TYPE: ATSP may "
    "have" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1.5 2", "5: 1.5 is not a whole number" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 5x 2", "5: '5x' is not a number" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 1e999 2", "5: '1e999' is not a number" },
  { HEAD "EDGE_WEIGHT_SECTION\n0 500000001 2", "5: 500000001 is beyond the limit of 500000000" },
  { PLANE "1 0 0\n", "5: NODE_COORD_SECTION ends too early for 2 cities" },
  { PLANE "1 0 0\n1 2 2\n", "5: city 1 comes twice" },
  { PLANE "1 0 0\n2 2 2\n3 1 1\n", "6: NODE_COORD_SECTION holds more than 2 cities" },
  { PLANE "1 0 0\n2 1e12 0\n",
    "6: the distance from city 1 to city 2 is beyond the limit of 500000000" },
  { PLANE "1 0 0\n2 1e300 1e300\n",
    "6: the distance from city 1 to city 2 is beyond the limit of 500000000" },
  { PLANE "1.5 0 0\n2 1 1\n", "4: 1.5 is not a whole number" },
};

/* TYPE: ATSP: each direction has its own distance, and the diagonal has no meaning. */
static void
test_directed (void)
{
  static const gint32 expected[] = { 0, 1, 2, 7, 0, 3, 5, -4, 0 };
  g_autoptr (Tsplib) directed = read_text ("TYPE: ATSP\n" HEAD "EDGE_WEIGHT_SECTION\n"
                                           "1000000000 1 2\n7 0 3\n5 -4 2147483647\nEOF\n");
  g_autoptr (Tsplib) undirected = read_text (HEAD "EDGE_WEIGHT_SECTION\n0 1 2\n1 0 3\n2 3 0\n");

  g_assert_true (directed->directed);
  g_assert_false (undirected->directed);
  for (int i = 0; i < 9; i++)
    g_assert_cmpint (directed->distance[i], ==, expected[i]);
}

static void
test_broken (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autofree char *message = message_for (broken[i].text, strlen (broken[i].text));

      g_assert_cmpstr (message, ==, broken[i].message);
    }
}

/* No cut or changed byte makes the reader crash or read beyond the end. */
static void
test_mutated (void)
{
  const char *text = HEAD "NAME: x\nEDGE_WEIGHT_SECTION\n0 1 2\n1 0 3\n2 3 0\n"
                          "DISPLAY_DATA_SECTION\n1 2 3\nEOF\n";
  gsize size = strlen (text);

  for (int round = 0; round < 20000; round++)
    {
      gsize cut = (gsize)g_test_rand_int_range (0, (gint32)size + 1);
      /* A copy of exactly this size, so that a sanitizer sees an overrun. */
      g_autofree char *copy = g_memdup2 (text, cut);
      g_autofree char *message = NULL;

      for (int i = g_test_rand_int_range (0, 3); i > 0 && cut > 0; i--)
        copy[g_test_rand_int_range (0, (gint32)cut)] = (char)g_test_rand_int_range (0, 256);
      message = message_for (copy, cut);
    }
}

static char *
read_file (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

/* Published tours have their published lengths. */
static void
check_published (const char *folder, const char *name, gint64 length)
{
  g_autofree char *instance_name = g_strconcat (name, ".tsp", NULL);
  g_autofree char *tour_name = g_strconcat (name, ".opt.tour", NULL);
  g_autofree char *instance = read_file (folder, instance_name);
  g_autofree char *text = read_file (folder, tour_name);
  g_autoptr (Tsplib) tsplib = NULL;
  g_auto (GStrv) words = NULL;
  guint8 tour[TSPLIB_CITIES_MAX];
  int at = 0;

  if (instance == NULL || text == NULL)
    {
      g_test_message ("%s is not here", name);
      return;
    }
  tsplib = read_text (instance);
  words = g_strsplit_set (g_strdelimit (text, "\r\n\t", ' '), " ", -1);
  while (words[at] != NULL && strcmp (words[at], "TOUR_SECTION") != 0)
    at++;
  for (int i = 0; i < tsplib->n; at++)
    {
      g_assert_nonnull (words[at]);
      if (g_ascii_isdigit (*words[at]))
        tour[i++] = (guint8)(atoi (words[at]) - 1);
    }
  g_assert_cmpint (start_length (tsplib->n, tsplib->distance, tour), ==, length);
}

static void
test_published (void)
{
  const char *source = g_getenv ("SATIN_SOURCE");
  g_autofree char *folder = NULL;

  if (source == NULL)
    {
      g_test_skip ("SATIN_SOURCE is not set");
      return;
    }
  folder = g_build_filename (source, "..", "shared", "data", "tsp", NULL);
  check_published (folder, "ulysses16", 6859);
  check_published (folder, "gr24", 1272);
  check_published (folder, "fri26", 937);
  check_published (folder, "bayg29", 1610);
  check_published (folder, "att48", 10628);
  check_published (folder, "gr48", 5046);
  check_published (folder, "eil51", 426);
  check_published (folder, "berlin52", 7542);
}

/* The instances in the program's folder are readable, and the optimum that their comment names is
 * reached. */
static void
test_own (void)
{
  static const struct
  {
    const char *name;
    int n;
    gint64 length;
  } own[] = { { "gr17.tsp", 17, 2085 },
              { "gr24.tsp", 24, 1272 },
              { "bayg29.tsp", 29, 1610 },
              { "random70.tsp", 70, 6789 },
              { "random80.tsp", 80, 7401 } };
  const char *source = g_getenv ("SATIN_SOURCE");
  g_autofree char *folder = NULL;

  if (source == NULL)
    {
      g_test_skip ("SATIN_SOURCE is not set");
      return;
    }
  folder = g_build_filename (source, "apps", "tsp", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    {
      g_autofree char *text = read_file (folder, own[i].name);
      g_autoptr (Tsplib) tsplib = NULL;
      guint8 tour[TSPLIB_CITIES_MAX];

      g_assert_nonnull (text);
      tsplib = read_text (text);
      g_assert_cmpint (tsplib->n, ==, own[i].n);
      g_assert_cmpint (start_tour (tsplib->n, tsplib->distance, tour), ==, own[i].length);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tsplib/every-matrix-format-gives-the-same-distances", test_formats);
  g_test_add_func ("/tsplib/spaces-line-ends-and-numbers-are-taken-as-they-come", test_loose);
  g_test_add_func ("/tsplib/distance-functions", test_functions);
  g_test_add_func ("/tsplib/broken-files-are-refused-with-line-and-reason", test_broken);
  g_test_add_func ("/tsplib/changed-bytes-never-crash-the-reader", test_mutated);
  g_test_add_func ("/tsplib/published-tours-have-their-published-lengths", test_published);
  g_test_add_func ("/tsplib/directed", test_directed);
  g_test_add_func ("/tsplib/the-program's-own-instances", test_own);
  return g_test_run ();
}
