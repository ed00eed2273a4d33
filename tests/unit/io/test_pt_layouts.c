#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/io/made_pt.h"

/* ---- zip archives made by hand ------------------------------------------------------------- */

#define GOOD TENSOR(SIX, "K\0K\2K\3\x86K\3K\1\x86")

struct patch {
    const char *what;
    int where; /* see patch_offset */
    size_t index;
    size_t offset;
    uint64_t value;
    unsigned width;
    tdc_status status;
    const char *text;
};

enum {
    LOCAL,
    ENTRY,
    END,
    END64
};

static size_t patch_offset(const struct made_zip *zip, const struct patch *patch)
{
    switch (patch->where) {
    case LOCAL:
        return zip->local[patch->index] + patch->offset;
    case ENTRY:
        return zip->entry[patch->index] + patch->offset;
    case END:
        return zip->end + patch->offset;
    default:
        return zip->end64 + patch->offset;
    }
}

static void lying_archives_are_refused(void **state)
{
    (void)state;
    static const struct patch narrow[] = {
        {"method of both", ENTRY, 0, 10, 8, 2, TDC_ERR_UNSUPPORTED, "compressed member"},
        {"local method", LOCAL, 0, 8, 8, 2, TDC_ERR_FORMAT, "differ"},
        {"encrypted", ENTRY, 1, 8, 1, 2, TDC_ERR_UNSUPPORTED, "encrypted member"},
        {"local encrypted", LOCAL, 1, 6, 1, 2, TDC_ERR_FORMAT, "differ"},
        {"local signature", LOCAL, 1, 2, 9, 1, TDC_ERR_FORMAT, "differ"},
        {"local name length", LOCAL, 1, 26, 3, 2, TDC_ERR_FORMAT, "differ"},
        {"local name", LOCAL, 1, 30, 'b', 1, TDC_ERR_FORMAT, "differ"},
        {"local size", LOCAL, 1, 22, 25, 4, TDC_ERR_FORMAT, "differ"},
        {"local stored size", LOCAL, 1, 18, 25, 4, TDC_ERR_FORMAT, "differ"},
        {"local size missing", LOCAL, 1, 22, 0, 4, TDC_ERR_FORMAT, "differ"},
        {"local size elsewhere", LOCAL, 1, 22, UINT32_MAX, 4, TDC_OK, "float32"},
        {"local extra field", LOCAL, 1, 28, 60000, 2, TDC_ERR_FORMAT, "outside"},
        {"unpacked size", ENTRY, 1, 24, 1000, 4, TDC_ERR_FORMAT, "differ"},
        {"stored size", ENTRY, 1, 20, 1u << 30, 4, TDC_ERR_FORMAT, "wrong entry"},
        {"no zip64 field", ENTRY, 1, 20, UINT32_MAX, 4, TDC_ERR_FORMAT, "wrong entry"},
        {"header offset", ENTRY, 1, 42, 1u << 30, 4, TDC_ERR_FORMAT, "wrong entry"},
        {"header of another", ENTRY, 1, 42, 0, 4, TDC_ERR_FORMAT, "overlapping"},
        {"another on top", ENTRY, 2, 42, 10, 4, TDC_ERR_FORMAT, "overlapping"},
        {"name length", ENTRY, 2, 28, 2000, 2, TDC_ERR_FORMAT, "wrong entry"},
        {"comment length", ENTRY, 2, 32, 2000, 2, TDC_ERR_FORMAT, "wrong entry"},
        {"signature", ENTRY, 2, 2, 9, 1, TDC_ERR_FORMAT, "wrong entry"},
        {"no folder", ENTRY, 0, 46 + 8, '_', 1, TDC_ERR_FORMAT, "folder"},
        {"no data.pkl", ENTRY, 0, 46 + 9, 'D', 1, TDC_ERR_FORMAT, "no data.pkl"},
        {"no storage", ENTRY, 1, 46 + 14, '1', 1, TDC_ERR_FORMAT, "no storage"},
        {"members", END, 0, 8, 0x00040004, 4, TDC_ERR_FORMAT, "wrong entry"},
        {"no members", END, 0, 8, 0, 4, TDC_ERR_FORMAT, "no zip members"},
        {"disks", END, 0, 4, 1, 2, TDC_ERR_FORMAT, "parts"},
        {"directory size", END, 0, 12, UINT32_MAX, 4, TDC_ERR_FORMAT, "outside"},
        {"directory offset", END, 0, 16, UINT32_MAX, 4, TDC_ERR_FORMAT, "outside"},
        {"comment", END, 0, 20, 1, 2, TDC_ERR_FORMAT, "no zip directory"},
    };
    static const struct patch wide[] = {
        {"nothing", END64, 0, 4, 44, 1, TDC_OK, "float32 2,3/3,1 dense 000102"},
        {"differing counts", END64, 0, 24, 0, 1, TDC_ERR_FORMAT, "parts"},
        {"directory size", END64, 0, 40, UINT64_MAX, 8, TDC_ERR_FORMAT, "outside"},
        {"directory offset", END64, 0, 48, UINT64_MAX, 8, TDC_ERR_FORMAT, "outside"},
        {"signature", END64, 0, 2, 9, 1, TDC_ERR_FORMAT, "zip64"},
        {"locator", END64, 0, 56 + 8, UINT64_MAX, 8, TDC_ERR_FORMAT, "zip64"},
        {"extra length", ENTRY, 1, 46 + 15 + 7, 7, 2, TDC_ERR_FORMAT, "wrong entry"},
        {"extra tag", ENTRY, 1, 46 + 15 + 5, 7, 2, TDC_ERR_FORMAT, "wrong entry"},
        {"size", ENTRY, 1, 46 + 15 + 9, UINT64_MAX, 8, TDC_ERR_FORMAT, "differ"},
        {"stored size", ENTRY, 1, 46 + 15 + 17, UINT64_MAX, 8, TDC_ERR_FORMAT, "wrong entry"},
        {"header offset", ENTRY, 1, 46 + 15 + 25, UINT64_MAX, 8, TDC_ERR_FORMAT, "wrong entry"},
    };
    static struct made_zip zip;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        make_file(&zip, GOOD, sizeof GOOD - 1, false);
        made_put(zip.bytes + patch_offset(&zip, &narrow[i]), narrow[i].value, narrow[i].width);
        check_bytes(narrow[i].what, &zip, narrow[i].status, narrow[i].text);
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        make_file(&zip, GOOD, sizeof GOOD - 1, true);
        made_put(zip.bytes + patch_offset(&zip, &wide[i]), wide[i].value, wide[i].width);
        check_bytes(wide[i].what, &zip, wide[i].status, wide[i].text);
    }
}

static void archives_with_odd_members(void **state)
{
    (void)state;
    static struct made_zip zip;
    unsigned char storage[24] = {0};
    struct made_member members[] = {{"a/data.pkl", GOOD, sizeof GOOD - 1},
                                    {"a/data/0", storage, sizeof storage},
                                    {"a/byteorder", "big", 3},
                                    {"a/data/0", storage, sizeof storage}};
    make_zip(&zip, members, 3, false);
    check_bytes("dense swapped 0000", &zip, TDC_OK, "dense swapped 0000");
    make_zip(&zip, members, 4, false);
    check_bytes("two members of the same name", &zip, TDC_ERR_FORMAT,
                "two members of the same name");
    members[2].data = "bog";
    make_zip(&zip, members, 3, false);
    check_bytes("unknown byte order", &zip, TDC_ERR_FORMAT, "unknown byte order");
    /* a comment at the end that looks like an end */
    make_zip(&zip, members, 2, false);
    made_put(zip.bytes + zip.end + 20, 30, 2);
    made_add(&zip, "PK\5\6 and more words, thirty byte", 30);
    check_bytes("float32 2,3", &zip, TDC_OK, "float32 2,3");
    make_zip(&zip, members, 2, true);
    made_put(zip.bytes + zip.end64 + 24, 70000, 8);
    made_put(zip.bytes + zip.end64 + 32, 70000, 8);
    check_bytes("too many zip members", &zip, TDC_ERR_UNSUPPORTED, "too many zip members");
}

/* ---- the layout before torch 1.6 ----------------------------------------------------------- */

#define MAGIC   PROTOCOL "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
#define VERSION PROTOCOL "M\xe9\3."
#define SYSTEM  PROTOCOL "}X\15\0\0\0little_endian\x88s."
#define OLD_STORAGE(key, count, view)                                                              \
    "(X\7\0\0\0storagec" FLOATS "\nX\1\0\0\0" key "X\3\0\0\0cpu" count view "tQ"
#define OLD_TENSOR(storage)                                                                        \
    PROTOCOL "ctorch._utils\n_rebuild_tensor\n(" storage "K\0K\2\x85K\1\x85tR."
#define FOUR "\4\0\0\0\0\0\0\0aaaabbbbccccdddd"
#define TWO  "\2\0\0\0\0\0\0\0eeeeffff"
#define KEY_0                                                                                      \
    PROTOCOL "]X\1\0\0\0"                                                                          \
             "0a."

static void legacy_files_are_checked(void **state)
{
    (void)state;
#define START         MAGIC VERSION SYSTEM
#define PLAIN_STORAGE OLD_STORAGE("0", "K\4", "N")
    static const struct pickle_case cases[] = {
        CASE(START OLD_TENSOR(PLAIN_STORAGE) KEY_0 FOUR, TDC_OK, "float32 2/1 dense 6161616162"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", "K\4", "(X\1\0\0\0vK\1K\2t")) KEY_0 FOUR, TDC_OK,
             "float32 2/1 dense 6262626263636363"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", "K\4", "(X\1\0\0\0vK\1K\1t")) KEY_0 FOUR,
             TDC_ERR_FORMAT, "leave the storage"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", "K\4", "(X\1\0\0\0vK\3K\2t")) KEY_0 FOUR,
             TDC_ERR_FORMAT, "view leaves"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", "K\4", "(X\1\0\0\0vJ\xff\xff\xff\xffK\2t"))
                 KEY_0 FOUR,
             TDC_ERR_FORMAT, "view leaves"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", "K\4", "(X\1\0\0\0vK\1t")) KEY_0 FOUR,
             TDC_ERR_FORMAT, "wrong view"),
        /* another storage first, mentioned by a list that is thrown away */
        CASE(START PROTOCOL
             "](" OLD_STORAGE("1", "K\2", "N") "N\x86"
                                               "e0"
                                               "ctorch._utils\n_rebuild_tensor\n(" PLAIN_STORAGE
                                               "K\0K\2\x85K\1\x85tR." PROTOCOL "](X\1\0\0\0"
                                               "1X\1\0\0\0"
                                               "0e." TWO FOUR,
             TDC_OK, "float32 2/1 dense 6161616162"),
        CASE(START OLD_TENSOR(PLAIN_STORAGE) PROTOCOL "]X\1\0\0\0"
                                                      "2a." FOUR,
             TDC_ERR_FORMAT, "unknown storage"),
        CASE(START OLD_TENSOR(PLAIN_STORAGE) PROTOCOL "]." FOUR, TDC_ERR_FORMAT, "missing"),
        CASE(START OLD_TENSOR(PLAIN_STORAGE) PROTOCOL "N." FOUR, TDC_ERR_FORMAT, "no list"),
        CASE(START OLD_TENSOR(PLAIN_STORAGE) PROTOCOL "]K\1a." FOUR, TDC_ERR_FORMAT, "unknown"),
        CASE(START OLD_TENSOR(PLAIN_STORAGE) KEY_0 TWO, TDC_ERR_FORMAT, "another size"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", TWO_62, "N")) KEY_0 "\0\0\0\0\0\0\0\x40",
             TDC_ERR_FORMAT, "cut off"),
        CASE(START OLD_TENSOR(OLD_STORAGE("0", "J\xff\xff\xff\xff", "N")) KEY_0
             "\xff\xff\xff\xff\xff\xff\xff\xff",
             TDC_ERR_FORMAT, "cut off"),
        CASE(START OLD_TENSOR(PLAIN_STORAGE) KEY_0 "\4\0\0\0\0\0\0\0aaaabbbbccccddd",
             TDC_ERR_FORMAT, "cut off"),
        CASE(MAGIC PROTOCOL "K\1." SYSTEM, TDC_ERR_UNSUPPORTED, "unknown protocol"),
        CASE(PROTOCOL "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x18.", TDC_ERR_FORMAT,
             "not a torch file"),
        CASE(PROTOCOL "K\1.", TDC_ERR_FORMAT, "not a torch file"),
        CASE("PK\3", TDC_ERR_FORMAT, "not a torch file"),
    };
    static struct made_zip file;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file.size = 0;
        made_add(&file, cases[i].pickle, cases[i].size);
        check_bytes(cases[i].text, &file, cases[i].status, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lying_archives_are_refused),
        cmocka_unit_test(archives_with_odd_members),
        cmocka_unit_test(legacy_files_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
