/* SPDX-License-Identifier: BSD-3-Clause */
/* See bid.h. A bid does not prove the file as a take-over does: it reads only the run's id and the
 * generation. Both rows have the checksum of the run's identity. */
#include "coordinator/bid.h"

#include "coordinator/pair.h"

#include "storage/publish.h"
#include "storage/rowsum.h"
#include "storage/tables.h"

#include "storage/places/place.h"

#include "storage/recover/guard.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FAR_US (8 * G_USEC_PER_SEC)

/* The generation of this run's file at `target`; 0: there is none. */
static guint64
read_one (const char *target, const Identity *identity)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  g_autoptr (Sql) file = guard_is_ours (target) ? sql_open_frozen (target, NULL) : NULL;
  if (file == NULL)
    return 0;
  digest_to_hex (&identity->identity, hex);
  rowsum_identify (file, hex);
  g_autofree char *run = tables_get_string (file, "id", NULL);
  g_autofree char *generation = tables_get_string (file, "generation", NULL);
  if (run == NULL || generation == NULL || strcmp (run, identity->run) != 0)
    return 0;
  return g_ascii_strtoull (generation, NULL, 10);
}

/* The higher generation of base and delta. */
static guint64
read_generation (const char *target, const Identity *identity)
{
  g_autofree char *delta = pair_delta_path (target);
  guint64 base = read_one (target, identity);
  return base > 0 ? MAX (base, read_one (delta, identity)) : 0;
}

/* At a URI the header contains the generation (courier.h), so a bid downloads no file. */
static gboolean
make_far (const char *target, BidResult *result, GError **error)
{
  g_autoptr (Place) place = place_open (target, error);
  PlaceState state = { 0 };
  if (place == NULL)
    return FALSE;
  place_set_limit (place, g_get_monotonic_time () + FAR_US);
  if (!place_look (place, "", &state, error))
    return FALSE;
  gboolean has_delta = state.has_delta;
  result->generation = state.exists ? state.number : 0;
  result->bytes = state.bytes;
  place_state_clear (&state);
  if (has_delta && !place_look (place, PLACE_DELTA, &state, error))
    return FALSE;
  if (has_delta && state.exists)
    {
      result->generation = MAX (result->generation, state.number);
      result->bytes = state.bytes; /* the next publications are of this size */
    }
  place_state_clear (&state);
  result->bytes = CLAMP (result->bytes, BID_BYTES_MIN, BID_BYTES_MAX);
  return place_trial (place, result->bytes, &result->commit_us, error);
}

gboolean
bid_make (const char *target, const Identity *identity, BidResult *result, GError **error)
{
  struct stat status;
  GError *reason = NULL;
  if (place_is_remote (target))
    {
      *result = (BidResult){ 0 };
      if (!make_far (target, result, &reason))
        identity_take_error (error, reason);
      return reason == NULL;
    }
  *result = (BidResult){ .generation = read_generation (target, identity), .bytes = BID_BYTES_MIN };
  if (result->generation > 0 && stat (target, &status) == 0)
    result->bytes = CLAMP ((guint64)status.st_size, BID_BYTES_MIN, BID_BYTES_MAX);
  if (publish_trial (target, identity->run, result->bytes, &result->commit_us, &reason))
    return TRUE;
  identity_take_error (error, reason);
  return FALSE;
}

guint64
bid_scale (guint64 us, guint64 bytes)
{
  return bytes > BID_BYTES_MAX ? (guint64)((double)us * BID_BYTES_MAX / (double)bytes) : us;
}
