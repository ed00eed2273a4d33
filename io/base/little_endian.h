/* little_endian.h - numbers as zip, pickle and npy store them, at any alignment. */
#ifndef TDC_IO_LITTLE_ENDIAN_H
#define TDC_IO_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint16_t tdc_le16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t tdc_le32(const unsigned char *at)
{
    return (uint32_t)tdc_le16(at) | (uint32_t)tdc_le16(at + 2) << 16;
}

static inline uint64_t tdc_le64(const unsigned char *at)
{
    return (uint64_t)tdc_le32(at) | (uint64_t)tdc_le32(at + 4) << 32;
}

static inline void tdc_set_le16(unsigned char *at, uint16_t value)
{
    at[0] = (unsigned char)(value & 0xff);
    at[1] = (unsigned char)(value >> 8);
}

static inline void tdc_set_le32(unsigned char *at, uint32_t value)
{
    tdc_set_le16(at, (uint16_t)(value & 0xffff));
    tdc_set_le16(at + 2, (uint16_t)(value >> 16));
}

#endif
