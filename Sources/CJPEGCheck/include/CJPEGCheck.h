#ifndef LARDER_JPEG_CHECK_H
#define LARDER_JPEG_CHECK_H

#include <stddef.h>

/// How a JPEG was found.
enum {
    LARDER_JPEG_WHOLE = 0,
    LARDER_JPEG_DAMAGED = 1,
    LARDER_JPEG_OUT_OF_MEMORY = 2,
    LARDER_JPEG_LATE = 3,
};

/// Decodes a JPEG at an eighth of its size, which reads all of its data, and discards the pixels. May be called by
/// several threads at a time.
///
/// @param bytes     the JPEG, which should end with the marker for its end
/// @param count     their number
/// @param seconds   processor time that it may take
int larder_jpeg_check(const unsigned char *bytes, size_t count, int seconds);

#endif
