/* SPDX-License-Identifier: BSD-3-Clause */
/* libcurl is loaded when the first URI is used. With its dependencies it costs ten milliseconds and
 * six megabytes, which a program that stays on its machine need not pay.
 * Tests: uri.sh, servers.sh. */
#include "storage/places/place-private.h"

#include <gmodule.h>

/* Their binary interfaces are the same; Debian's second one uses another TLS library. */
static const char *const place_libraries[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static gboolean
load (Curl *curl)
{
  GModule *module = NULL;
  gpointer *const pointers[] = { (gpointer *)&curl->global_init,
                                 (gpointer *)&curl->init,
                                 (gpointer *)&curl->cleanup,
                                 (gpointer *)&curl->reset,
                                 (gpointer *)&curl->setopt,
                                 (gpointer *)&curl->perform,
                                 (gpointer *)&curl->getinfo,
                                 (gpointer *)&curl->message,
                                 (gpointer *)&curl->list_append,
                                 (gpointer *)&curl->list_free,
                                 NULL };
  static const char *const names[]
      = { "curl_global_init",  "curl_easy_init",     "curl_easy_cleanup", "curl_easy_reset",
          "curl_easy_setopt",  "curl_easy_perform",  "curl_easy_getinfo", "curl_easy_strerror",
          "curl_slist_append", "curl_slist_free_all" };

  for (guint i = 0; i < G_N_ELEMENTS (place_libraries) && module == NULL; i++)
    module = g_module_open (place_libraries[i], G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  if (module == NULL)
    return FALSE;
  for (guint i = 0; pointers[i] != NULL; i++)
    if (!g_module_symbol (module, names[i], pointers[i]))
      return FALSE;
  g_module_make_resident (module);
  return curl->global_init (CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const Curl *
place_curl (void)
{
  static Curl curl;
  static gsize once;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, load (&curl) ? 1 : 2);
  return once == 1 ? &curl : NULL;
}
