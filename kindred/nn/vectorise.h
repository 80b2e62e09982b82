// Compiles a function for several generations of processors; the best one is chosen at start.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define KINDRED_GENERATIONS 1
#define KINDRED_VECTORISE \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KINDRED_GENERATIONS 0
#define KINDRED_VECTORISE
#endif
