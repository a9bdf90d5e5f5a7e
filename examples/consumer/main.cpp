// The smallest program that uses the installed library: a number with its claim.
#include <fmt/format.h>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

int main() {
  const sfumato::Claimed<sfumato::Nats> kl{sfumato::Nats(0.5), sfumato::Claim::upper_bound};
  fmt::print("KL {} {} nats\n", symbol(kl.claim), kl.value.value());
}
