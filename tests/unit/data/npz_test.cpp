#include "sfumato/data/npz.hpp"

#include <gtest/gtest.h>

#include "sfumato/data/npy.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(const std::string& bytes, std::uint64_t limit = kLargestFile) {
  return message_of<InvalidArgument>([&] { (void)parse_npz(bytes, "a.npz", limit); });
}

NpzWriter example() {
  NpzWriter writer;
  writer.add("matrix", matrix_array(Eigen::MatrixXd::Identity(40, 40)));
  writer.add("v", vector_array(Eigen::Vector2d(1, 2)));
  writer.add_text("meta", "{\"form\": \"dense\"}");
  return writer;
}

/// `bytes` with the little-endian integer `value` of `width` bytes at `at`.
std::string patched(std::string bytes, std::size_t at, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i, value >>= 8u) {
    bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value & 0xFFu);
  }
  return bytes;
}

std::size_t central_record(const std::string& bytes) { return bytes.find("PK\x01\x02"); }
std::size_t end_record(const std::string& bytes) { return bytes.rfind("PK\x05\x06"); }

TEST(Npz, ReadsWhatNumPyWrites) {
  const TempDir dir;
  run_numpy(dir, R"(
arrays = dict(matrix=np.eye(50) * 3, v=np.arange(5), s=np.float32(2.5), meta=np.frombuffer(b'{"a":1}', dtype=np.uint8))
np.savez('stored.npz', **arrays)
np.savez_compressed('deflated.npz', **arrays)
import zipfile, io
class Pipe(io.BytesIO):
    def seekable(self): return False
    def seek(self, *a): raise OSError
    def tell(self): raise OSError
pipe = Pipe()
buffer = io.BytesIO(); np.save(buffer, np.ones(3))
with zipfile.ZipFile(pipe, 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('a.npy', buffer.getvalue())
open('descriptor.npz', 'wb').write(pipe.getvalue())
with zipfile.ZipFile('comment.npz', 'w') as z:
    z.writestr('a.npy', buffer.getvalue()); z.comment = b'a comment'
)");
  for (const char* file : {"stored.npz", "deflated.npz"}) {
    const Arrays arrays = read_npz(dir / file);
    ASSERT_EQ(arrays.size(), 4u) << file;
    EXPECT_EQ(arrays.at("matrix").values, 3.0 * Eigen::MatrixXd::Identity(50, 50));
    EXPECT_EQ(arrays.at("v").values, Eigen::VectorXd::LinSpaced(5, 0, 4));
    EXPECT_EQ(arrays.at("s").values(0, 0), 2.5);
    EXPECT_EQ(arrays.at("s").rank, 0);
    EXPECT_EQ(text_of(arrays.at("meta"), file), "{\"a\":1}");
  }
  // Written to a pipe, sizes and checksum follow the data; only the directory has them in front.
  EXPECT_EQ(read_npz(dir / "descriptor.npz").at("a").values, Eigen::Vector3d::Ones());
  EXPECT_EQ(read_npz(dir / "comment.npz").at("a").values, Eigen::Vector3d::Ones());
}

TEST(Npz, NumPyReadsWhatIsWritten) {
  const TempDir dir;
  example().write(dir / "stored.npz", Compression::stored);
  example().write(dir / "deflated.npz");
  EXPECT_LT(std::filesystem::file_size(dir / "deflated.npz"),
            std::filesystem::file_size(dir / "stored.npz") / 4);
  run_numpy(dir, R"(
import zipfile
for name in ['stored.npz', 'deflated.npz']:
    assert zipfile.ZipFile(name).testzip() is None
    a = np.load(name)
    assert sorted(a.files) == ['matrix', 'meta', 'v'], a.files
    assert (a['matrix'] == np.eye(40)).all() and (a['v'] == [1, 2]).all()
    assert a['meta'].tobytes() == b'{"form": "dense"}'
)");
}

TEST(Npz, EqualContentGivesEqualBytes) { EXPECT_EQ(example().bytes(), example().bytes()); }

TEST(Npz, RefusesEveryTruncation) {
  const std::string whole = example().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(refusal(whole.substr(0, size)).starts_with("a.npz: is a damaged archive")) << size;
  }
}

TEST(Npz, RefusesDamage) {
  const std::string stored = example().bytes(Compression::stored);
  std::string flipped = stored;
  flipped[200] = static_cast<char>(flipped[200] ^ 1);
  EXPECT_EQ(
      refusal(flipped),
      "a.npz: is a damaged archive: entry \"matrix.npy\" fails its checksum. Copy or write the "
      "file again.");
  std::string packed = example().bytes();
  packed[60] = static_cast<char>(packed[60] ^ 0x55);
  EXPECT_TRUE(refusal(packed).starts_with("a.npz: is a damaged archive: entry \"matrix.npy\""));
  EXPECT_NE(refusal("\x93NUMPY and more than twenty-two bytes").find("is not a ZIP archive"),
            std::string::npos);

  const std::size_t central = central_record(stored), end = end_record(stored);
  EXPECT_NE(refusal(patched(stored, central + 8, 1, 2)).find("is encrypted"), std::string::npos);
  EXPECT_NE(refusal(patched(stored, central + 10, 12, 2)).find("compression method 12"),
            std::string::npos);
  EXPECT_NE(refusal(patched(stored, central + 24, 7, 4)).find("has two sizes"), std::string::npos);
  EXPECT_NE(refusal(patched(stored, central + 24, 0xFFFFFFFF, 4)).find("ZIP64"), std::string::npos);
  EXPECT_NE(refusal(patched(stored, central + 42, 5, 4)).find("not where the directory says"),
            std::string::npos);
  EXPECT_NE(refusal(patched(stored, central + 20, 0x7FFFFFFF, 4)).find("truncated"),
            std::string::npos);
  EXPECT_NE(refusal(patched(stored, end + 16, 0x7FFFFFFF, 4)).find("outside the file"),
            std::string::npos);
  EXPECT_NE(refusal(patched(stored, end + 16, 0xFFFFFFFF, 4)).find("ZIP64"), std::string::npos);
  EXPECT_NE(refusal(patched(stored, end + 4, 1, 2)).find("split archive"), std::string::npos);
  EXPECT_NE(
      refusal(patched(patched(stored, end + 8, 4, 2), end + 10, 4, 2)).find("record is missing"),
      std::string::npos);
}

TEST(Npz, RefusesBombs) {
  NpzWriter writer;
  writer.add("zeros", vector_array(Eigen::VectorXd::Zero(1 << 20)));
  const std::string bytes = writer.bytes();
  EXPECT_LT(bytes.size(), 20000u);
  EXPECT_EQ(parse_npz(bytes, "a.npz").size(), 1u);
  EXPECT_EQ(refusal(bytes, 1 << 20),
            "a.npz: entry \"zeros.npy\" takes the archive beyond the limit of 1048576 bytes. Check "
            "that this is the right file.");
  const std::size_t central = central_record(bytes);
  EXPECT_NE(refusal(patched(bytes, central + 24, 0xF0000000, 4)).find("impossible size"),
            std::string::npos);
  // A false size does not fit the shape in the header, which is looked at first.
  EXPECT_NE(refusal(patched(bytes, central + 24, 1000, 4)).find("is truncated"), std::string::npos);
  EXPECT_NE(refusal(patched(bytes, central + 24, 0, 4)).find("is not an NPY file"),
            std::string::npos);
  EXPECT_NE(refusal(patched(bytes, central + 24, (8 << 20) + 129, 4)).find("is too long"),
            std::string::npos);
}

TEST(Npz, RefusesEntriesThatOverlap) {
  NpzWriter writer;
  writer.add("a", vector_array(Eigen::VectorXd::Zero(1000)));
  writer.add("b", vector_array(Eigen::VectorXd::Zero(1000)));
  const std::string bytes = writer.bytes();
  const std::size_t first = central_record(bytes), second = bytes.find("PK\x01\x02", first + 1);
  // Both directory records name the first entry; its name in front of the data is not looked at.
  EXPECT_EQ(refusal(patched(bytes, second + 42, 0, 4)),
            "a.npz: is a damaged archive: its entries overlap. Copy or write the file again.");
  const std::string stored = writer.bytes(Compression::stored);
  const std::size_t central = central_record(stored);
  // An entry that reaches into the next one.
  EXPECT_NE(refusal(patched(patched(stored, central + 20, 9000, 4), central + 24, 9000, 4))
                .find("its entries overlap"),
            std::string::npos);
}

TEST(Npz, NamesAndHeadersAreLookedAtBeforeAnythingIsInflated) {
  NpzWriter writer;
  writer.add("zeros", vector_array(Eigen::VectorXd::Zero(1 << 20)));
  std::string bytes = writer.bytes();
  const std::size_t middle = central_record(bytes) / 2;
  bytes[middle] = static_cast<char>(bytes[middle] ^ 0x55);  // what comes later is damaged
  EXPECT_NE(refusal(bytes).find("is a damaged archive: entry \"zeros.npy\""), std::string::npos);
  const auto check = [](const ArrayShapes& shapes) {
    EXPECT_EQ(shapes.at("zeros"), std::vector<std::uint64_t>{1 << 20});
    throw InvalidArgument("is not what was asked for", "Give another", Where::in("a.npz"));
  };
  const auto read = [&] { (void)parse_npz(bytes, "a.npz", kLargestFile, check); };
  EXPECT_EQ(message_of<InvalidArgument>(read), "a.npz: is not what was asked for. Give another.");
}

TEST(Npz, RefusesOtherArchives) {
  EXPECT_NE(
      refusal(zip_bytes({{"readme.txt", "hi"}}, Compression::stored)).find("holds \"readme.txt\""),
      std::string::npos);
  EXPECT_NE(refusal(zip_bytes({}, Compression::stored)).find("holds no arrays"), std::string::npos);
  const std::string one = npy_bytes(scalar_array(1));
  EXPECT_NE(refusal(zip_bytes({{"a.npy", one}, {"a.npy", one}}, Compression::stored))
                .find("occurs twice"),
            std::string::npos);
  EXPECT_EQ(refusal(zip_bytes({{"a.npy", "nonsense"}}, Compression::deflated)),
            "a.npz[\"a\"]: is not an NPY file: it does not begin with \\x93NUMPY. Write it with "
            "numpy.save.");
}

TEST(Npz, WriterRefusesNamesTwice) {
  NpzWriter writer = example();
  EXPECT_THROW(writer.add("v", scalar_array(1)), InvalidArgument);
  EXPECT_THROW(writer.add("", scalar_array(1)), InvalidArgument);
  EXPECT_THROW(writer.add("w", vector_array(Eigen::VectorXd(0))), InvalidArgument);
  EXPECT_THROW(writer.write("/dev/full"), StorageError);
}

TEST(Npz, SinglePrecisionWithManyAxes) {
  const TempDir dir;
  NpzWriter writer;
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  writer.add("conv.weight", values, std::vector<std::size_t>{2, 2, 1, 2});
  writer.add("conv.bias", values, std::vector<std::size_t>{8});
  writer.write(dir / "a.npz");
  run_numpy(dir, R"(a = np.load('a.npz')
w = a['conv.weight']
assert sorted(a.files) == ['conv.bias', 'conv.weight']
assert w.dtype == np.float32 and w.shape == (2, 2, 1, 2)
assert (w.ravel() == np.arange(8)).all() and a['conv.bias'].shape == (8,)
)");
  EXPECT_THROW(writer.add("x", values, std::vector<std::size_t>{7}), InvalidArgument);
  EXPECT_THROW(writer.add("x", {}, std::vector<std::size_t>{0}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
