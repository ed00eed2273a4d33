/* special.h - functions SLEEF does not have. */
#ifndef TDC_REFERENCE_SPECIAL_H
#define TDC_REFERENCE_SPECIAL_H

/* About 2 ULP: Newton's method on erf, or on erfc towards the ends. */
double tdc_erfinv(double x);
/* Recurrence to x >= 12, then the asymptotic series; relative error about 1e-15 off the zeros. */
double tdc_digamma(double x);
double tdc_trigamma(double x);
/* The power series: all terms are positive, so it is exact to a few ULP; |x| up to 713. */
double tdc_bessel_i0(double x);
double tdc_bessel_i1(double x);

#endif
