#include "sfumato/data/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the Python dictionary of the header: three keys whose values are a string, a boolean and a
/// tuple of integers. Nothing of Python beyond that is understood.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& source)
      : text_(text), rest_(text), source_(source) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        element_type(header);
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = tuple();
      } else {
        malformed();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty() || !has_descr || !has_order || !has_shape) malformed();
    return header;
  }

 private:
  [[noreturn]] void malformed() const {
    throw InvalidArgument(fmt::format("the NPY header {} is malformed", shown(text_)),
                          "Write the file again with numpy.save", Where::in(source_));
  }

  void skip_blanks() {
    const std::size_t start = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) malformed();
  }

  std::string_view string() {
    skip_blanks();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) malformed();
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) malformed();
    const std::string_view value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_blanks();
    const bool value = rest_.starts_with("True");
    if (!value && !rest_.starts_with("False")) malformed();
    rest_.remove_prefix(value ? 4 : 5);
    return value;
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::uint64_t value = 0;
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc()) malformed();
      rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // a long of Python 2
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  void element_type(NpyHeader& header) {
    skip_blanks();
    if (rest_.starts_with('[')) {
      throw InvalidArgument("holds an array of structures", "Save one plain array of numbers",
                            Where::in(source_));
    }
    const std::string_view descr = string();
    if (descr.find('O') != std::string_view::npos) {
      throw InvalidArgument("holds pickled Python objects, which are never read",
                            "Save an array of numbers, such as a.astype(float)",
                            Where::in(source_));
    }
    const bool well_formed =
        descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    const char kind = well_formed ? descr[1] : '?';
    const char width = well_formed ? descr[2] : '?';
    const bool known = (kind == 'f' && (width == '4' || width == '8')) ||
                       ((kind == 'i' || kind == 'u') &&
                        (width == '1' || width == '2' || width == '4' || width == '8')) ||
                       (kind == 'b' && width == '1');
    if (!known) {
      throw InvalidArgument(fmt::format("has elements of type {}", shown(descr)),
                            "Save real numbers or integers, such as a.astype(float)",
                            Where::in(source_));
    }
    header.big_endian = descr[0] == '>';
    header.kind = kind;
    header.width = static_cast<std::size_t>(width - '0');
  }

  std::string_view text_, rest_;
  const std::string& source_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& source) {
  if (!bytes.starts_with(kMagic)) {
    throw InvalidArgument("is not an NPY file: it does not begin with \\x93NUMPY",
                          "Write it with numpy.save", Where::in(source));
  }
  const auto truncated = [&] {
    return InvalidArgument(
        fmt::format("is truncated: it ends after {} bytes, within its header", bytes.size()),
        "Copy or write the file again", Where::in(source));
  };
  if (bytes.size() < 10) throw truncated();
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw InvalidArgument(
        fmt::format("has NPY format version {}.{}, which is unknown", major, minor),
        "Write it with numpy.save, versions 1.0 to 3.0", Where::in(source));
  }
  const std::size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) throw truncated();
  std::size_t length = byte(8) | byte(9) << 8u;
  if (major > 1) length |= byte(10) << 16u | byte(11) << 24u;
  if (start + length > kLongestNpyHeader) {
    throw InvalidArgument(
        fmt::format("has a header of {} bytes, the limit is {}", length, kLongestNpyHeader - start),
        "Write the file again with numpy.save", Where::in(source));
  }
  if (bytes.size() - start < length) throw truncated();
  NpyHeader header = DictionaryReader(bytes.substr(start, length), source).read();
  header.data_offset = start + length;
  return header;
}

std::string npy_header_bytes(std::string_view descr, bool fortran_order, std::string_view shape) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}",
                                       descr, fortran_order ? "True" : "False", shape);
  constexpr std::size_t kAlignment = 64, kPrefix = 10;
  while ((kPrefix + dictionary.size() + 1) % kAlignment != 0) dictionary += ' ';
  dictionary += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFFu),
            static_cast<char>(dictionary.size() >> 8u)};
  return bytes + dictionary;
}

}  // namespace sfumato
