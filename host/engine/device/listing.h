/* listing.h - the lines of `tdcmp devices`. */
#ifndef TDC_DEVICE_LISTING_H
#define TDC_DEVICE_LISTING_H

struct tdc_listing {
    void (*line)(void *context, const char *text);
    void *context;
};

void __attribute__((format(printf, 2, 3)))
tdc_listing_put(const struct tdc_listing *listing, const char *format, ...);

#endif
