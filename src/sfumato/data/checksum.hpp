#pragma once

#include <istream>
#include <span>
#include <string>
#include <string_view>

namespace sfumato {

/// Digests in lower-case hexadecimal. SHA-256 says that a file is the one meant; MD5, which no longer
/// withstands forgery, is for the md5s that data sets are published with.
enum class Digest { sha256, md5 };

/// Throws   NumericalFailure if the system's OpenSSL refuses the digest (MD5 in FIPS mode).
[[nodiscard]] std::string digest_of(Digest digest, std::string_view bytes);

/// The digest of the rest of a stream.
/// Throws   StorageError if reading fails; as above.
[[nodiscard]] std::string digest_of(Digest digest, std::istream& stream);

[[nodiscard]] std::string sha256(std::string_view bytes);
[[nodiscard]] std::string md5(std::string_view bytes);

/// One digest for several files: theirs if there is one, otherwise the SHA-256 of all, each followed by a
/// newline. The names of the files do not enter, so that a copy has the same.
[[nodiscard]] std::string joint_digest(std::span<const std::string> digests);

}  // namespace sfumato
