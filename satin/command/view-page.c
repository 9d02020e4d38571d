/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-page.h. Tests: test-view-page, view.sh. */
#include "view-page.h"

#include <gio/gio.h>
#include <string.h>

#define FOLDER "/satin/view/"

char *
view_page_escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *html = g_string_new (NULL);

  for (const char *p = valid; *p != '\0'; p++)
    switch (*p)
      {
      case '<':
        g_string_append (html, "&lt;");
        break;
      case '>':
        g_string_append (html, "&gt;");
        break;
      case '&':
        g_string_append (html, "&amp;");
        break;
      case '"':
        g_string_append (html, "&quot;");
        break;
      case '\'':
        g_string_append (html, "&#39;");
        break;
      default:
        g_string_append_c (html, *p);
      }
  return g_string_free (html, FALSE);
}

/* JSON has none of these characters outside of its texts. */
char *
view_page_escape_json (const char *json)
{
  GString *text = g_string_new (NULL);

  for (const char *p = json; *p != '\0'; p++)
    if (*p == '<' || *p == '>' || *p == '&')
      g_string_append_printf (text, "\\u%04x", (guint)*p);
    else
      g_string_append_c (text, *p);
  return g_string_free (text, FALSE);
}

GBytes *
view_page_part (const char *name)
{
  g_autofree char *path = g_strconcat (FOLDER, name, NULL);
  GBytes *bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  g_assert (bytes != NULL);
  return bytes;
}

/* A part as text. (transfer full) */
static char *
part (const char *name)
{
  g_autoptr (GBytes) bytes = view_page_part (name);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

/* The template with its marks replaced. Inserted texts are not searched for marks. (transfer
 * full) */
static char *
fill (const char *title, const char *head, const char *tail)
{
  g_autofree char *template = part ("page.html"), *escaped = view_page_escape (title);
  const char *marks[] = { "@TITLE@", "@HEAD@", "@TAIL@" }, *texts[] = { escaped, head, tail };
  GString *page = g_string_new (NULL);
  const char *at = template;

  for (gsize i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      const char *mark = strstr (at, marks[i]);

      g_assert (mark != NULL);
      g_string_append_len (page, at, mark - at);
      g_string_append (page, texts[i]);
      at = mark + strlen (marks[i]);
    }
  g_string_append (page, at);
  return g_string_free (page, FALSE);
}

char *
view_page_live (const char *title)
{
  return fill (title, "<link rel=\"stylesheet\" href=\"page.css\">",
               "<script src=\"page.js\"></script>");
}

/* The Content-Security-Policy source that allows only this text. (transfer full) */
static char *
source_of (const char *text)
{
  guint8 digest[32];
  gsize size = sizeof digest;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  g_checksum_update (sum, (const guchar *)text, (gssize)strlen (text));
  g_checksum_get_digest (sum, digest, &size);
  g_autofree char *base64 = g_base64_encode (digest, size);
  return g_strdup_printf ("'sha256-%s'", base64);
}

char *
view_page_file (const char *title, const char *data)
{
  g_autofree char *css = part ("page.css"), *js = part ("page.js");
  g_autofree char *css_source = source_of (css), *js_source = source_of (js);
  g_autofree char *json = view_page_escape_json (data);
  g_autofree char *head
      = g_strconcat ("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "script-src ",
                     js_source, "; style-src ", css_source,
                     "; base-uri 'none'; form-action 'none'\">", "<style>", css, "</style>", NULL);
  g_autofree char *tail = g_strconcat ("<script type=\"application/json\" id=\"data\">", json,
                                       "</script><script>", js, "</script>", NULL);

  return fill (title, head, tail);
}
