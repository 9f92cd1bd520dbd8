/* SPDX-License-Identifier: MIT */
/*
 * A manager inside the test's own process: it makes the three shared memories as the real one does,
 * attaches the engine to them, saves chunks by the rules of engine/layout.h, and keeps every record.
 *
 * It is written from the header alone and shares no code with the reader half, so that a mistake on
 * either side shows. The provider's views of the control page and the common page are read-only.
 */
#ifndef FX_TESTS_ENGINE_FAKE_MANAGER_H
#define FX_TESTS_ENGINE_FAKE_MANAGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/provider/engine.h"

/* What fm_start() defines: index 1 is the category "function". */
#define FM_BUILTIN_ID	   0x1234567812345678ull
#define FM_STRING_FUNCTION 1u
#define FM_FIRST_STRING	   2u

struct fm_config {
	uint64_t size;		     /* of the buffer; 0 = 1 MiB */
	enum fx_buffering_mode mode; /* 0 = oneshot */
	enum fx_on_full on_full;
	uint32_t thread_count; /* 0 = FX_THREADS_MAX */
	uint32_t max_depth;
	uint64_t min_duration;
	uint32_t half_enough; /* chunks after which a half may be left */
	uint64_t
	    builtin_id; /* of the builtin strings that the manager knows; FM_BUILTIN_ID: the provider's */
	uint32_t stopped; /* 1: fm_state() starts it */
	bool stash;	  /* there is room for values of open calls */
};

/* What was read of one owner of one chunk. */
struct fm_chunk {
	uint64_t serial;
	uint64_t *words;
	uint32_t count;
	bool released;
};

struct fm_manager {
	struct fx_layout layout;
	struct fx_control *control;	 /* the manager's view */
	const struct fx_control *shared; /* the provider's */
	struct fx_common *common;
	const struct fx_common *common_shared;
	struct fx_buffer_header *header; /* the provider's view */
	const uint8_t *buffer;		 /* the manager's */
	struct fm_chunk *open;		 /* one per chunk of the buffer */
	uint64_t *done;			 /* newest word of each whose chunk is wholly read */
	bool *pending;			 /* claimed by someone who has not said so yet */
	struct fm_chunk *chunks;	 /* read to their ends, in no order */
	uint32_t chunk_count, chunk_room;
	const char *broken; /* the first broken rule, NULL none */
	pthread_t saver;
	uint32_t saver_stop;
	uint32_t saver_pause; /* us between two passes */
};

/* One record, and where it stood. */
struct fm_record {
	const uint64_t *words;
	uint32_t count;
	uint32_t tid;	 /* as the chunk's Thread Record says */
	uint64_t serial; /* of the chunk */
	const struct fm_chunk *chunk;
};

/* Makes the memories and attaches the engine; all categories are on at epoch 1. Ends the test on
 * failure. */
void fm_start(struct fm_manager *m, const struct fm_config *config);
void fm_destroy(struct fm_manager *m);

/* Sets what is traced, and the phase; no bits stop it. */
void fm_state(struct fm_manager *m, uint32_t epoch, uint32_t categories);

/* Sets the phase alone. */
void fm_phase(struct fm_manager *m, enum fx_phase phase);

/* The kernel's mark that the manager's owner thread died. */
void fm_die(struct fm_manager *m);

/* One pass: reads what is committed. */
void fm_read(struct fm_manager *m);

/* Reads, and gives back the half that is full. True: there was one. */
bool fm_save(struct fm_manager *m);

/* A thread that does fm_save() again and again. */
void fm_saver_start(struct fm_manager *m, uint32_t pause_us);
void fm_saver_stop(struct fm_manager *m);

/* Calls `each` for every record of the rolling area, in the order of claims. Chunks must begin with a
 * Thread Record of this process, which `each` does not see. Ends the test if a rule is broken. */
void fm_each(struct fm_manager *m, void (*each)(const struct fm_record *r, void *context),
	     void *context);

/* The same for the durable area. Claims that were never filled are left out; returns their number. */
uint32_t fm_each_durable(struct fm_manager *m, void (*each)(const uint64_t *words, void *context),
			 void *context);

/* Sums over all slots, and losses of threads without one. */
uint64_t fm_dropped(const struct fm_manager *m);
/* Those of them that were lost for this reason; not FX_LOSS_FULL. */
uint64_t fm_lost(const struct fm_manager *m, enum fx_loss why);
uint64_t fm_too_deep(const struct fm_manager *m);
uint64_t fm_unwound(const struct fm_manager *m);

const struct fx_thread_slot *fm_slot(const struct fm_manager *m, uint32_t i);

/* Word `number` of the chunk table. */
uint64_t fm_table(const struct fm_manager *m, uint32_t number);

/* A sum over the whole buffer as the manager sees it. */
uint64_t fm_checksum(const struct fm_manager *m);

#endif
