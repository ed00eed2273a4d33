/* scene.h - what the sound rules need to know of the call a row belongs to. */
#ifndef TDC_HOST_SCENE_H
#define TDC_HOST_SCENE_H

#include "host/judge/precision.h"

struct tdc_scene {
    enum tdc_precision precision; /* in force */
    bool gradient;
    bool update;   /* gradients and parameters meet: judged as gradients, noise as in parameters */
    bool enters;   /* a parameter, or an input of the first call */
    bool unjudged; /* its numbers mean nothing */
    double zero;   /* values up to this (root mean square) are zero but for rounding */
};

#endif
