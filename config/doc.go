// SPDX-License-Identifier: Apache-2.0

// Package config turns flags, environment, files and defaults into one checked
// [Config].
//
// Start with [AddFlags], which gives a command the flags of the groups it uses,
// then call [Load]. Every setting is one row of one table ([Settings]): from it
// come the flag, the names of environment variables, the key in a file, the JSON
// Schema ([Schema]) and the reference page ([Reference]).
//
// A value is taken from the first of these that has one:
//
//	flag > environment > .env file > configuration file > default
//
// [Load] reports every bad value at once; each is an [Error] that says what was
// given, where, and what is wanted. Passwords are a [Secret] and never print.
package config
