/* level.c - levels from distances: limits by the precision in force, and what excuses a row. */
#include <math.h>
#include <stdio.h>

#include "host/judge/sound/level.h"
#include "host/judge/sound/sound.h"

/*
 * Fill values of masks are the most negative number of a dtype and differ with it. Infinities may
 * stand for them on the reference's side; on the tested side alone they are an overflow.
 */
static bool is_mask(const struct tdc_measure *m)
{
    const double huge = 1e38, half_max = 65504;
    if (isfinite(m->n_min) && m->n_min <= -huge)
        return true;
    if (m->b_min == -half_max || m->b_max == half_max)
        return true;
    if (isinf(m->b_min))
        return m->b_min < 0 && isfinite(m->n_min) && m->n_min <= -10000;
    return fabs(m->b_min) >= huge || (isfinite(m->b_max) && fabs(m->b_max) >= huge);
}

/* Why the distance of a row says nothing; TDC_REASONS when it does. */
static enum tdc_reason excuse(const struct tdc_scene *scene, const struct tdc_measure *m)
{
    const double half_quantum = 0x1p-23;
    if (m->apart)
        return TDC_REASONS;
    if (scene->zero > 0 && m->n_rms <= scene->zero && m->b_rms <= scene->zero)
        return TDC_REASON_ZERO;
    /* weights that begin at zero: at the scale of a network that is no value yet */
    if ((!scene->gradient || scene->update) && (m->n_rms == 0) != (m->b_rms == 0) &&
        m->n_rms + m->b_rms <= 0x1p-22)
        return TDC_REASON_ZERO;
    if (m->half && m->d_rms <= half_quantum)
        return TDC_REASON_SMALLEST_HALF;
    return TDC_REASONS;
}

static tdc_row_class level_of(const struct tdc_scene *scene, const struct tdc_measure *m)
{
    if (m->r == 0 && m->s == 0)
        return TDC_ROW_IDENTICAL;
    struct tdc_level_limits limits = tdc_level_limits(scene->precision, scene->gradient);
    if (m->r <= limits.rounding && m->s <= TDC_WORST_TIMES * limits.rounding)
        return TDC_ROW_ROUNDING;
    if (m->r <= limits.close && m->s <= TDC_WORST_TIMES * limits.close)
        return TDC_ROW_CLOSE;
    return TDC_ROW_DIFFERENT;
}

static void say_limit(const struct tdc_scene *scene, const struct tdc_measure *m,
                      struct tdc_row *row, struct tdc_text *message)
{
    struct tdc_level_limits limits = tdc_level_limits(scene->precision, scene->gradient);
    char text[96];
    if (scene->precision == TDC_PRECISION_EXACT)
        tdc_sound_say(row, message, TDC_REASON_VALUES);
    else if (isinf(m->r) && isinf(m->s))
        return; /* said already: NaN, infinity, all zero */
    else if (m->r > limits.close) {
        snprintf(text, sizeof text, "Relative distance above %g (%s).", limits.close,
                 tdc_precision_name(scene->precision));
        tdc_sound_say_text(row, message, TDC_REASON_DISTANCE, text);
    } else {
        snprintf(text, sizeof text, "Worst element above %g of the largest (%s).",
                 TDC_WORST_TIMES * limits.close, tdc_precision_name(scene->precision));
        tdc_sound_say_text(row, message, TDC_REASON_WORST, text);
    }
}

void tdc_level_judge(const struct tdc_scene *scene, const struct tdc_measure *measure,
                     struct tdc_row *row, struct tdc_text *message)
{
    tdc_row_class level = level_of(scene, measure);
    row->r = measure->r;
    row->s = measure->s;
    row->row_class = (uint8_t)level;
    if (level <= TDC_ROW_ROUNDING)
        return;
    enum tdc_reason why = TDC_REASONS;
    if (scene->precision != TDC_PRECISION_EXACT && is_mask(measure)) {
        why = TDC_REASON_MASK;
        row->r = row->s = 0;
    } else if (scene->precision != TDC_PRECISION_EXACT) {
        why = excuse(scene, measure);
    }
    if (why != TDC_REASONS) {
        row->row_class = TDC_ROW_ROUNDING;
        row->excused = true;
        tdc_sound_say(row, message, why);
    } else if (scene->unjudged) {
        row->row_class = TDC_ROW_SHOWN;
        tdc_sound_say(row, message, TDC_REASON_NOT_JUDGED);
    } else if (level == TDC_ROW_DIFFERENT) {
        say_limit(scene, measure, row, message);
    }
}
