#include <fmt/format.h>

#include "fuzz_files.hpp"
#include "fuzz_main.hpp"
#include "lab/study/checkpoint.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"

using namespace sfumato;
using namespace sfumato::lab;

namespace {

/// The archive with the digest that belongs to it, as digest_of_arrays() in checkpoint.cpp.
std::string with_right_digest(const Arrays& arrays) {
  NpzWriter writer;
  std::string text;
  for (const auto& [name, array] : arrays) {
    if (name == "digest") continue;
    const auto* bytes = reinterpret_cast<const char*>(array.values.data());
    const auto size = static_cast<std::size_t>(array.values.size()) * sizeof(double);
    text += fmt::format("{} {} {}\n", name, shape_text(array), sha256({bytes, size}));
    writer.add(name, array);
  }
  const std::string digest = sha256(text);
  Eigen::VectorXd codes(std::ssize(digest));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    codes[static_cast<Eigen::Index>(i)] = static_cast<unsigned char>(digest[i]);
  }
  writer.add("digest", vector_array(codes));
  return writer.bytes();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 22;
  fuzz(data, size, [](std::string_view bytes) { (void)read_checkpoint(file_with(bytes, ".npz")); });
  return fuzz(data, size, [](std::string_view bytes) {
    (void)read_checkpoint(file_with(with_right_digest(parse_npz(bytes, "f.npz", kLimit)), ".npz"));
  });
}
