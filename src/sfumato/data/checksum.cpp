#include "sfumato/data/checksum.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

class Hasher {
 public:
  explicit Hasher(Digest digest) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    const EVP_MD* method = digest == Digest::sha256 ? EVP_sha256() : EVP_md5();
    if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), method, nullptr) != 1) {
      throw NumericalFailure("OpenSSL refuses the digest",
                             "Check whether this system forbids it (FIPS mode)",
                             Where::in(digest == Digest::sha256 ? "SHA-256" : "MD5"));
    }
  }

  void add(std::string_view bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) {
      throw InternalError("OpenSSL does not take bytes");
    }
  }

  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    if (EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) {
      throw InternalError("OpenSSL does not finish a digest");
    }
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string digest_of(Digest digest, std::string_view bytes) {
  Hasher hasher(digest);
  hasher.add(bytes);
  return hasher.finish();
}

std::string digest_of(Digest digest, std::istream& stream) {
  Hasher hasher(digest);
  std::vector<char> buffer(std::size_t{1} << 16);
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hasher.add({buffer.data(), static_cast<std::size_t>(stream.gcount())});
  }
  if (stream.bad()) {
    throw StorageError("the stream cannot be read", "Check the disk and the connection to it");
  }
  return hasher.finish();
}

std::string sha256(std::string_view bytes) { return digest_of(Digest::sha256, bytes); }
std::string md5(std::string_view bytes) { return digest_of(Digest::md5, bytes); }

std::string joint_digest(std::span<const std::string> digests) {
  if (digests.size() == 1) return digests.front();
  std::string lines;
  for (const std::string& digest : digests) lines += digest + "\n";
  return sha256(lines);
}

}  // namespace sfumato
