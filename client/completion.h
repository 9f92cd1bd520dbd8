/* SPDX-License-Identifier: MIT */
/*
 * What the completion of a shell asks for, in lines whose fields have a tab between them:
 *
 *	fxtrace help --commands                 NAME, HELP
 *	fxtrace help --options COMMAND          NAME, ARGUMENT (empty: it takes none), HELP
 *	fxtrace help --values COMMAND OPTION    VALUE, HELP; no line where it may be anything
 *
 * An option with a letter has two lines. All is read from the tables that the commands themselves use.
 */
#ifndef FX_CLIENT_COMPLETION_H
#define FX_CLIENT_COMPLETION_H

/* The next help of a command is to be a list of its options, or, unless NULL, of the values of one: "--format". */
void fx_completion_want(const char *option);

#endif
