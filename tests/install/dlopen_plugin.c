// Loads the plugin as NCCL does and checks what it exports. In C, so that this program's C++ runtime cannot hide a
// missing library.
//
//   dlopen_plugin <path to libnccl-net-cableway.so>
#include <dlfcn.h>
#include <stdio.h>
#include <strings.h>

// Every table begins with its name, which NCCL compares without case.
static int has_tables(void* library, const char* prefix, int first, int last) {
  for (int version = first; version <= last; ++version) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%s%d", prefix, version);
    const char* const* table = (const char* const*)dlsym(library, symbol);
    if (table == NULL) {
      fprintf(stderr, "%s: %s\n", symbol, dlerror());
      return 0;
    }
    if (*table == NULL || strcasecmp(*table, "cableway") != 0) {
      fprintf(stderr, "%s: its name is \"%s\", not \"cableway\"\n", symbol, *table == NULL ? "(null)" : *table);
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s <plugin>\n", argv[0]);
    return 2;
  }
  // Twice: NCCL closes the library with its last communicator and opens it again with the next.
  for (int round = 0; round < 2; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "dlopen: %s\n", dlerror());
      return 1;
    }
    if (!has_tables(library, "ncclNetPlugin_v", 8, 12) || !has_tables(library, "ncclTunerPlugin_v", 3, 6) ||
        !has_tables(library, "ncclEnvPlugin_v", 1, 2)) {
      return 1;
    }
    if (dlclose(library) != 0) {
      fprintf(stderr, "dlclose: %s\n", dlerror());
      return 1;
    }
  }
  printf("%s: network v8 to v12, tuner v3 to v6, environment v1 and v2 found\n", argv[1]);
  return 0;
}
