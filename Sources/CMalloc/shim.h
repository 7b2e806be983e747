#pragma once
// glibc's settings of its allocator, which Swift's module of glibc lacks.
#include <malloc.h>
