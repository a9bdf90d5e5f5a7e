#pragma once

/// Before a function of plain loops: also compile it for wider vectors, chosen when the program starts.
/// With -ffp-contract=off every version gives the same bits. Sanitizers start too late for the choice.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SFUMATO_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SFUMATO_VECTOR_CLONES
#endif
