/* Linked into releases: Swift's static libraries ask for these functions by symbols of 2022 (glibc 2.35, GCC 12), though
   the older ones do the same. The new names are hidden, since the dynamic linker would take an exported one for the older
   one as well: an endless call. */
#ifdef __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif
#define OLDER(result, name, version, type) \
  __asm__(".symver older_" #name ", " #name "@" version); \
  extern result older_##name(type, type); \
  __attribute__((visibility("hidden"))) result name(type x, type y) { return older_##name(x, y); }

OLDER(double, hypot, OLDEST, double)
OLDER(float, hypotf, OLDEST, float)
/* std::condition_variable::wait(std::unique_lock<std::mutex>&) */
OLDER(void, _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE, "GLIBCXX_3.4.11", void *)
