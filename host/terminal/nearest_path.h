/* nearest_path.h - which dump a person may have meant who named none, or the wrong folder. */
#ifndef TDC_TERMINAL_NEAREST_PATH_H
#define TDC_TERMINAL_NEAREST_PATH_H

/* All of them: a path that exists, to be freed; NULL: nothing is near. */

/* For a path that does not exist: each part of it that is not there replaced by the nearest name.
 */
char *tdc_nearest_path(const char *path);
/* For a folder without a dump: the nearest folder below that has one, or a step or rank folder; at
 * most three levels down, the first by name. */
char *tdc_dump_below(const char *folder);
/* For a dump that found no counterpart: the same step and rank below the other path. */
char *tdc_counterpart(const char *path, const char *other);

#endif
