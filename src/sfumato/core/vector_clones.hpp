#pragma once

#include <cstring>

/// Before a function of plain loops: also compile it for wider vectors, chosen when the program
/// starts. With -ffp-contract=off every version gives the same bits: the operations and their order
/// are the same. Sanitizers start too late for the choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SFUMATO_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SFUMATO_VECTOR_CLONES
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
