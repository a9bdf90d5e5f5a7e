#include <fmt/format.h>

int main() {
  fmt::print("sfumato\n");
  return 0;
}
