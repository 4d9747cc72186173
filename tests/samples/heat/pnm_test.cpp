// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"
#include "pictures.hpp"
#include "support/catch.hpp"

using namespace heat;
using weft::tests::contains;
using namespace std::string_literals;

namespace {

std::string pnm_problem(const std::string& file) {
  try {
    decode_pnm(file);
  } catch (const picture_error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("binary pictures come back as they were written") {
  for (const std::uint32_t channels : {1u, 3u})
    for (const std::uint32_t maximum : {1u, 100u, 255u, 256u, 65535u}) {
      CAPTURE(channels, maximum);
      const picture p = tests::pattern(13, 7, channels, maximum);
      CHECK(decode_pnm(encode_pnm(p)) == p);
    }
}

TEST_CASE("text pictures are read, comments and odd blanks included") {
  CHECK(decode_pnm("P2\n# a comment\n2 # another\n2\t9\n0 9\r\n#in between\n5 4") ==
        picture{2, 2, 1, 9, {0, 9, 5, 4}});
  CHECK(decode_pnm("P3 1 2 65535 1 2 3 40000 65535 0") ==
        picture{1, 2, 3, 65535, {1, 2, 3, 40000, 65535, 0}});
}

TEST_CASE("a binary raster may begin with a byte that looks like a blank or a comment") {
  CHECK(decode_pnm("P5 2 1 255\n\n#") == picture{2, 1, 1, 255, {'\n', '#'}});
}

TEST_CASE("sixteen bits have the high byte first") {
  CHECK(decode_pnm("P5 1 1 65535\n\x12\x34") == picture{1, 1, 1, 65535, {0x1234}});
}

TEST_CASE("a second picture in the same file is left alone") {
  CHECK(decode_pnm("P5 1 1 255\nAP5 1 1 255\nB") == picture{1, 1, 1, 255, {'A'}});
}

TEST_CASE("what is wrong in a bad file, and where") {
  CHECK_THAT(pnm_problem(""), contains("byte 0") && contains("neither"));
  CHECK_THAT(pnm_problem("P"), contains("byte 0") && contains("neither"));
  CHECK_THAT(pnm_problem("P4 8 1 x"), contains("neither"));
  CHECK_THAT(pnm_problem("GIF89a"), contains("neither"));
  CHECK_THAT(pnm_problem("P5"), contains("byte 2") && contains("ends before the width"));
  CHECK_THAT(pnm_problem("P5 #no end"), contains("ends before the width"));
  CHECK_THAT(pnm_problem("P5 -1 1 255\n"),
             contains("byte 3") && contains("the width must be a number"));
  CHECK_THAT(pnm_problem("P5 0 1 255\n"), contains("byte 3") && contains("the width is 0"));
  CHECK_THAT(pnm_problem("P5 1 0 255\n"), contains("byte 5") && contains("the height is 0"));
  CHECK_THAT(pnm_problem("P5 1 1 0\nx"), contains("the maximum value is 0"));
  CHECK_THAT(pnm_problem("P5 1 1 65536\nx"), contains("byte 7") && contains("from 1 to 65535"));
  CHECK_THAT(pnm_problem("P5 1 1 255"), contains("one blank must end the header"));
  CHECK_THAT(pnm_problem("P5 1 1 255#\nx"), contains("one blank must end the header"));
  CHECK_THAT(pnm_problem("P5 1 1 100\n\xff"),
             contains("a sample is 255, above the maximum of 100"));
  CHECK_THAT(pnm_problem("P2 2 1 9 3 10"), contains("byte 11") && contains("a sample is 10"));
  CHECK_THAT(pnm_problem("P2 2 1 9 3 x"),
             contains("byte 11") && contains("a sample must be a number"));
  CHECK_THAT(pnm_problem("P2 3 1 9 3 3  "), contains("ends before a sample"));
  CHECK_THAT(pnm_problem("P5 2 2 255\nabc"),
             contains("byte 11") && contains("take 4 bytes") && contains("the file has 3"));
}

TEST_CASE("a header that promises more than the file holds is refused before memory is taken") {
  CHECK_THAT(pnm_problem("P5 99999999999999999999999 1 255\n"), contains("99999999999999999999"));
  CHECK_THAT(pnm_problem("P5 268435456 268435456 255\n"), contains("more than this program takes"));
  CHECK_THAT(pnm_problem("P6 16384 16384 255\n"), contains("more than this program takes"));
  CHECK_THAT(pnm_problem("P5 16384 16384 255\n"), contains("truncated"));
  CHECK_THAT(pnm_problem("P2 16384 16384 255\n1 2 3"), contains("truncated"));
}

TEST_CASE("every beginning of a file is refused, and none of its changed bytes does harm") {
  const std::string file = encode_pnm(tests::pattern(3, 3, 3, 300));
  for (std::size_t n = 0; n < file.size(); ++n) CHECK(pnm_problem(file.substr(0, n)) != "none");
  for (std::size_t i = 0; i < file.size(); ++i)
    for (const char c : "\0 #0159\xff"s) {
      std::string changed = file;
      changed[i] = c;
      try {
        const picture p = decode_pnm(changed);
        CHECK(p.samples.size() == std::size_t{p.width} * p.height * p.channels);
      } catch (const picture_error&) {
        SUCCEED();
      }
    }
}
