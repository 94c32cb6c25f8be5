// SPDX-License-Identifier: Apache-2.0

package main

import _ "time/tzdata" // time zones of jobs, where the system has none: containers, Windows
