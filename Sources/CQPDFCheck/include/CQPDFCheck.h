#ifndef LARDER_QPDF_CHECK_H
#define LARDER_QPDF_CHECK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How a document was found.
enum {
    LARDER_QPDF_WHOLE = 0,
    LARDER_QPDF_DAMAGED = 1,
    LARDER_QPDF_OUT_OF_MEMORY = 2,
};

/// Reads a whole document as `qpdf --check` does: all objects, the operators of all pages, the data of all streams.
/// libqpdf's C interface cannot read the operators of a page.
///
/// @param path      the document, not encrypted
/// @param reason    receives what is wrong, ended by a zero byte; may contain bytes of the document
/// @param capacity  bytes of `reason`, at least 1
int larder_qpdf_check(const char *path, char *reason, size_t capacity);

/// Receives a resource that content uses: its category and its name, with their slashes.
typedef void (*larder_qpdf_use)(void *context, const char *category, const char *name);

/// Finds the resources that the operators of content use, each once. A name counts if it is any of the operands.
///
/// @param content  data of content streams, without filters
/// @param length   bytes of `content`
/// @param use      receives each resource, before the function returns
/// @param context  what `use` receives
int larder_qpdf_used_resources(const unsigned char *content, size_t length, larder_qpdf_use use, void *context);

#ifdef __cplusplus
}
#endif

#endif
