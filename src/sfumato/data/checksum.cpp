#include "sfumato/data/checksum.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Whether OpenSSL failed for want of memory: one of the errors that it lists from the inside out.
bool is_out_of_memory() {
  while (const unsigned long error = ERR_get_error()) {
    if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) return true;
  }
  return false;
}

EVP_MD_CTX* new_context() {
  // What OpenSSL sets up at the first use may find no memory; going on without would end in a null lock.
  EVP_MD_CTX* context = OSSL_LIB_CTX_get0_global_default() == nullptr ? nullptr : EVP_MD_CTX_new();
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

class Hasher {
 public:
  explicit Hasher(Digest digest) : context_(new_context(), EVP_MD_CTX_free) {
    const EVP_MD* method = digest == Digest::sha256 ? EVP_sha256() : EVP_md5();
    if (EVP_DigestInit_ex(context_.get(), method, nullptr) != 1) {
      if (is_out_of_memory()) throw std::bad_alloc();
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
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    hex.reserve(2 * std::size_t{size});
    for (unsigned int i = 0; i < size; ++i) {
      hex += kDigits[bytes[i] >> 4];
      hex += kDigits[bytes[i] & 0xF];
    }
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
