// SPDX-License-Identifier: Apache-2.0

// Package jobs runs jobs on schedules, each tick once, whatever the number of
// instances.
//
// A tick is a job and a nominal time. The nominal time follows from the job's schedule
// alone, so it is the same at every instance, and the id of the tick's release follows
// from the tick ([Tick.ReleaseID]): no matter who runs the tick, and however often it is
// begun, the ledger takes one payment.
//
// An instance claims a tick in the store, by creating its record, and holds it for as
// long as it renews the lease. A claim whose lease ran out is taken over under a new
// token, and everything that is done under the old one is refused ([ErrLost]). What a
// run needs to go on elsewhere is kept in the claim ([Store.Save]): first its attempt,
// before anything is spent, then its release, before anything is published. So a
// holder whose lease ran out cannot publish one release while another instance draws a
// second.
//
// Every time is the store's clock ([Store.Now]); the host's only measures how long to
// sleep.
package jobs
