// Compiles a function for several generations of processors; the best one is chosen at start.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define KINDRED_GENERATIONS 1
#define KINDRED_VECTORISE \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/// The same without fused multiplications and additions: every generation gives the same bits.
#define KINDRED_VECTORISE_ALIKE __attribute__((target_clones("avx2", "default")))
#else
#define KINDRED_GENERATIONS 0
#define KINDRED_VECTORISE
#define KINDRED_VECTORISE_ALIKE
#endif
