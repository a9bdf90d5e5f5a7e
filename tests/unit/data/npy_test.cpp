#include "sfumato/data/npy.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/data/npy_header.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(const std::string& bytes) {
  return message_of<InvalidArgument>([&] { (void)parse_npy(bytes, "a.npy"); });
}

Eigen::MatrixXd two_by_three() {
  Eigen::MatrixXd m(2, 3);
  m << 0, 1, 2, 3, 4, 5;
  return m;
}

std::string doubles(std::size_t count) { return std::string(count * 8, '\0'); }

TEST(Npy, ReadsWhatNumPyWrites) {
  const TempDir dir;
  run_numpy(dir, R"(
m = np.arange(6).reshape(2, 3)
for kind in ['<f8', '>f8', '<f4', '>f4', '<i8', '>i8', '<i4', '>i4', '<i2', '|i1', '|u1', '<u2', '>u4', '<u8']:
    name = kind.replace('<', 'l').replace('>', 'b').replace('|', 'n')
    np.save(f'c_{name}.npy', m.astype(kind))
    np.save(f'f_{name}.npy', np.asfortranarray(m.astype(kind)))
for version in [(1, 0), (2, 0), (3, 0)]:
    with open(f'v{version[0]}.npy', 'wb') as f:
        np.lib.format.write_array(f, m.astype(float), version=version)
np.save('vector.npy', np.array([1.5, -2.0]))
np.save('scalar.npy', np.float64(7.25))
np.save('bool.npy', np.array([True, False]))
np.save('column.npy', np.ones((3, 1)))
np.save('odd.npy', np.array([np.nan, np.inf]))
np.save('negative.npy', np.array([-1, -2**31], dtype='<i8'))
)");
  for (const char* kind : {"lf8", "bf8", "lf4", "bf4", "li8", "bi8", "li4", "bi4", "li2", "ni1",
                           "nu1", "lu2", "bu4", "lu8"}) {
    for (const char* order : {"c_", "f_"}) {
      const Array array = read_npy(dir / (std::string(order) + kind + ".npy"));
      EXPECT_EQ(array.values, two_by_three()) << order << kind;
      EXPECT_EQ(array.rank, 2);
    }
  }
  for (const char* version : {"v1.npy", "v2.npy", "v3.npy"}) {
    EXPECT_EQ(read_npy(dir / version).values, two_by_three()) << version;
  }
  const Array vector = read_npy(dir / "vector.npy");
  EXPECT_EQ(vector.rank, 1);
  EXPECT_EQ(vector.values, Eigen::Vector2d(1.5, -2.0));
  const Array scalar = read_npy(dir / "scalar.npy");
  EXPECT_EQ(scalar.rank, 0);
  EXPECT_EQ(scalar.values(0, 0), 7.25);
  EXPECT_EQ(read_npy(dir / "bool.npy").values, Eigen::Vector2d(1, 0));
  EXPECT_EQ(read_npy(dir / "negative.npy").values, Eigen::Vector2d(-1, -2147483648.0));
  EXPECT_EQ(read_npy(dir / "column.npy").rank, 2);
  EXPECT_TRUE(std::isnan(read_npy(dir / "odd.npy").values(0, 0)));
}

TEST(Npy, NumPyReadsWhatIsWritten) {
  const TempDir dir;
  write_npy(dir / "m.npy", matrix_array(two_by_three()));
  write_npy(dir / "v.npy", vector_array(Eigen::Vector2d(0.1, 1e-300)));
  write_npy(dir / "s.npy", scalar_array(std::numeric_limits<double>::infinity()));
  put(dir / "t.npy", npy_bytes_of_text("{\"a\": 1}"));
  run_numpy(dir, R"(
m, v, s, t = (np.load(n + '.npy') for n in 'mvst')
assert m.dtype == np.float64 and m.shape == (2, 3) and (m == np.arange(6).reshape(2, 3)).all()
assert v.shape == (2,) and v[0] == 0.1 and v[1] == 1e-300
assert s.shape == () and np.isinf(s)
assert t.dtype == np.uint8 and t.tobytes() == b'{"a": 1}'
)");
}

TEST(Npy, RefusesWhatItCannotTrust) {
  const TempDir dir;
  run_numpy(dir, R"(
np.save('object.npy', np.array([{}], dtype=object), allow_pickle=True)
np.save('struct.npy', np.zeros(2, dtype=[('a', 'f8')]))
np.save('complex.npy', np.zeros(2, dtype=complex))
np.save('text.npy', np.array(['a']))
np.save('half.npy', np.zeros(2, dtype='f2'))
np.save('cube.npy', np.zeros((2, 3, 4)))
np.save('empty.npy', np.zeros((0, 3)))
np.save('huge.npy', np.array([2**53 + 1]))
np.save('huge2.npy', np.array([2**64 - 1], dtype='u8'))
)");
  const auto of = [&](const char* name) {
    return message_of<InvalidArgument>([&] { (void)read_npy(dir / name); })
        .substr(dir.path().size() + 1);
  };
  EXPECT_EQ(of("object.npy"),
            "object.npy: holds pickled Python objects, which are never read. Save an array of "
            "numbers, such as a.astype(float).");
  EXPECT_NE(of("struct.npy").find("array of structures"), std::string::npos);
  EXPECT_NE(of("complex.npy").find("elements of type \"<c16\""), std::string::npos);
  EXPECT_NE(of("text.npy").find("elements of type \"<U1\""), std::string::npos);
  EXPECT_NE(of("half.npy").find("elements of type \"<f2\""), std::string::npos);
  EXPECT_NE(of("cube.npy").find("has 3 axes, shape (2, 3, 4)"), std::string::npos);
  EXPECT_NE(of("empty.npy").find("has no elements, shape (0, 3)"), std::string::npos);
  EXPECT_NE(of("huge.npy").find("element 0 is an integer"), std::string::npos);
  EXPECT_NE(of("huge2.npy").find("that no double equals"), std::string::npos);
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = npy_bytes(matrix_array(two_by_three()));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string message = refusal(whole.substr(0, size));
    EXPECT_TRUE(message.starts_with("a.npy: is ")) << size << ": " << message;
  }
  EXPECT_EQ(
      refusal(whole.substr(0, whole.size() - 1)),
      "a.npy: is truncated: its shape (2, 3) takes 48 bytes of data, the file has 47. Copy or "
      "write the file again.");
  EXPECT_NE(refusal(whole + "x").find("is too long"), std::string::npos);
}

TEST(Npy, RefusesBadHeaders) {
  const std::string magic("\x93NUMPY", 6);
  EXPECT_NE(refusal("PK\x03\x04").find("is not an NPY file"), std::string::npos);
  EXPECT_NE(refusal(magic + std::string("\x04\0\0\0", 4)).find("version 4.0"), std::string::npos);
  const auto with = [&](const std::string& dictionary) {
    return magic + std::string("\x01\0", 2) + static_cast<char>(dictionary.size()) + '\0' +
           dictionary + doubles(1);
  };
  EXPECT_EQ(refusal(with("{'descr':'<f8','fortran_order':False,'shape':(1,)}")), "no exception");
  EXPECT_EQ(refusal(with("{'descr':'<f8','fortran_order':False,'shape':(1L,)}")), "no exception");
  for (const char* dictionary :
       {"", "{", "{}", "[]", "{'descr':'<f8'}",
        "{'descr':'<f8','fortran_order':Maybe,'shape':(1,)}",
        "{'descr':'<f8','fortran_order':False,'shape':(-1,)}",
        "{'descr':'<f8','fortran_order':False,'shape':(1.5,)}",
        "{'descr':'<f8','fortran_order':False,'shape':1}",
        "{'descr':'<f8','fortran_order':False,'shape':(1,)",
        "{'descr':'<f8','fortran_order':False,'shape':(1,)}x",
        "{'descr':'<f8','fortran_order':False,'shape':(1,),'descr':'<f8'}",
        "{'descr':'<f8','fortran_order':False,'shape':(1,),'extra':0}",
        "{'descr':'<f8','fortran_order':False,'shape':(99999999999999999999999,)}",
        "{'descr:'<f8','fortran_order':False,'shape':(1,)}"}) {
    EXPECT_NE(refusal(with(dictionary)).find("is malformed. Write the file again"),
              std::string::npos)
        << dictionary;
  }
}

TEST(Npy, RefusesShapesBeyondTheFileBeforeAllocating) {
  const auto claims = [&](const char* shape) {
    return refusal(npy_header_bytes("<f8", false, shape) + doubles(1));
  };
  EXPECT_NE(claims("(4611686018427387904, 4)").find("larger than any memory"), std::string::npos);
  EXPECT_NE(claims("(18446744073709551615,)").find("larger than any memory"), std::string::npos);
  EXPECT_NE(claims("(1000000000000,)").find("is truncated"), std::string::npos);
  EXPECT_NE(claims("(0, 4611686018427387904)").find("has no elements"), std::string::npos);
}

TEST(Npy, WritesNoEmptyArrays) {
  EXPECT_THROW((void)npy_bytes(matrix_array(Eigen::MatrixXd(0, 2))), InvalidArgument);
  EXPECT_THROW((void)npy_bytes_of_text(""), InvalidArgument);
}

TEST(Npy, TextComesBack) {
  const std::string text("a\0\xFF", 3);
  EXPECT_EQ(text_of(parse_npy(npy_bytes_of_text(text), "t"), "t"), text);
  EXPECT_THROW((void)text_of(vector_array(Eigen::Vector2d(65, 256)), "t"), InvalidArgument);
  EXPECT_THROW((void)text_of(vector_array(Eigen::Vector2d(65, 0.5)), "t"), InvalidArgument);
}

TEST(Npy, FullDisk) { EXPECT_THROW(write_npy("/dev/full", scalar_array(1)), StorageError); }

}  // namespace
}  // namespace sfumato
