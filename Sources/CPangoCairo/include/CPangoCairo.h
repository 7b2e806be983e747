#ifndef LARDER_PANGO_CAIRO_H
#define LARDER_PANGO_CAIRO_H

#include <stdint.h>

/// What Larder calls of pango and cairo, which draw text.
///
/// The declarations are Larder's own, as those of CPQ are, and the libraries are opened when a text is drawn: with all
/// that they need they were half of the libraries of larder-pdf-worker, and most of its jobs draw none. Each
/// function is the library's of the same name behind `larder_`, and may be called after larder_pango_load has returned
/// NULL.

typedef struct cairo cairo_t;
typedef struct cairo_scaled_font cairo_scaled_font_t;
typedef struct cairo_surface cairo_surface_t;
typedef struct PangoContext PangoContext;
typedef struct PangoFont PangoFont;
typedef struct PangoFontDescription PangoFontDescription;
typedef struct PangoFontMap PangoFontMap;
typedef struct PangoLanguage PangoLanguage;
typedef struct PangoLayout PangoLayout;
typedef struct PangoLayoutIter PangoLayoutIter;

// Structures and values of enumerations as the libraries lay them out, which is part of their binary interfaces.

typedef struct PangoRectangle {
    int x, y, width, height;
} PangoRectangle;

typedef struct GSList {
    void *data;
    struct GSList *next;
} GSList;

/// The beginning of a line.
typedef struct PangoLayoutLine {
    PangoLayout *layout;
    int start_index, length;
    GSList *runs;
} PangoLayoutLine;

typedef struct PangoAnalysis {
    void *shape_engine, *lang_engine;
    PangoFont *font;
    uint8_t level, gravity, flags, script;
    PangoLanguage *language;
    GSList *extra_attrs;
} PangoAnalysis;

typedef struct PangoItem {
    int offset, length, num_chars;
    PangoAnalysis analysis;
} PangoItem;

typedef struct PangoGlyphInfo {
    uint32_t glyph;
    int width, x_offset, y_offset;
    unsigned int flags;
} PangoGlyphInfo;

/// The beginning of a string of glyphs.
typedef struct PangoGlyphString {
    int num_glyphs;
    PangoGlyphInfo *glyphs;
} PangoGlyphString;

/// The beginning of a run.
typedef struct PangoLayoutRun {
    PangoItem *item;
    PangoGlyphString *glyphs;
} PangoLayoutRun;

typedef struct PangoGlyphItemIter {
    PangoLayoutRun *glyph_item;
    const char *text;
    int start_glyph, start_index, start_char, end_glyph, end_index, end_char;
} PangoGlyphItemIter;

typedef struct cairo_glyph_t {
    unsigned long index;
    double x, y;
} cairo_glyph_t;

typedef struct cairo_text_cluster_t {
    int num_bytes, num_glyphs;
} cairo_text_cluster_t;

typedef enum { PANGO_DIRECTION_LTR = 0, PANGO_DIRECTION_RTL = 1, PANGO_DIRECTION_WEAK_LTR = 4 } PangoDirection;
typedef enum { PANGO_ALIGN_LEFT = 0, PANGO_ALIGN_CENTER = 1, PANGO_ALIGN_RIGHT = 2 } PangoAlignment;
typedef enum { PANGO_WRAP_WORD_CHAR = 2 } PangoWrapMode;
typedef enum { CAIRO_STATUS_SUCCESS = 0, CAIRO_STATUS_WRITE_ERROR = 11 } cairo_status_t;
typedef enum { CAIRO_PDF_METADATA_CREATE_DATE = 5 } cairo_pdf_metadata_t;

/// Units of pango in a point.
enum { PANGO_SCALE = 1024 };

// Each function: its result, its name, its parameters, its arguments.
#define LARDER_PANGO_FUNCTIONS(F)                                                                                      \
    F(cairo_t *, cairo_create, (cairo_surface_t * s), (s))                                                             \
    F(void, cairo_destroy, (cairo_t * c), (c))                                                                         \
    F(void, cairo_fill, (cairo_t * c), (c))                                                                            \
    F(void, cairo_move_to, (cairo_t * c, double x, double y), (c, x, y))                                               \
    F(void, cairo_rectangle, (cairo_t * c, double x, double y, double w, double h), (c, x, y, w, h))                   \
    F(void, cairo_set_line_width, (cairo_t * c, double w), (c, w))                                                     \
    F(void, cairo_set_scaled_font, (cairo_t * c, cairo_scaled_font_t *f), (c, f))                                      \
    F(void, cairo_set_source_rgb, (cairo_t * c, double r, double g, double b), (c, r, g, b))                           \
    F(void, cairo_show_page, (cairo_t * c), (c))                                                                       \
    F(void, cairo_show_text_glyphs,                                                                                    \
      (cairo_t * c, const char *t, int b, const cairo_glyph_t *g, int n, const cairo_text_cluster_t *k, int m, int f), \
      (c, t, b, g, n, k, m, f))                                                                                        \
    F(void, cairo_stroke, (cairo_t * c), (c))                                                                          \
    F(cairo_status_t, cairo_status, (cairo_t * c), (c))                                                                \
    F(const char *, cairo_status_to_string, (cairo_status_t s), (s))                                                   \
    F(cairo_surface_t *, cairo_pdf_surface_create, (const char *p, double w, double h), (p, w, h))                     \
    F(void, cairo_pdf_surface_set_metadata, (cairo_surface_t * s, cairo_pdf_metadata_t m, const char *v), (s, m, v))   \
    F(void, cairo_pdf_surface_set_size, (cairo_surface_t * s, double w, double h), (s, w, h))                          \
    F(void, cairo_surface_destroy, (cairo_surface_t * s), (s))                                                         \
    F(void, cairo_surface_finish, (cairo_surface_t * s), (s))                                                          \
    F(cairo_status_t, cairo_surface_status, (cairo_surface_t * s), (s))                                                \
    F(void, g_object_unref, (void *o), (o))                                                                         \
    F(PangoContext *, pango_cairo_create_context, (cairo_t * c), (c))                                                  \
    F(cairo_scaled_font_t *, pango_cairo_font_get_scaled_font, (PangoFont * f), (f))                                   \
    F(PangoFontMap *, pango_cairo_font_map_get_default, (void), ())                                                    \
    F(void, pango_cairo_show_glyph_item, (cairo_t * c, const char *t, PangoLayoutRun *r), (c, t, r))                   \
    F(void, pango_cairo_show_layout, (cairo_t * c, PangoLayout *l), (c, l))                                            \
    F(void, pango_context_set_base_dir, (PangoContext * c, PangoDirection d), (c, d))                                  \
    F(void, pango_context_set_language, (PangoContext * c, PangoLanguage *l), (c, l))                                  \
    F(void, pango_font_description_free, (PangoFontDescription * d), (d))                                              \
    F(PangoFontDescription *, pango_font_description_from_string, (const char *s), (s))                                \
    F(PangoContext *, pango_font_map_create_context, (PangoFontMap * m), (m))                                          \
    F(int, pango_glyph_item_iter_init_start, (PangoGlyphItemIter * i, PangoLayoutRun *r, const char *t), (i, r, t))    \
    F(int, pango_glyph_item_iter_next_cluster, (PangoGlyphItemIter * i), (i))                                          \
    F(PangoLanguage *, pango_language_from_string, (const char *s), (s))                                               \
    F(PangoLayoutIter *, pango_layout_get_iter, (PangoLayout * l), (l))                                                \
    F(int, pango_layout_get_line_count, (PangoLayout * l), (l))                                                        \
    F(PangoLayoutLine *, pango_layout_get_line_readonly, (PangoLayout * l, int n), (l, n))                             \
    F(void, pango_layout_get_size, (PangoLayout * l, int *w, int *h), (l, w, h))                                       \
    F(const char *, pango_layout_get_text, (PangoLayout * l), (l))                                                     \
    F(int, pango_layout_get_unknown_glyphs_count, (PangoLayout * l), (l))                                              \
    F(void, pango_layout_iter_free, (PangoLayoutIter * i), (i))                                                        \
    F(int, pango_layout_iter_get_baseline, (PangoLayoutIter * i), (i))                                                 \
    F(void, pango_layout_iter_get_line_extents, (PangoLayoutIter * i, PangoRectangle *k, PangoRectangle *r),           \
      (i, k, r))                                                                                                       \
    F(PangoLayoutLine *, pango_layout_iter_get_line_readonly, (PangoLayoutIter * i), (i))                              \
    F(PangoLayoutRun *, pango_layout_iter_get_run_readonly, (PangoLayoutIter * i), (i))                                \
    F(int, pango_layout_iter_next_line, (PangoLayoutIter * i), (i))                                               \
    F(int, pango_layout_iter_next_run, (PangoLayoutIter * i), (i))                                                \
    F(PangoDirection, pango_layout_line_get_resolved_direction, (PangoLayoutLine * l), (l))                            \
    F(PangoLayout *, pango_layout_new, (PangoContext * c), (c))                                                        \
    F(void, pango_layout_set_alignment, (PangoLayout * l, PangoAlignment a), (l, a))                                   \
    F(void, pango_layout_set_auto_dir, (PangoLayout * l, int a), (l, a))                                          \
    F(void, pango_layout_set_font_description, (PangoLayout * l, const PangoFontDescription *d), (l, d))               \
    F(void, pango_layout_set_text, (PangoLayout * l, const char *t, int n), (l, t, n))                                 \
    F(void, pango_layout_set_width, (PangoLayout * l, int w), (l, w))                                                  \
    F(void, pango_layout_set_wrap, (PangoLayout * l, PangoWrapMode w), (l, w))                                         \
    F(const char *, pango_version_string, (void), ())

#define LARDER_PANGO_DECLARE(type, name, parameters, arguments) type larder_##name parameters;
LARDER_PANGO_FUNCTIONS(LARDER_PANGO_DECLARE)

/// Opens the libraries once, and looks up their functions. Must not be called by several threads at a time.
///
/// @return NULL, or why they cannot be used, in the words of dlerror(3)
const char *larder_pango_load(void);

#endif
