/* SPDX-License-Identifier: BSD-3-Clause */
/* The 15-puzzle by iterative deepening (Korf, Artificial Intelligence 27, 1985): a depth-first
 * search below a threshold on moves made plus Manhattan distance. The threshold grows until it
 * suffices.
 *
 * A node is counted when it is generated, even if the threshold cuts it off, in the order of the
 * blank's moves up, left, right, down, until the goal is generated. A job's count depends only on
 * its arguments: a parent adds up its children in this order and stops at the first one that found
 * the goal, whichever finished first. So the count is Korf's on any number of nodes. */
#include <satin.h>

#include "../words.h"

#include <inttypes.h>

#define SIDE 4
#define CELLS (SIDE * SIDE)
#define DIRECTIONS 4
#define MOVES_MAX 80 /* no position needs more */
#define THRESHOLDS_MAX (MOVES_MAX / 2 + 1)
#define SPAWN_DEPTH 14 /* so many first moves are separate jobs */
#define NONE DIRECTIONS
#define NEVER UINT8_MAX /* a threshold that is never reached */

/* Bits 4c to 4c + 3 have the tile of cell c. */
SATIN_RECORD (Position, (uint64_t, tiles), (uint8_t, blank), (uint8_t, last), (uint8_t, made),
              (uint8_t, distance))

/* The result of a search: the moves are valid if length is not 0; `next` is the least sum above the
 * threshold. */
SATIN_RECORD (Found, (uint64_t, nodes), (uint64_t, moves, 3), (uint8_t, length), (uint8_t, next))

typedef struct
{
  Found found; /* of the last threshold */
  uint64_t nodes[THRESHOLDS_MAX];
  uint8_t threshold[THRESHOLDS_MAX];
  int n;
} Answer;

static const char direction_names[DIRECTIONS + 1] = "ULRD";
static const int step[DIRECTIONS] = { -SIDE, -1, 1, SIDE };

/* Bit d of a cell's entry: the blank may move in direction d. */
static const uint8_t open_ways[CELLS]
    = { 0xc, 0xe, 0xe, 0xa, 0xd, 0xf, 0xf, 0xb, 0xd, 0xf, 0xf, 0xb, 0x5, 0x7, 0x7, 0x3 };

static inline int
distance_of (int tile, int cell)
{
  return tile == 0 ? 0 : ABS (tile / SIDE - cell / SIDE) + ABS (tile % SIDE - cell % SIDE);
}

/* The change of the distance when the blank moves from a cell in a direction, and the tile there
 * takes its place. */
static int8_t change[CELLS][DIRECTIONS][CELLS];

static void __attribute__ ((constructor)) make_changes (void)
{
  for (int cell = 0; cell < CELLS; cell++)
    for (int way = 0; way < DIRECTIONS; way++)
      for (int tile = 1; tile < CELLS && (open_ways[cell] >> way & 1) != 0; tile++)
        change[cell][way][tile]
            = (int8_t)(distance_of (tile, cell) - distance_of (tile, cell + step[way]));
}

static inline Position
moved (Position from, int way)
{
  unsigned to = (unsigned)(from.blank + step[way]);
  uint64_t tile = from.tiles >> 4 * to & 15;

  from.tiles += (tile << 4 * from.blank) - (tile << 4 * to);
  from.distance = (uint8_t)(from.distance + change[from.blank][way][tile]);
  from.blank = (uint8_t)to;
  from.last = (uint8_t)way;
  from.made++;
  return from;
}

static inline gboolean
may_move (const Position *at, int way)
{
  return (open_ways[at->blank] >> way & 1) != 0 && at->last + way != DIRECTIONS - 1;
}

static inline void
note_move (Found *found, unsigned number, unsigned way)
{
  found->moves[number / 32] |= (uint64_t)way << number % 32 * 2;
}

/* Searches below `at`. TRUE: the goal was generated. Polls at each position: once an earlier
 * sibling of the job has found the goal, the job ends here. */
static gboolean
search_here (SatinHere here, Position at, uint8_t threshold, Found *found)
{
  satin_poll (here);
  for (int way = 0; way < DIRECTIONS; way++)
    {
      Position to;
      uint8_t sum;

      if (!may_move (&at, way))
        continue;
      to = moved (at, way);
      sum = (uint8_t)(to.made + to.distance);
      found->nodes++;
      if (sum > threshold)
        {
          found->next = MIN (found->next, sum);
          continue;
        }
      if (to.distance == 0)
        found->length = to.made;
      else if (!search_here (here, to, threshold, found))
        continue;
      note_move (found, at.made, (unsigned)way);
      return TRUE;
    }
  return FALSE;
}

/* Adds the result of child `way` to those of its earlier siblings. */
static void
add_child (Found *sum, const Found *child, unsigned number, int way)
{
  sum->nodes += child->nodes;
  sum->next = MIN (sum->next, child->next);
  if (child->length == 0)
    return;
  sum->length = child->length;
  memcpy (sum->moves, child->moves, sizeof sum->moves);
  note_move (sum, number, (unsigned)way);
}

/* Searches everything below a position. The first child in order is spawned last, since the last
 * one runs first. Children behind one that found the goal are forgotten and not counted. */
SATIN_JOB (search, Found, (Position, at), (uint8_t, threshold))
{
  Found sum = { .next = NEVER }, child[DIRECTIONS];
  Position to[DIRECTIONS];
  gboolean done[DIRECTIONS] = { FALSE };
  int way_of[DIRECTIONS], n = 0;

  if (at.made >= SPAWN_DEPTH || at.distance <= 1)
    {
      search_here (satin_here (), at, threshold, &sum);
      return sum;
    }
  for (int way = DIRECTIONS - 1; way >= 0; way--)
    if (may_move (&at, way))
      {
        to[way] = moved (at, way);
        if (to[way].made + to[way].distance > threshold)
          continue;
        satin_spawn (search, &child[way], to[way], threshold);
        way_of[n++] = way;
      }
  for (int first = n - 1, number; (number = satin_sync_next ()) >= 0;)
    {
      done[number] = TRUE;
      while (first >= 0 && done[first] && child[way_of[first]].length == 0)
        first--;
      if (first >= 0 && done[first])
        {
          satin_abort ();
          break;
        }
    }
  for (int way = 0; way < DIRECTIONS && sum.length == 0; way++)
    if (may_move (&at, way))
      {
        int reached = to[way].made + to[way].distance;

        sum.nodes++;
        if (reached > threshold)
          sum.next = (uint8_t)MIN (sum.next, reached);
        else
          add_child (&sum, &child[way], at.made, way);
      }
  return sum;
}

/* ---- reading ---- */

/* Reads the rest of a line with a board; its first word was read. */
static gboolean
read_board (Words *words, Position *start, GError **error)
{
  guint seen = 0;

  *start = (Position){ .last = NONE };
  for (int cell = 0; cell < CELLS; cell++)
    {
      gint64 tile = 0;

      if (cell > 0)
        words_next (words);
      if (!words_as_number (words, "a tile", 0, CELLS - 1, &tile, error))
        return FALSE;
      if ((seen >> tile & 1) != 0)
        return words_refuse (words, error, "tile %d is there twice", (int)tile);
      seen |= 1U << tile;
      start->tiles |= (uint64_t)tile << 4 * cell;
      if (tile == 0)
        start->blank = (uint8_t)cell;
      start->distance = (uint8_t)(start->distance + distance_of ((int)tile, cell));
    }
  return TRUE;
}

/* Reads a board from a file with one board per line. A line of one to three numbers may precede
 * each, the first of which is the board's number; otherwise boards are numbered from 1. `wanted` 0:
 * the only board. */
static gboolean
read_file (const char *file, GBytes *bytes, gint64 wanted, Position *start, GError **error)
{
  Words words = words_of (file, bytes);
  gint64 number = 0, ignored;
  gboolean named = FALSE, found = FALSE;
  int boards = 0;

  while (words_next (&words))
    {
      guint length = 1 + words_left_in_line (&words);
      Position board;

      if (length < CELLS && length <= 3 && !named)
        {
          if (!words_as_number (&words, "a board's number", 1, G_MAXINT32, &number, error))
            return FALSE;
          while (--length > 0)
            if (!words_number (&words, "a number", 0, G_MAXINT64, &ignored, error))
              return FALSE;
          named = TRUE;
          continue;
        }
      if (length != CELLS)
        return words_refuse (&words, error, "a board has %d tiles, not %u", CELLS, length);
      if (!read_board (&words, &board, error))
        return FALSE;
      number = named ? number : number + 1;
      named = FALSE;
      boards++;
      if (wanted == 0 ? boards == 1 : !found && number == wanted)
        *start = board, found = TRUE;
    }
  if (named)
    return words_refuse (&words, error, "the file ends before board %d", (int)number);
  if (wanted == 0 && boards > 1)
    return words_refuse (&words, error, "there are %d boards: say which, puzzle15 FILE K", boards);
  return found || words_refuse (&words, error, "there is no board %d", (int)wanted);
}

/* The goal has the blank at the top left. Each move swaps two tiles and changes the colour of the
 * blank's cell. */
static gboolean
is_solvable (const Position *at)
{
  int swaps = at->blank / SIDE + at->blank % SIDE;

  for (int a = 0; a < CELLS; a++)
    for (int b = a + 1; b < CELLS; b++)
      swaps += (at->tiles >> 4 * a & 15) > (at->tiles >> 4 * b & 15);
  return swaps % 2 == 0;
}

/* ---- main ---- */

/* Plays the moves, without tables. TRUE: they lead to the goal. */
static gboolean
is_right (const Position *start, const char *moves)
{
  int tile[CELLS], blank = start->blank;

  for (int cell = 0; cell < CELLS; cell++)
    tile[cell] = (int)(start->tiles >> 4 * cell & 15);
  for (; *moves != '\0'; moves++)
    {
      int row = blank / SIDE + (*moves == 'D') - (*moves == 'U');
      int column = blank % SIDE + (*moves == 'R') - (*moves == 'L');

      if (row < 0 || row >= SIDE || column < 0 || column >= SIDE)
        return FALSE;
      tile[blank] = tile[row * SIDE + column];
      blank = row * SIDE + column;
      tile[blank] = 0;
    }
  for (int cell = 0; cell < CELLS; cell++)
    if (tile[cell] != cell)
      return FALSE;
  return TRUE;
}

static int
print_answer (const Position *start, const Answer *answer, gboolean thresholds)
{
  char moves[MOVES_MAX + 1] = "";
  uint64_t nodes = 1; /* the start counts once */

  for (unsigned i = 0; i < answer->found.length; i++)
    moves[i] = direction_names[answer->found.moves[i / 32] >> i % 32 * 2 & 3];
  if (!is_right (start, moves))
    {
      fprintf (stderr, "puzzle15: the moves found fail their check; this is a bug\n");
      return 1;
    }
  for (int i = 0; i < answer->n; i++)
    nodes += answer->nodes[i];
  printf ("length %d nodes %" PRIu64 "\nmoves %s\n", answer->found.length, nodes, moves);
  for (int i = 0; thresholds && i < answer->n; i++)
    printf ("threshold %d nodes %" PRIu64 "\n", answer->threshold[i], answer->nodes[i]);
  return 0;
}

/* Searches with one threshold after the other, each as a root, until the goal is found or no
 * solution can be longer. FALSE: the run was stopped. */
static gboolean
solve (SatinRun *run, Position start, Answer *answer)
{
  *answer = (Answer){ .found = { .next = start.distance } };
  while (start.distance > 0 && answer->found.length == 0 && answer->n < THRESHOLDS_MAX
         && answer->found.next <= MOVES_MAX)
    {
      uint8_t threshold = answer->found.next;

      if (!satin_root (run, search, &answer->found, start, threshold))
        return FALSE;
      answer->threshold[answer->n] = threshold;
      answer->nodes[answer->n++] = answer->found.nodes;
    }
  return TRUE;
}

static int
puzzle15_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  gboolean thresholds = argc > 1 && strcmp (argv[argc - 1], "--thresholds") == 0;
  Answer answer;
  Position start = { 0 };
  guint64 wanted = 0;
  GBytes *bytes;

  argc -= thresholds;
  if (argc < 2 || argc > 3 || (argv[1][0] == '-' && argv[1][1] != '\0')
      || (argc == 3 && !g_ascii_string_to_unsigned (argv[2], 10, 1, G_MAXINT32, &wanted, NULL)))
    {
      fprintf (stderr, "puzzle15: a file and the number of a board in it are needed; "
                       "usage: puzzle15 FILE [K] [--thresholds]\n");
      return 2;
    }
  bytes = satin_input (run, argv[1], &error);
  if (bytes == NULL || !read_file (argv[1], bytes, (gint64)wanted, &start, &error))
    {
      fprintf (stderr, "puzzle15: %s\n", error->message);
      return 1;
    }
  if (!is_solvable (&start))
    {
      fprintf (stderr, "puzzle15: %s: no moves lead from this board to the goal\n", argv[1]);
      return 1;
    }
  if (!solve (run, start, &answer))
    return satin_stopped (run);
  return print_answer (&start, &answer, thresholds);
}

SATIN_APP ("puzzle15", "FILE [K] [--thresholds]", puzzle15_main)
