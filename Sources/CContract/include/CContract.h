#ifndef CCONTRACT_H
#define CCONTRACT_H

#include <stddef.h>

/// The contract.yaml of an app of Larder, of its `screens` or its `web` pages, which is part of the program; NULL for
/// other names.
const char *larder_contract_text(const char *name);

/// The first byte of openapi-sandbox.yaml, which is part of the program.
const unsigned char *larder_controls_bytes(void);
/// Its number of bytes.
size_t larder_controls_size(void);

#endif
