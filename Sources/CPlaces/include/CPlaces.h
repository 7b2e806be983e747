#ifndef CPLACES_H
#define CPLACES_H

#include <stddef.h>

/// The first byte of places.txt.
const unsigned char *larder_places(void);
/// The number of its bytes.
size_t larder_places_length(void);

#endif
