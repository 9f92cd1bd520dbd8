/* SPDX-License-Identifier: MIT */
/* What the kernel lets this process see of its events, and what would permit the rest. */
#ifndef FX_MANAGER_KERNEL_RIGHTS_H
#define FX_MANAGER_KERNEL_RIGHTS_H

enum fx_kernel_part {
	FX_KERNEL_OF_OWN,     /* events of a process of one's own: samples, switches, page faults */
	FX_KERNEL_OF_ITSELF,  /* and what they do inside the kernel */
	FX_KERNEL_OF_POINTS,  /* tracepoints */
	FX_KERNEL_OF_MACHINE, /* events of all threads that there are */
};

/* 0: it is permitted, or may be; else what it is refused with, -EACCES and the like: -ENODEV is a tracefs that is not there. */
int fx_kernel_right(enum fx_kernel_part part);

/* One line: why a part is refused with that error, and what would help. A static text, valid until the next. */
const char *fx_kernel_cure(enum fx_kernel_part part, int error);

#endif
