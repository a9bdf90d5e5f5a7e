#pragma once

// Before a function of plain loops: one build for machines with AVX2 and one for all others. Both
// give the same bits, because without contraction the operations and their order are the same.
// Sanitizers do not support the dispatch.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SFUMATO_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SFUMATO_CLONES
#endif
