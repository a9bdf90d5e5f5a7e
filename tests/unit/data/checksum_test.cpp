#include "sfumato/data/checksum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

// FIPS 180-4 and RFC 1321 test vectors.
TEST(Checksum, KnownAnswers) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(Checksum, StreamsGiveTheSame) {
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    const std::string bytes(size, 'x');
    std::istringstream stream(bytes);
    EXPECT_EQ(digest_of(Digest::sha256, stream), sha256(bytes)) << size;
    std::istringstream again(bytes);
    EXPECT_EQ(digest_of(Digest::md5, again), md5(bytes)) << size;
  }
}

TEST(Checksum, ABrokenStream) {
  std::istringstream stream("x");
  stream.setstate(std::ios::badbit);
  EXPECT_THROW((void)digest_of(Digest::md5, stream), StorageError);
}

TEST(Checksum, Joint) {
  EXPECT_EQ(joint_digest(std::array<std::string, 1>{"ab"}), "ab");
  EXPECT_EQ(joint_digest(std::vector<std::string>{"ab", "cd"}), sha256("ab\ncd\n"));
}

}  // namespace
}  // namespace sfumato
