#pragma once

#include <cstring>

// Before a function of plain loops: one build for machines with AVX2 and one for all others. Both
// give the same bits, because without contraction the operations and their order are the same.
// Sanitizers do not support the dispatch.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SFUMATO_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SFUMATO_CLONES
#endif

namespace sfumato {

/// Four numbers that are added and multiplied at once, whatever registers the machine has. Left to
/// itself the compiler sometimes picks the wrong one of two nested loops to make vector code of.
using Four = double __attribute__((vector_size(32)));

/// Four numbers side by side in memory, aligned or not. Macros, because a function that returns a
/// Four has no one calling convention for all machines.
#define SFUMATO_LOAD(four, from) std::memcpy(&(four), (from), sizeof(::sfumato::Four))
#define SFUMATO_STORE(to, four) std::memcpy((to), &(four), sizeof(::sfumato::Four))

}  // namespace sfumato
