/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `satin view`: no text of a run can become markup or code. */
#include "satin/command/view-page.h"

#include <string.h>

static void
test_escape (void)
{
  g_autofree char *html = view_page_escape ("<script>alert('é & \"1\"')</script>\xff");

  g_assert_cmpstr (
      html, ==, "&lt;script&gt;alert(&#39;é &amp; &quot;1&quot;&#39;)&lt;/script&gt;\xef\xbf\xbd");
}

static void
test_escape_json (void)
{
  g_autofree char *json = view_page_escape_json ("{\"a\":\"</script><!-- & \\\\\"}");

  g_assert_cmpstr (json, ==, "{\"a\":\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\\\\"}");
}

static guint
count (const char *text, const char *word)
{
  guint n = 0;

  for (const char *p = text; (p = strstr (p, word)) != NULL; p++)
    n++;
  return n;
}

static void
test_live (void)
{
  g_autofree char *page = view_page_live ("<b>@HEAD@ @TAIL@</b>");

  g_assert_true (g_str_has_prefix (page, "<!DOCTYPE html>"));
  g_assert_null (strstr (page, "<b>"));
  g_assert_cmpuint (count (page, "&lt;b&gt;@HEAD@ @TAIL@&lt;/b&gt;"), ==, 1);
  g_assert_cmpuint (count (page, "<script"), ==, 1);
  g_assert_cmpuint (count (page, "<link rel=\"stylesheet\" href=\"page.css\">"), ==, 1);
  g_assert_null (strstr (page, " style="));
  g_assert_null (strstr (page, " onclick="));
}

/* The file refers to nothing that a browser would fetch. */
static void
test_file (void)
{
  g_autofree char *page = view_page_file ("n", "{\"x\":\"</script><script>alert(1)</script>\"}");

  g_assert_cmpuint (count (page, "<script"), ==, 2);
  g_assert_cmpuint (count (page, "</script>"), ==, 2);
  g_assert_null (strstr (page, "<link"));
  g_assert_null (strstr (page, " src="));
  g_assert_nonnull (strstr (page, "default-src 'none'; script-src 'sha256-"));
  g_assert_nonnull (strstr (page, "\\u003c/script\\u003e"));
}

/* (transfer full): what is between `begin` and the next `end`. */
static char *
between (const char *text, const char *begin, const char *end)
{
  const char *from = strstr (text, begin);

  g_assert_nonnull (from);
  from += strlen (begin);
  const char *to = strstr (from, end);
  g_assert_nonnull (to);
  return g_strndup (from, (gsize)(to - from));
}

/* The source that allows a text by its SHA-256. (transfer full) */
static char *
source_of (const char *text)
{
  g_autofree char *hex = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
  guint8 digest[32];

  for (guint i = 0; i < sizeof digest; i++)
    digest[i]
        = (guint8)(g_ascii_xdigit_value (hex[2 * i]) << 4 | g_ascii_xdigit_value (hex[2 * i + 1]));
  g_autofree char *base64 = g_base64_encode (digest, sizeof digest);
  return g_strdup_printf ("'sha256-%s'", base64);
}

/* A browser runs the file's script and uses its style, and nothing else. */
static void
test_policy (void)
{
  g_autofree char *page = view_page_file ("n", "{\"x\":1}");
  g_autofree char *policy = between (page, "Content-Security-Policy\" content=\"", "\"");
  g_autofree char *js = between (page, "<script>", "</script>");
  g_autofree char *css = between (page, "<style>", "</style>");
  g_autofree char *js_source = source_of (js), *css_source = source_of (css);
  g_autofree char *wanted = g_strdup_printf ("default-src 'none'; script-src %s; style-src %s; "
                                             "base-uri 'none'; form-action 'none'",
                                             js_source, css_source);
  g_autofree char *data = between (page, "<script type=\"application/json\" id=\"data\">", "<");

  g_assert_cmpstr (policy, ==, wanted);
  g_assert_cmpstr (data, ==, "{\"x\":1}");
}

static void
test_script (void)
{
  g_autoptr (GBytes) bytes = view_page_part ("page.js");
  g_autofree char *js = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  g_assert_null (strstr (js, "innerHTML"));
  g_assert_null (strstr (js, "insertAdjacent"));
  g_assert_null (strstr (js, "document.write"));
  g_assert_null (strstr (js, "eval"));
  g_assert_null (strstr (js, "</script")); /* the script is inside a script element */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/view-page/escape", test_escape);
  g_test_add_func ("/view-page/escape-json", test_escape_json);
  g_test_add_func ("/view-page/live", test_live);
  g_test_add_func ("/view-page/file", test_file);
  g_test_add_func ("/view-page/policy", test_policy);
  g_test_add_func ("/view-page/script", test_script);
  return g_test_run ();
}
