/* Linked into releases: Swift's static libraries ask for hypot, whose version of glibc 2.35 differs in speed only.
   Hidden, since the dynamic linker would take an exported one for the older one as well: an endless call. */
#ifdef __x86_64__
#define VERSION "GLIBC_2.2.5"
#else
#define VERSION "GLIBC_2.17"
#endif
#define OLDER(name, type) \
  __asm__(".symver older_" #name ", " #name "@" VERSION); \
  extern type older_##name(type, type); \
  __attribute__((visibility("hidden"))) type name(type x, type y) { return older_##name(x, y); }

OLDER(hypot, double)
OLDER(hypotf, float)
