#ifndef CCONTRACT_H
#define CCONTRACT_H

#include <stddef.h>

/// The first byte of openapi.yaml, which is part of the program.
const unsigned char *larder_contract_bytes(void);
/// Its number of bytes.
size_t larder_contract_size(void);

/// The first byte of openapi-sandbox.yaml, which is part of the program.
const unsigned char *larder_controls_bytes(void);
/// Its number of bytes.
size_t larder_controls_size(void);

#endif
