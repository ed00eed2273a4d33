/* twin_memory.c - device memory between guard pages, pinned memory, tagged addresses. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/twin/acl/acl_twin.h"

/* Beyond the 48 bits of an address, but not in the byte that some processors ignore. */
#define TAG ((uintptr_t)0xA5 << 48)

void *twin_tagged(const void *address)
{
    return (void *)((uintptr_t)address | TAG);
}

unsigned char *twin_untagged(const void *address)
{
    return (unsigned char *)((uintptr_t)address & ~TAG);
}

bool twin_is_tagged(const void *address)
{
    return ((uintptr_t)address & TAG) == TAG;
}

/* The end of a block touches the guard page as far as the alignment of 512 bytes allows. */
struct twin_block *twin_block_new(size_t size, int device)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (size + 511) / 512 * 512, pages = (room + page - 1) / page;
    struct twin_block *block = calloc(1, sizeof *block);
    size_t map_size = (pages + 2) * page;
    void *map = mmap(NULL, map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == NULL || map == MAP_FAILED ||
        mprotect((char *)map + page, pages * page, PROT_READ | PROT_WRITE) != 0)
        twin_broken("out of memory for the twin itself");
    *block = (struct twin_block){
        .bytes = (unsigned char *)map + page + pages * page - room,
        .size = size,
        .map = map,
        .map_size = map_size,
        .device = device,
        .next = twin.blocks,
    };
    memset(block->bytes, TWIN_POISON, size);
    twin.blocks = block;
    return block;
}

struct twin_block *twin_block_of(const unsigned char *address, size_t size, int device)
{
    for (struct twin_block *block = twin.blocks; block != NULL; block = block->next)
        if (block->device == device && address >= block->bytes &&
            address <= block->bytes + block->size &&
            size <= (size_t)(block->bytes + block->size - address))
            return block;
    return NULL;
}

void twin_block_free(struct twin_block *block)
{
    struct twin_block **at = &twin.blocks;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
    if (block->device >= 0)
        twin.used[block->device] -= block->size;
    if (block->map != NULL) /* else it was registered and is its owner's */
        munmap(block->map, block->map_size);
    free(block);
}

uint64_t twin_checksum(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t sum = 14695981039346656037u, word;
    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        sum = (sum ^ word) * 1099511628211u;
        sum ^= sum >> 29;
    }
    for (; size != 0; size--, at++)
        sum = (sum ^ *at) * 1099511628211u;
    return sum;
}
