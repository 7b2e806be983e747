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

/// Checks that the pictures, forms, fonts and patterns exist that pages name as their resources, and those that these
/// name. libqpdf's C interface passes over entries of dictionaries whose objects do not exist, and leaves them out of
/// what it writes.
///
/// @param path      the document, encrypted with the empty password at most
/// @param reason    receives what is wrong, ended by a zero byte; may contain bytes of the document
/// @param capacity  bytes of `reason`, at least 1
int larder_qpdf_check_resources(const char *path, char *reason, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
