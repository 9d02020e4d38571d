/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses everything that the words of satin.h allow, and checks its own answer:
 * records in records, fixed arrays, bytes small and large, eight arguments, no arguments, mutual
 * recursion, two phases, satin_call between spawns, a constant and a best value. Usage: mixed DEPTH
 * [MEBIBYTES]. If MIXED_GO is set, each leaf sleeps for 20 ms until the file of that name exists. A
 * test holds a run with it without using processor time. */
#include <satin.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

SATIN_RECORD (Point, (int32_t, x), (int16_t, y))
SATIN_RECORD (Box, (Point, low), (Point, high), (uint8_t, tag, 5), (SatinBytes, name))
SATIN_RECORD (Answer, (Box, box), (uint64_t, hash), (Point, corners, 3), (double, sum))
SATIN_RECORD (Salt, (uint64_t, salt), (uint8_t, text, 11))
SATIN_RECORD (Most, (uint64_t, value))

SATIN_CONST (Salt, salt)

static const Most *
most_merge (const Most *a, const Most *b)
{
  return a->value >= b->value ? a : b;
}

SATIN_BEST (Most, most, most_merge, { 0 })

SATIN_JOB_DECLARE (even, Answer, (int32_t, depth), (uint64_t, seed), (Box, box));
SATIN_JOB_DECLARE (odd, Answer, (int32_t, depth), (uint64_t, seed), (Box, box));

static uint64_t
mix (uint64_t a, uint64_t b)
{
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a *= 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 29);
}

/* Computes for a short time that depends on the seed. */
static uint64_t
grind (uint64_t seed)
{
  for (uint64_t i = 0; i < 200 + seed % 4000; i++)
    seed = mix (seed, i);
  return seed;
}

static void
rest (void)
{
  const char *go = getenv ("MIXED_GO");
  struct timespec time = { 0, 20 * 1000 * 1000 };

  if (go != NULL && access (go, F_OK) != 0)
    while (nanosleep (&time, &time) != 0 && errno == EINTR)
      continue;
}

static uint64_t
hash_bytes (SatinBytes bytes)
{
  gsize size = 0;
  const uint8_t *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;
  uint64_t hash = size;
  if (size > 0 && (uintptr_t)data % sizeof hash != 0)
    g_error ("bytes came where no numbers can be read");
  for (gsize i = 0; i < size; i++)
    hash = mix (hash, data[i]);
  return hash;
}

static uint64_t
hash_box (const Box *box)
{
  uint64_t hash = mix ((uint64_t)box->low.x, (uint64_t)box->low.y);
  hash = mix (hash, mix ((uint64_t)box->high.x, (uint64_t)box->high.y));
  for (int i = 0; i < 5; i++)
    hash = mix (hash, box->tag[i]);
  return mix (hash, hash_bytes (box->name));
}

static Box
box_for (uint64_t seed, SatinBytes name)
{
  Box box = {
    { (int32_t)seed, (int16_t)(seed >> 32) }, { -(int32_t)(seed & 0xffff), -1 }, { 0 }, name
  };
  for (int i = 0; i < 5; i++)
    box.tag[i] = (uint8_t)(seed >> (8 * i));
  return box;
}

SATIN_JOB (eight, uint64_t, (int8_t, a), (uint8_t, b), (int16_t, c), (uint16_t, d), (int32_t, e),
           (double, f), (SatinBytes, g), (Point, h, 2))
{
  uint64_t hash = mix ((uint64_t)a, b);
  hash = mix (mix (hash, (uint64_t)c), mix (d, (uint64_t)e));
  hash = mix (hash, (uint64_t)(f * 1000));
  hash = mix (hash, hash_bytes (g));
  for (int i = 0; i < 2; i++)
    hash = mix (hash, mix ((uint64_t)h[i].x, (uint64_t)h[i].y));
  return grind (hash);
}

SATIN_JOB (nothing, uint64_t)
{
  return satin_const (salt)->salt;
}

static uint64_t
eight_serial (uint64_t seed)
{
  Point points[2] = { { (int32_t)seed, 7 }, { 8, (int16_t)seed } };
  uint64_t hash = mix ((uint64_t)(int8_t)seed, (uint8_t)(seed >> 8));
  hash = mix (mix (hash, (uint64_t)(int16_t)(seed >> 16)),
              mix ((uint16_t)(seed >> 24), (uint64_t)(int32_t)(seed >> 32)));
  hash = mix (hash, (uint64_t)((double)(seed % 1000) * 1000));
  g_autoptr (GBytes) bytes = g_bytes_new (&seed, sizeof seed);
  hash = mix (hash, hash_bytes (bytes));
  for (int i = 0; i < 2; i++)
    hash = mix (hash, mix ((uint64_t)points[i].x, (uint64_t)points[i].y));
  return grind (hash);
}

/* Combines the results of children, in both jobs. */
static uint64_t
combine (int32_t depth, uint64_t seed, uint64_t box, const uint64_t child[3], uint64_t eight,
         uint64_t nothing)
{
  uint64_t hash = mix (mix (seed, (uint64_t)depth), box);
  for (int i = 0; i < 3; i++)
    hash = mix (hash, child[i]);
  return mix (hash, mix (eight, nothing));
}

static Answer
answer_of (uint64_t hash, SatinBytes name)
{
  Answer answer = { .box = box_for (hash, name), .hash = hash, .sum = (double)(hash % 97) / 8 };
  for (int i = 0; i < 3; i++)
    answer.corners[i] = (Point){ (int32_t)(hash >> i), (int16_t)i };
  return answer;
}

#define BODY(other) \
  Answer result[3]; \
  uint64_t child[3] = { 0, 0, 0 }, eighth = 0, none = 0; \
  Most more = { seed }; \
  if (depth == 0) \
    { \
      uint64_t hash = grind (mix (seed, hash_box (&box))); \
      rest (); \
      satin_improve (most, &more); \
      return answer_of (hash, satin_bytes (g_bytes_new (&hash, sizeof hash))); \
    } \
  Point points[2] = { { (int32_t)seed, 7 }, { 8, (int16_t)seed } }; \
  SatinBytes bytes = satin_bytes (g_bytes_new (&seed, sizeof seed)); \
  satin_spawn (other, &result[0], depth - 1, mix (seed, 0), box_for (mix (seed, 0), bytes)); \
  satin_spawn (other, &result[1], depth - 1, mix (seed, 1), box_for (mix (seed, 1), NULL)); \
  none = satin_call (nothing); \
  satin_sync (); \
  satin_spawn (eight, &eighth, (int8_t)seed, (uint8_t)(seed >> 8), (int16_t)(seed >> 16), \
               (uint16_t)(seed >> 24), (int32_t)(seed >> 32), (double)(seed % 1000), bytes, \
               points); \
  satin_spawn (other, &result[2], depth / 2, mix (seed, result[0].hash), \
               box_for (mix (seed, 2), result[1].box.name)); \
  satin_sync (); \
  for (int i = 0; i < 3; i++) \
    child[i] \
        = mix (result[i].hash, mix (hash_box (&result[i].box), (uint64_t)result[i].corners[2].x)); \
  uint64_t hash = combine (depth, seed, hash_box (&box), child, eighth, none); \
  return answer_of (hash, satin_bytes (g_bytes_new (&hash, 1 + hash % 8)))

SATIN_JOB_DEFINE (even, Answer, (int32_t, depth), (uint64_t, seed), (Box, box))
{
  BODY (odd);
}

SATIN_JOB_DEFINE (odd, Answer, (int32_t, depth), (uint64_t, seed), (Box, box))
{
  BODY (even);
}

/* `size` bytes, each half made by a child: large results on every level. */
SATIN_JOB (large, SatinBytes, (uint64_t, size), (uint64_t, seed))
{
  if (size <= 1 << 20)
    {
      uint8_t *data = g_malloc (size);
      for (uint64_t i = 0; i < size; i++)
        data[i] = (uint8_t)((i * 2654435761u + seed) >> 8);
      return satin_bytes (g_bytes_new_take (data, size));
    }
  SatinBytes left, right;
  uint64_t half = size / 2;
  satin_spawn (large, &left, half, seed);
  satin_spawn (large, &right, size - half, seed + 1);
  satin_sync ();
  uint8_t *data = g_malloc (size);
  memcpy (data, g_bytes_get_data (left, NULL), half);
  memcpy (data + half, g_bytes_get_data (right, NULL), size - half);
  return satin_bytes (g_bytes_new_take (data, size));
}

static gboolean
large_is_right (const uint8_t *data, uint64_t size, uint64_t seed)
{
  if (size > 1 << 20)
    return large_is_right (data, size / 2, seed)
           && large_is_right (data + size / 2, size - size / 2, seed + 1);
  for (uint64_t i = 0; i < size; i++)
    if (data[i] != (uint8_t)((i * 2654435761u + seed) >> 8))
      return FALSE;
  return TRUE;
}

SATIN_RECORD (Everything, (Answer, answer), (SatinBytes, large))

SATIN_JOB (everything, Everything, (int32_t, depth), (uint64_t, size))
{
  Everything all;
  satin_spawn (even, &all.answer, depth, 1, box_for (1, NULL));
  satin_spawn (large, &all.large, size, 5);
  satin_sync ();
  return all;
}

/* The same answer by plain recursion. */
static uint64_t
serial (int32_t depth, uint64_t seed, const Box *box, GBytes **name)
{
  uint64_t child[3], hash;
  if (depth == 0)
    {
      hash = grind (mix (seed, hash_box (box)));
      *name = g_bytes_new (&hash, sizeof hash);
      return hash;
    }
  GBytes *names[3];
  uint64_t hashes[3];
  g_autoptr (GBytes) bytes = g_bytes_new (&seed, sizeof seed);
  for (int i = 0; i < 3; i++)
    {
      Box b = box_for (mix (seed, (uint64_t)i), i == 0 ? bytes : i == 2 ? names[1] : NULL);
      hashes[i] = serial (i < 2 ? depth - 1 : depth / 2,
                          i < 2 ? mix (seed, (uint64_t)i) : mix (seed, hashes[0]), &b, &names[i]);
    }
  for (int i = 0; i < 3; i++)
    {
      Answer answer = answer_of (hashes[i], names[i]);
      child[i] = mix (hashes[i], mix (hash_box (&answer.box), (uint64_t)answer.corners[2].x));
      g_bytes_unref (names[i]);
    }
  hash = combine (depth, seed, hash_box (box), child, eight_serial (seed), 77);
  *name = g_bytes_new (&hash, 1 + hash % 8);
  return hash;
}

static int
mixed_main (SatinRun *run, int argc, char **argv)
{
  if (argc < 2 || argc > 3)
    {
      g_printerr ("usage: mixed DEPTH [MEBIBYTES]\n");
      return 2;
    }
  int32_t depth = atoi (argv[1]);
  uint64_t size = argc > 2 ? strtoull (argv[2], NULL, 10) << 20 : 1 << 21;
  Salt value = { 77, "salt" };
  Box box = box_for (1, NULL);
  Everything all;
  satin_publish (run, salt, &value);
  if (!satin_root (run, everything, &all, depth, size))
    return satin_stopped (run);
  GBytes *name;
  uint64_t expected = serial (depth, 1, &box, &name);
  gboolean right = all.answer.hash == expected && g_bytes_equal (all.answer.box.name, name)
                   && g_bytes_get_size (all.large) == size
                   && large_is_right (g_bytes_get_data (all.large, NULL), size, 5);
  g_bytes_unref (name);
  g_print ("mixed %s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

SATIN_APP ("mixed", "DEPTH [MEBIBYTES]", mixed_main)
