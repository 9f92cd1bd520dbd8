/* SPDX-License-Identifier: MIT */
/*
 * Slurm's plugin: `srun --fxtrace[=OPTIONS] PROGRAM' starts `fxtrace run OPTIONS -- PROGRAM' for each rank.
 *
 * A plugin can change the words of a command, and add none. So a task's first word becomes fxtrace-task, which finds the program and
 * the options in the environment, and starts the command. It lives in the task's process alone, between fork and exec there.
 *
 * Words in plugstack.conf: command=PATH of fxtrace and task=PATH of fxtrace-task where they are not installed, default=OPTIONS of
 * an --fxtrace that has none.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

SPANK_PLUGIN(fxtrace, 1)

#define SPANK_WORD_MAX 4096

/* Options may have blanks, and those of plugstack.conf none. */
static struct {
	int is_wanted;
	char options[SPANK_WORD_MAX];
} asked;

static int take_option(int value, const char *options, int is_remote)
{
	(void)value, (void)is_remote;
	if (options && strlen(options) >= sizeof(asked.options)) {
		slurm_error("--fxtrace: its options are too long");
		return -1;
	}
	asked.is_wanted = 1;
	strcpy(asked.options, options ? options : "");
	return 0;
}

/* Of srun, and of sbatch and salloc, from where it goes on to the ranks. */
int slurm_spank_init(spank_t spank, int ac, char **av)
{
	static struct spank_option option = {(char *)"fxtrace",
					     (char *)"OPTIONS",
					     (char *)"trace the ranks, each into an archive: with "
						     "OPTIONS of fxtrace run, in one word",
					     2,
					     0,
					     take_option};

	(void)ac, (void)av;
	return spank_option_register(spank, &option) == ESPANK_SUCCESS ? 0 : -1;
}

/* Of a word KEY=VALUE in plugstack.conf; NULL: there is none. */
static const char *configured(const char *key, int ac, char **av)
{
	size_t length = strlen(key);

	for (int i = 0; i < ac; i++) {
		if (strncmp(av[i], key, length) == 0 && av[i][length] == '=')
			return av[i] + length + 1;
	}
	return NULL;
}

/* The script of a batch is no rank: those that it starts are. */
static int is_batch(spank_t spank)
{
	uint32_t step = 0;

	return spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS &&
	       (step == SLURM_BATCH_SCRIPT || step == SLURM_EXTERN_CONT ||
		step == SLURM_INTERACTIVE_STEP);
}

static int set(spank_t spank, const char *name, const char *value)
{
	return spank_setenv(spank, name, value, 1) == ESPANK_SUCCESS;
}

/* In the task's process, as its user, before it becomes the program. Whatever is wrong, the program is to run. */
int slurm_spank_task_init(spank_t spank, int ac, char **av)
{
	const char *command = configured("command", ac, av), *task = configured("task", ac, av);
	const char *options = asked.options;
	char **argv = NULL, *first;
	int argc = 0;

	if (!asked.is_wanted || is_batch(spank))
		return 0;
	if (!*options)
		options = configured("default", ac, av);
	if (!options)
		options = "-q -o fxtrace-%j/%h-%r.fxt.zst";
	if (!command)
		command = FX_COMMAND_PATH;
	if (!task)
		task = FX_TASK_PATH;
	if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1 ||
	    access(command, X_OK) != 0 || access(task, X_OK) != 0) {
		slurm_error("--fxtrace: not traced: this node cannot run %s and %s", command, task);
		return 0;
	}
	first = strdup(task); /* goes with the process */
	if (first && set(spank, "FXTRACE_SPANK_PROGRAM", argv[0]) &&
	    set(spank, "FXTRACE_SPANK_COMMAND", command) &&
	    set(spank, "FXTRACE_SPANK_OPTIONS", options))
		argv[0] = first;
	return 0;
}
