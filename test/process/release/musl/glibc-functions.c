/*
 * What Debian's libstdc++ and libgcc take from glibc and musl does not have. It is enough to start
 * the executable: exceptions of C++ are not unwound, and destructors of threads do not run.
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
