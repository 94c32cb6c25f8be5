// SPDX-License-Identifier: Apache-2.0

// Package must takes what a test's set-up made, or ends the test with its error.
package must

// tester is what tests, benchmarks and rapid have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// Get returns x, as in must.Get(os.ReadFile(path))(t).
func Get[T any](x T, err error) func(tester) T {
	return func(t tester) T {
		t.Helper()
		Do(t, err)
		return x
	}
}

// Do ends the test where there is an error.
func Do(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
