/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the values of SATIN_CONST objects, which register themselves before main. Any thread.
 * Tests: test-satin-h. */
#include "config.h"

#include "constant.h"

#include "record.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t constant_mutex = PTHREAD_MUTEX_INITIALIZER;
static SatinConst_ *constant_first;
static GPtrArray *constant_old; /* values of earlier runs, which stay readable */

void
satin_const_register_ (SatinConst_ *constant)
{
  pthread_mutex_lock (&constant_mutex);
  constant->next = constant_first;
  constant_first = constant;
  pthread_mutex_unlock (&constant_mutex);
}

SatinConst_ *
constant_find (const char *name)
{
  SatinConst_ *constant = constant_first;

  while (constant != NULL && strcmp (constant->name, name) != 0)
    constant = constant->next;
  return constant;
}

GBytes *
constant_encode_value (const SatinConst_ *constant, const void *value)
{
  return record_encode (constant->type, value);
}

GBytes *
constant_encode (const SatinConst_ *constant)
{
  const void *value
      = __atomic_load_n (&constant->value, __ATOMIC_ACQUIRE); /* pairs with constant_set */

  return value == NULL ? NULL : constant_encode_value (constant, value);
}

void
constant_forget (void)
{
  pthread_mutex_lock (&constant_mutex);
  if (constant_old == NULL)
    constant_old = g_ptr_array_new ();
  for (SatinConst_ *constant = constant_first; constant != NULL; constant = constant->next)
    {
      g_ptr_array_add (constant_old, (gpointer)constant->value);
      __atomic_store_n (&constant->value, NULL, __ATOMIC_RELEASE); /* as in constant_set */
    }
  pthread_mutex_unlock (&constant_mutex);
}

gboolean
constant_set (SatinConst_ *constant, const void *value)
{
  g_autoptr (GBytes) old = NULL, new = constant_encode_value (constant, value);
  void *copy;

  pthread_mutex_lock (&constant_mutex);
  old = constant_encode (constant);
  if (old == NULL)
    {
      copy = g_malloc0 (constant->type->size);
      record_copy (constant->type, copy, value);
      __atomic_store_n (&constant->value, copy,
                        __ATOMIC_RELEASE); /* pairs with satin_const_value_ */
    }
  pthread_mutex_unlock (&constant_mutex);
  return old == NULL || g_bytes_equal (old, new);
}

gboolean
constant_set_encoded (SatinConst_ *constant, GBytes *bytes, GError **error)
{
  g_autofree void *value = g_malloc0 (constant->type->size);
  gboolean set;

  if (!record_decode (constant->type, bytes, value, error))
    return FALSE;
  set = constant_set (constant, value);
  record_clear (constant->type, value);
  if (!set)
    g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED,
                 "constant '%s' has another value already", constant->name);
  return set;
}
