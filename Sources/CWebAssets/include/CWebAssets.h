#ifndef CWEBASSETS_H
#define CWEBASSETS_H

#include <stddef.h>

/// A file of the front end, which is part of the program.
struct larder_web_asset {
    /// Its name, without a folder.
    const char *name;
    /// The first of its bytes.
    const unsigned char *bytes;
    /// Their number.
    size_t size;
};

/// The first file of the front end.
const struct larder_web_asset *larder_web_assets(void);
/// The number of files.
size_t larder_web_asset_count(void);

#endif
