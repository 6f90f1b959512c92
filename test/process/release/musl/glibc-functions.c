/*
 * Functions that Debian's libstdc++ and libgcc use and that musl does not have. They suffice to
 * start the executable: C++ exceptions are not unwound, and thread-local destructors do not run.
 */
#define _GNU_SOURCE
#include <locale.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded = 0;

struct {
  unsigned vendor, type, subtype, features;
} __cpu_model;

int __cpu_indicator_init(void) { return 0; }

int _dl_find_object(void *address, void *result) { return -1; }

int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *handle) { return 0; }

size_t __strftime_l(char *text, size_t size, const char *format, const struct tm *time,
                    locale_t locale) {
  return strftime_l(text, size, format, time, locale);
}

uint32_t arc4random(void) {
  uint32_t value = 0;
  getrandom(&value, sizeof value, 0);
  return value;
}
