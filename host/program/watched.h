/*
 * watched.h - a program that ends even when storage holds one of its threads.
 *
 * A thread in a call that the system cannot break off keeps its process from ending, whatever the
 * process has done. So where there is remote storage the program runs in a child, and who started
 * it gets the exit code from its parent, which touches no file.
 */
#ifndef TDC_HOST_WATCHED_H
#define TDC_HOST_WATCHED_H

/* The exit code of program(argc, argv). Called first of all, without other threads. */
int tdc_run_watched(int (*program)(int argc, char **argv), int argc, char **argv);

#endif
