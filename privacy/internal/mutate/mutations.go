// SPDX-License-Identifier: Apache-2.0

package main

// fast lists the faults whose tests take a second or two, and the tests that catch
// them, each of which must. CI plants them.
var fast = []mutation{
	{
		"σ×0.97 in the calibration",
		[]change{{"privacy/calibration.go", "return up(hi*l2, 1), nil", "return up(0.97*hi*l2, 1), nil"}},
		"TestAnalyticIsTight",
	},
	{"σ×0.97 in the sampler", []change{{
		"privacy/table.go", "hi, lo := bits.Mul64(z, uint64(steps))",
		"hi, lo := bits.Mul64(z-z/33, uint64(steps))",
	}}, "TestChiSquared"},
	{"σ×0.97 in the plan", []change{
		{"privacy/plan.go", "s.Steps = int64(steps)", "s.Steps = int64(0.97 * steps)"},
		{"privacy/plan_check.go", "	if !ok {", "	if !ok && mu < 0 {"},
	}, "TestFinalCheck|TestUniformPlan"},
	{
		"floor for round in the noise",
		[]change{{"privacy/table.go", "bits.Add64(lo, 1<<(unitBits-1), 0)", "bits.Add64(lo, 0, 0)"}},
		"TestChiSquared|TestKnownAnswers",
	},
	{"floor for round in the reading", []change{{"privacy/lattice.go", "if v-f >= 0.5 {", "if v-f > 1 {"}}, "TestRound"},
	{
		"truncated tail",
		[]change{{"privacy/table.go", "	r := v << (octave + 1)", "	octave = min(octave, 14)\n	r := v << (octave + 1)"}},
		"TestChiSquared|TestFastEqualsExact",
	},
	{
		"one key for two sensors",
		[]change{{"privacy/escrow.go", "epoch, []byte(sensor)))", "epoch, []byte(sensor)[:0]))"}},
		"TestIndependence|TestKnownAnswers",
	},
	{"one key for two epochs", []change{{
		"privacy/escrow.go", "epoch := binary.BigEndian.AppendUint32(nil, e.epoch)",
		"epoch := binary.BigEndian.AppendUint32(nil, 1)",
	}}, "TestIndependence"},
	{"noise that ignores the release", []change{
		{"privacy/escrow.go", `[]byte("graphcloak/v1/noise"), []byte(releaseID)`, `[]byte("graphcloak/v1/noise"), nil`},
		{"privacy/escrow.go", `[]byte("graphcloak/v1/siv"), []byte(releaseID)`, `[]byte("graphcloak/v1/siv"), nil`},
	}, "TestIndependence"},
	{"byte order", []change{{"privacy/escrow.go", "u := binary.BigEndian.Uint64", "u := binary.LittleEndian.Uint64"}}, "TestKnownAnswers"},
	{"missing √m·g", []change{
		{"privacy/plan.go", "sum += float64(s.Weight * s.Step() * s.Step())", "sum += float64(0 * s.Weight)"},
		{"privacy/plan.go", "sum += float64(g * g)", "sum += float64(0 * g)"},
	}, "TestFinalCheck"},
	{"missing η", []change{{
		"privacy/plan.go", "entry, norm := float64(2*p.EntryError*math.Sqrt(sum)), float64(2*p.NormError*largest)",
		"entry, norm := 0*sum, 0*largest",
	}}, "TestFinalCheck"},
	{"missing g for one sensor", []change{
		{"privacy/plan.go", "p.slack() * r * (s.Bound + s.Step() + eta)", "p.slack() * r * (s.Bound + eta)"},
		{"privacy/plan.go", "m := (s.Bound + s.Step() + 2*p.entryError()) / s.Sigma()", "m := (s.Bound + 2*p.entryError()) / s.Sigma()"},
	}, "TestPerSensorPlan"},
	{"Δ understated", []change{
		{"privacy/plan.go", "c := p.slack() * r * (p.Sensitivity.Upper +", "c := p.slack() * r * (0.97*p.Sensitivity.Upper +"},
		{
			"privacy/plan.go", "mu = up(float64(p.Sensitivity.Upper*scale)+rest, 16)",
			"mu = up(float64(0.97*p.Sensitivity.Upper*scale)+rest, 16)",
		},
	}, "TestFinalCheck|TestUniformPlan"},
	{"lower end of the bracket", []change{
		{"privacy/plan.go", "c := p.slack() * r * (p.Sensitivity.Upper +", "c := p.slack() * r * (p.Sensitivity.Lower +"},
		{"privacy/plan.go", "mu = up(float64(p.Sensitivity.Upper*scale)+rest, 16)", "mu = up(float64(p.Sensitivity.Lower*scale)+rest, 16)"},
	}, "TestUniformPlan|TestFinalCheck"},
	{
		"private vectors stay in memory that others get",
		[]change{{"expm/private.go", "clear(v) // the memory goes to others", "_ = v"}},
		"TestPrivateMemoryIsCleared",
	},
	{"whitening forgotten", []change{
		{"privacy/plan.go", "s.setSteps(c / math.Sqrt(s.Weight))", "s.setSteps(c)"},
		{"privacy/plan.go", "scale = max(scale, 1/(s.Sigma()*math.Sqrt(s.Weight)))", "scale = max(scale, 1/s.Sigma())"},
	}, "TestFinalCheck"},
	{
		"β not taken from δ",
		[]change{{"privacy/plan.go", "b.Delta = math.Nextafter(b.Delta-f, 0)", "b.Delta = math.Nextafter(b.Delta, 0)"}},
		"TestFailureIsTakenFromDelta",
	},
	{"no uncertainty window", []change{{
		"privacy/table.go", "fraction < margin || fraction >= 1<<unitBits-margin",
		"fraction > 1<<unitBits",
	}}, "TestFastEqualsExact"},
	{
		"no boundary check when exact",
		[]change{{"privacy/sampler.go", "return sample, lo.Cmp(new(big.Int).Add(left, one)) >= 0 && " +
			"hi.Cmp(new(big.Int).Sub(right, one)) <= 0", "return sample, true"}},
		"TestKnownEdges",
	},
	{
		"closed forms not checked",
		[]change{{"privacy/calibration.go", "if !private(b, 1/r) {", "if r < 0 {"}},
		"TestSigmaTable|TestReferenceCalibrations",
	},
	{"cost rounded down", []change{{
		"privacy/cost.go", "units := math.Ceil(up(mu*mu/2, 2) / costUnit)",
		"units := math.Floor(mu * mu / 2 / costUnit)",
	}}, "TestCostRoundsUp"},
	{"reveal does not verify", []change{{
		"privacy/reveal.go", "if mac.nonce(r.id, s.calibration(), reading) != r.nonces[i] {",
		"if mac == nil {",
	}}, "TestReveal"},
	{"readings not clipped", []change{{"privacy/lattice.go", "math.Ldexp(min(max(y, c.Lo), c.Hi), -k)", "math.Ldexp(y, -k)"}}, "TestRound"},
	{"off-lattice values read", []change{{
		"privacy/release.go", "case v.Value != value(v.Steps, s.Exponent):",
		"case v.Steps == math.MaxInt64:",
	}}, "TestRefusesTamperedReleases"},
	{"cap not enforced", []change{{
		"privacy/window.go", "return err == nil && a.Spent <= limit",
		"return err == nil && a.Spent/2 <= limit",
	}}, "TestLedger"},
	{"release id granted twice", []change{{"privacy/spend.go", "e.Charge.equal(c) {", "e.Charge.Scope == c.Scope {"}}, "TestLedger"},
	{"chain not linked", []change{{"privacy/account.go", "e.Prev != a.Head, ", ""}}, "TestReplayFindsRewriting"},
	{"chain not hashed", []change{{"privacy/account.go", ", e.Hash != e.hash():", ":"}}, "TestReplayFindsTampering"},
	{"sensor's counter repeats", []change{{
		"privacy/sensor/state.go", "shortlex(releaseID, next.Last) <= 0",
		"shortlex(releaseID, next.Last) < 0",
	}}, "TestCloakCounter|TestCloakSpendsBeforeOutput"},
	{
		"sensor does not store its spend",
		[]change{{"privacy/sensor/state.go", "return b.Put(recordKey, data)", "return b.Put(recordKey, data[:0])"}},
		"TestCloakCounter|TestCloakSpendsBeforeOutput",
	},
	{
		"sensor takes a lower σ",
		[]change{{"privacy/sensor/state.go", "case p.Sensor.Sigma() < r.SigmaMin:", "case p.Sensor.Sigma() < 0:"}},
		"TestCloakRefusesPackages",
	},
	{"key file read by everyone", []change{{
		"privacy/sensor/keyfile.go", "mode&fs.FileMode(0o077) != 0",
		"mode&fs.FileMode(0o077) == 0o777",
	}}, "TestKeyFile"},

	// The system's noise and the sensor's own.
	{
		"only the first sensor noisy",
		[]change{{"privacy/system.go", "		x[i] = n\n", "		if i == 0 {\n			x[i] = n\n		}\n"}},
		"TestSystemUsesEveryWordOnce|TestSystemNoiseIsNormal",
	},
	{
		"all sensors share one sample",
		[]change{{"privacy/system.go", "	s.left -= 8\n", ""}},
		"TestSystemUsesEveryWordOnce|TestSystemNoiseIsIndependent",
	},
	{
		"a release repeats its first page",
		[]change{{
			"privacy/system.go", "		rand.Read(s.buf[:])",
			"		if s.buf == ([4096]byte{}) {\n			rand.Read(s.buf[:])\n		}",
		}},
		"TestSystemUsesEveryWordOnce|TestSystemNoiseIsIndependent",
	},
	{"one page for ever", []change{
		{"privacy/system.go", "	src := &systemWords{}\n	defer src.wipe()\n", "	src := &shared\n"},
		{"privacy/system.go", "// systemWords reads", "var shared systemWords\n\n// systemWords reads"},
		{
			"privacy/system.go", "		rand.Read(s.buf[:])",
			"		if s.buf == ([4096]byte{}) {\n			rand.Read(s.buf[:])\n		}",
		},
	}, "TestSystemUsesEveryWordOnce|TestSystemNoiseIsIndependent"},
	{
		"half of σ in the system's noise",
		[]change{{"privacy/system.go", "sample(src, s.Steps)", "sample(src, s.Steps/2)"}},
		"TestSystemUsesEveryWordOnce|TestSystemNoiseIsNormal",
	},
	{
		"half of σ at a sensor",
		[]change{{"privacy/single.go", "sample(src, s.Steps)", "sample(src, s.Steps/2)"}},
		"TestOneSensorUsesEveryWordOnce",
	},
	{
		"no noise at a sensor",
		[]change{{"privacy/single.go", "v.Steps = rounded + noise", "v.Steps = rounded + 0*noise"}},
		"TestOneSensorUsesEveryWordOnce",
	},
	{"half of σ in cloak", []change{{
		"privacy/sensor/cloak.go", "	v, err := p.Sensor.Perturb(",
		"	p.Sensor.Steps /= 2\n	v, err := p.Sensor.Perturb(",
	}}, "TestCloakAddsTheNoiseOfItsPackage"},
	{"no noise in cloak", []change{{
		"privacy/sensor/cloak.go", "	v.Plan, v.Deployment,",
		"	v.Value = *r.Reading\n	v.Plan, v.Deployment,",
	}}, "TestCloakAddsTheNoiseOfItsPackage"},

	// Payment first.
	{
		"cloak draws before it spends",
		[]change{{
			"privacy/sensor/cloak.go", "	if err := s.spend(p, r.ReleaseID); err != nil {",
			"	if _, err := p.Sensor.Perturb(*r.Reading, p.Clip, \"1\", key); err != nil {\n		return err\n	}\n	if err := " +
				"s.spend(p, r.ReleaseID); err != nil {",
		}},
		"TestCloakDrawsAfterTheSpend",
	},
	{
		"noise drawn before the spend",
		[]change{{
			"run/pay.go", "	err = spend(ctx, job.Ledger, c, job.RequireCap)\n",
			"	if _, err := draw(); err != nil {\n		return none, err\n	}\n	err = spend(ctx, job.Ledger, c, job.RequireCap)\n",
		}},
		"TestNoiseIsDrawnAfterTheSpend",
	},
	{
		"a write without payment",
		[]change{{"run/publish.go", "		if err != nil {\n			return nil, " +
			"err\n		}\n		rep.SetPayment(e)\n", "		if err == nil {\n			rep.SetPayment(e)\n		}\n"}},
		"TestNothingIsWrittenUnpaid",
	},

	// What is certified is what is charged.
	{
		"perSensor charged from the lower end",
		[]change{{"plan/bracket.go", "append(spec.PerSensor, b.Upper*certificateMargin)", "append(spec.PerSensor, b.Lower)"}},
		"run:TestPlanChargesWhatWasCertified",
	},
	{"η without √n", []change{{
		"plan/bracket.go", "m.Operator.M().Err()*math.Sqrt(float64(m.Graph.Order()))",
		"m.Operator.M().Err()",
	}}, "run:TestPlanChargesWhatWasCertified"},
	{"η a millionth", []change{{
		"plan/bracket.go", "m.Operator.M().Err()*math.Sqrt(float64(m.Graph.Order()))",
		"1e-6*m.Operator.M().Err()*math.Sqrt(float64(m.Graph.Order()))",
	}}, "run:TestPlanChargesWhatWasCertified"},
	{"Chebyshev's error without rounding", []change{{"expm/expm.go", "		d.err += d.rounding\n", ""}}, "TestErrCountsRounding"},
	{
		"a final check 1 % lenient in δ",
		[]change{{
			"privacy/plan_check.go", "logDelta(b.Epsilon, mu)+logDeltaError/2 <= math.Log(b.Delta)",
			"logDelta(b.Epsilon, mu)+logDeltaError/2 <= math.Log(1.01*b.Delta)",
		}},
		"TestFinalCheckIsTight",
	},

	// Failure probabilities, from the screen to the cap.
	{"no union over edges", []change{{
		"privacy/sensitivity/screen.go", "c.opts.Failure / (float64(2*len(c.rest)) * maxRounds)",
		"c.opts.Failure / maxRounds",
	}}, "TestUnion"},
	{
		"a screen's failure reported as 0",
		[]change{{"privacy/sensitivity/state.go", "Failure: s.failure}", "Failure: 0 * s.failure}"}},
		"TestScreenSaysThatItMayFail",
	},
	{
		"the failure does not reach the plan",
		[]change{{
			"plan/bracket.go", "Upper: b.Upper * certificateMargin, Failure: b.Failure}",
			"Upper: b.Upper * certificateMargin, Failure: 0 * b.Failure}",
		}},
		"run:TestPlanTakesTheScreensFailure",
	},
	{
		"a row without the kernel's error",
		[]change{{
			"privacy/sensitivity/persensor.go", "p.bracketRow(block.RawRowView(k), d.Err())",
			"p.bracketRow(block.RawRowView(k), 0*d.Err())",
		}},
		"TestPerSensorByRows",
	},
	{
		"half of a sensor's own charge",
		[]change{{"privacy/verify.go", "up((s.Bound+s.Step()", "up((0.5*s.Bound+s.Step()"}},
		"TestPerSensorCharge",
	},
	{
		"joint and perSensor in one scope",
		[]change{{"privacy/window.go", "a.Guarantee != c.Guarantee", "a.Guarantee > c.Guarantee"}},
		"TestScopeHoldsOneGuarantee",
	},
	{"a node key evades a cap", []change{{"privacy/account.go", "a.NodeKey == key {", "a.NodeKey != key {"}}, "TestNodeKeys"},
	{
		"a digest without X",
		[]change{{"privacy/release.go", "		h.add(be64(x))\n", "		h.add(be64(0 * x))\n"}},
		"TestReleaseDigest",
	},
	{
		"a certificate's id without its bracket",
		[]change{{"privacy/verify.go", "p.Sensitivity.Lower, p.Sensitivity.Upper, p.Sensitivity.Failure", "0., 0., p.Sensitivity.Failure"}},
		"TestCertificatesDiffer",
	},
	{
		"ε further apart at δ instead of δ − β",
		[]change{{"privacy/guarantee.go", "GDPEpsilon(up(k*p.Mu, 1), p.net().Delta)", "GDPEpsilon(up(k*p.Mu, 1), p.Delta)"}},
		"TestFurtherApart",
	},
	{
		"a certificate's id without its seed",
		[]change{{"privacy/verify.go", "		p.Sensitivity.Seed[:])", "		nil)"}},
		"TestCertificateHasItsSeed",
	},
	{
		"the largest β instead of the sum",
		[]change{{"privacy/account.go", "sum += a.Certificates[k]", "sum = max(sum, a.Certificates[k])"}},
		"TestFailuresAdd",
	},
	{
		"a cap that ignores β",
		[]change{{"privacy/account.go", "if f := a.failure(); f > 0 {", "if f := a.failure(); f > 1 {"}},
		"TestCapCountsFailures",
	},
	{
		"a cap 0.4 % too large",
		[]change{{"privacy/cost.go", "Cost(math.Floor(0.5 / (r * r)", "Cost(math.Floor(0.502 / (r * r)"}},
		"TestCapIsTight",
	},

	// Numbers that are shown and believed.
	{"a series of Φ that is off", []change{{
		"privacy/internal/normal/normal.go", "part.Quo(term, div.SetInt64(2*k+1))\n		if k%2 == 1 " +
			"{\n			sum.Sub(sum, part)\n		} else {\n			sum.Add(sum, part)\n		}\n	}\n	// Φ",
		"part.Quo(term, div.SetInt64(2*k+3))\n		if k%2 == 1 {\n			sum.Sub(sum, part)\n		} else " +
			"{\n			sum.Add(sum, part)\n		}\n	}\n	// Φ",
	}}, "TestCDF"},
	{
		"an error of the table understated",
		[]change{{"privacy/table.go", "	tableError = 13\n", "	tableError = 0\n"}},
		"TestTableCertified",
	},
	{"δ understated by 1e-11", []change{{
		"privacy/gaussian.go", "up(math.Exp(logDelta(eps, mu)+logDeltaError), 4)",
		"up(math.Exp(logDelta(eps, mu)-logDeltaError), 4)",
	}}, "TestDeltaBound"},
	{"μ of a cost without its 2", []change{{"privacy/cost.go", "math.Sqrt(2*c.Rho())", "math.Sqrt(c.Rho())"}}, "TestComposition"},
	{
		"ε understated by a thousandth",
		[]change{{"privacy/cost.go", "if private(Budget{mid, delta}, mu) {", "if private(Budget{1.001 * mid, delta}, mu) {"}},
		"TestGDPEpsilonIsTight",
	},
	{
		"group privacy by kε",
		[]change{{"privacy/guarantee.go", "GDPEpsilon(up(k*p.Mu, 1), p.net().Delta)", "k*p.Epsilon, nil"}},
		"TestFurtherApart|TestSentence",
	},
	{"a key that prints", []change{{"privacy/escrow.go", "return \"sensor key\"", "return string(k.key())"}}, "TestKeysDoNotPrint"},
	{"values off the lattice", []change{{
		"privacy/release.go", "return math.Ldexp(float64(x), k)",
		"return math.Ldexp(float64(x)*(1+0x1p-45), k)",
	}}, "privacy/audit:TestLowBits"},
	{
		"an interval that is too short",
		[]change{{"privacy/audit/audit.go", "float64(n-k+1), mid) <= alpha", "float64(n-k+1), mid) <= 100*alpha"}},
		"TestClopperPearson",
	},
	{
		"weighted norms without the leak into the null space",
		[]change{{"privacy/sensitivity/exact.go", "*unit) + leak + relative*v", "*unit) + relative*v"}},
		"TestManyMagnitudes",
	},
	{
		"single readings without the leak into the null space",
		[]change{{"privacy/sensitivity/persensor.go", "norm*(d.up+d.nullLeak+d.base", "norm*(d.up+0*d.nullLeak+d.base"}},
		"TestManyMagnitudes",
	},
	{
		"a bracket of the last edge",
		[]change{{"privacy/sensitivity/state.go", "maximum(s.upper)", "s.upper[len(s.upper)-1]"}},
		"TestSearch",
	},
	{
		"no truncation error of Lanczos steps",
		[]change{{"privacy/sensitivity/krylov.go", "k.beta[m-1]*(math.Abs(integral)", "k.beta[m-1]*(0*math.Abs(integral)"}},
		"TestKrylov",
	},
	{
		"the screen without what is near",
		[]change{{"privacy/sensitivity/near.go", "up := a.norm*(1", "up := 0*a.norm*(1"}},
		"TestScreenFailsAsRarelyAsItSays",
	},

	// Answers of yes or no.
	{"an answer turned round where it should stay", []change{
		{"privacy/answer/coin.go", "first < c.below:\n		return true, nil", "first < c.below:\n		return false, nil"},
		{"privacy/answer/coin.go", "first >= c.above:\n		return false, nil", "first >= c.above:\n		return true, nil"},
	}, "TestKnownCoins|TestAttackOnAnswers|TestKnownAnswersOfKeys"},
	{
		"a coin of 1.03·ε",
		[]change{{"privacy/answer/coin.go", "	lo, hi := bounds(cost, 64)", "	lo, hi := bounds(cost+cost/33, 64)"}},
		"TestKnownCoins|TestAttackOnAnswers",
	},
	{
		"one random word for the coins of two people",
		[]change{{
			"privacy/answer/release.go", "err := privacy.SystemBits(func(next func() uint64) error {",
			"err := privacy.SystemBits(func(draw func() uint64) error {\n" +
				"		var word uint64\n		read := 0\n		next := func() uint64 {\n" +
				"			if read++; read%2 == 1 {\n				word = draw()\n			}\n			return word\n		}",
		}},
		"TestAttackOnAnswers",
	},
	{
		"one coin for two rounds",
		[]change{{"privacy/answer/question.go", "(q.Epsilon), q.Round, q.Rumour", "(q.Epsilon), 1, q.Rumour"}},
		"TestKnownAnswersOfKeys|TestAnswersOfKeysAreIndependent",
	},
	{"half of ε for an answer in the account", []change{{
		"privacy/pure.go", "		return c.PureEpsilon(), nil", "		return c.PureEpsilon() / 2, nil",
	}}, "privacy/answer:TestRoundsAreCharged"},
	{"a cap of answers that holds twice as many", []change{{
		"privacy/pure.go", "math.Floor(b.Epsilon / costUnit)", "math.Floor(2 * b.Epsilon / costUnit)",
	}}, "privacy/answer:TestRoundsAreCharged"},
	{"a cheaper person", []change{{
		"privacy/account.go", "		if each != cost {", "		if each > cost {",
	}}, "privacy/answer:TestChargesOfAnswersAreChecked"},
	{"the first person pays for all", []change{{
		"privacy/answer/plan.go", "for _, person := range p.People {\n		each[",
		"for range p.People {\n		person := p.People[0]\n		each[",
	}}, "TestRoundsAreCharged"},
	{"a kept answer drawn again where the truth has changed", []change{{
		"privacy/sensor/answers.go", "	case p.Round == k.Round:", "	case p.Round == k.Round && !truth:",
	}}, "TestAnswersAreKept"},
	{"a round that costs its person nothing", []change{{
		"privacy/sensor/answers.go", "k.Round, k.Spent = p.Round, k.Spent+cost", "k.Round, k.Spent = p.Round, k.Spent",
	}}, "TestAnswersHaveALimit"},
	{"kept answers asked for again", []change{{
		"privacy/answer/kept.go", "if k[p.ID].Round < round {", "if k[p.ID].Round <= round {",
	}}, "TestKeep"},
	{"a second answer in a round", []change{{
		"privacy/answer/kept.go", "if given[round][a.ID] {", "if given[round][a.ID] && round < 0 {",
	}}, "TestKeep"},
	{"answers turned back with any key", []change{{
		"privacy/answer/release.go", "if r.plan.nonce(key, r.id, truths[i]) != *a.Nonce {", "if key == nil {",
	}}, "TestRevealAnswers"},

	// What is public, what is whole.
	{
		"a public property that is the signal",
		[]change{{"plan/signal.go", "if slices.Contains(public, name) {", "if name == \"\" && slices.Contains(public, name) {"}},
		"run:TestNoPublicSettingIsTheSignal|TestPlanRemembersWhatIsPublic|TestReleaseRemembersItsSignal",
	},

	// Files that only their owner may read.
	{"revealed readings for everyone", []change{{"cmd/graphcloak/reveal.go", "	a.secret = true\n", ""}}, "TestModes"},
	{
		"staged releases for everyone",
		[]change{{"run/folder.go", "Mode: 0o600, Replace: true", "Mode: 0o666, Replace: true"}},
		"cmd/graphcloak:TestModes",
	},
	{"a ledger for everyone", []change{{
		"internal/database/database.go", "bbolt.Open(name, 0o600, options)",
		"bbolt.Open(name, 0o666, options)",
	}}, "cmd/graphcloak:TestModes"},
	{
		"a ledger's folder for everyone",
		[]change{{"connector/folder/folder.go", "root.Mkdir(stateDir, 0o700)", "root.Mkdir(stateDir, 0o755)"}},
		"cmd/graphcloak:TestModes",
	},
	{
		"a folder of state for everyone",
		[]change{{"cmd/graphcloak/state.go", "os.MkdirAll(dir, 0o700)", "os.MkdirAll(dir, 0o755)"}},
		"TestModes",
	},

	// A ledger does not go back.
	{"a ledger may go back", []change{{
		"privacy/watch.go", "if Contains(entries, m.Account.Head) && a.Spent >= m.Account.Spent {",
		"if a.Entries >= 0 {",
	}}, "TestWatchRefusesALedgerThatWentBack|TestWatchFindsClones"},
	{
		"a lost head that nothing was booked for",
		[]change{{"privacy/watch.go", " && a.Spent >= m.Account.Spent {", " && a.Spent >= 0 {"}},
		"TestMarksWantWhatWasSpent",
	},
	{
		"what both chains have is booked again",
		[]change{{"privacy/watch.go", "			common = i + 1\n", "			common = 0 * i\n"}},
		"TestWatchRefusesALedgerThatWentBack",
	},
	{
		"the lost cap does not return",
		[]change{{
			"privacy/watch.go", "		b.Cap = stricterCap(a.Cap, lost.Cap)\n",
			"		b.Cap = nil\n",
		}},
		"TestWatchRefusesALedgerThatWentBack",
	},
	{
		"a release counts for less than the window",
		[]change{{"privacy/window.go", "if e.Time.After(begin) {", "if e.Time.After(begin.Add(time.Millisecond)) {"}},
		"TestSlidingCap",
	},
	{
		"a clock that goes back dates releases before those in front",
		[]change{{"privacy/account.go", "	if e.Time.Before(a.Latest) {\n", "	if e.Time.Before(a.Latest) && e.Kind != KindSpent {\n"}},
		"TestClocksThatGoBack",
	},
	{
		"times that go back along a chain",
		[]change{{
			"privacy/account.go", "case !e.Time.IsZero() && e.Time.Before(a.Latest):",
			"case !e.Time.IsZero() && e.Time.Before(a.Latest) && e.Seq < 0:",
		}},
		"TestTimesOfAChain",
	},
	{
		"releases without a time do not count",
		[]change{{"privacy/window.go", "		if !e.Time.IsZero() {\n			old = i + 1\n		}\n", "		old = i + 1\n"}},
		"TestUndatedReleasesCount",
	},
	{
		"a written release is drawn again",
		[]change{{"privacy/spend.go", "find(prior, KindVoid) == nil && find(prior, KindWritten) == nil", "find(prior, KindVoid) == nil"}},
		"run:TestRedeemOnce",
	},
	{
		"a cap returns without its window",
		[]change{{"privacy/watch.go", "per = 0 // for ever is the longest", "per = max(per, 1)"}},
		"TestLowerCap",
	},
	{
		"a charge counted elsewhere than against its signal's account",
		[]change{{
			"privacy/account.go", "case e.Charge != nil && e.Charge.Scope != a.Scope:",
			"case e.Charge != nil && e.Charge.Scope == \"\":",
		}},
		"TestChargesStayWithTheirScope",
	},
	{
		"a charge of another property",
		[]change{{
			"run/attempt.go", "c, err := a.Plan.Charge(Scope(a.Signal)",
			"c, err := a.Plan.Charge(Scope(plan.Signal{Cloaked: true})",
		}},
		"TestChargesCountAgainstTheirProperty",
	},
	{
		"a new scope starts in silence though the mark remembers others",
		[]change{{
			"privacy/watch.go", "	if len(entries) == 0 && !whole {\n		if _, err := w.checkAll",
			"	if len(entries) < 0 && !whole {\n		if _, err := w.checkAll",
		}},
		"TestNewScopeOfALostLedger",
	},
	{
		"a new scope that was looked at before its ledger was lost",
		[]change{{"privacy/watch.go", "	ok = ok && seen.Account.Entries > 0\n", ""}},
		"TestNewScopeOfALostLedger",
	},
	{"a cap is not required", []change{{
		"run/scope.go", "if err == nil && required && a.Cap == nil {",
		"if err == nil && required && a.Cap == nil && l == nil {",
	}}, "TestOneCapForOneProperty"},

	// Faults that others planted, and no test had caught.
	{
		"a cap whose δ is not compared",
		[]change{{"privacy/window.go", "b.Epsilon <= a.Cap.Epsilon && b.Delta <= a.Cap.Delta", "b.Epsilon <= a.Cap.Epsilon"}},
		"TestLedger",
	},
	{"a void release is drawn", []change{{
		"privacy/spend.go", "find(prior, KindVoid) == nil && find(prior, KindWritten) == nil",
		"find(prior, KindWritten) == nil",
	}}, "TestLedger"},
	{
		"a void release is written",
		[]change{{"run/payment.go", "return e.Kind == privacy.KindVoid }", "return e.Kind == \"\" }"}},
		"TestNothingIsWrittenOnceGivenUp",
	},
	{
		"a sensor that does not clip",
		[]change{{
			"privacy/single.go", "rounded := clip.round(reading, s.Exponent)",
			"rounded := Interval{-0x1p60, 0x1p60}.round(reading, s.Exponent)",
		}},
		"privacy/sensor:TestCloakClips",
	},
	{
		"a later package lowers σ_min",
		[]change{{
			"privacy/sensor/state.go", "	if p.Limit > 0 {\n		r.Limit",
			"	r.SigmaMin = p.SigmaMin\n	if p.Limit > 0 {\n		r.Limit",
		}},
		"TestLaterPackagesLowerNothing",
	},
	{
		"a later package makes the lattice coarser",
		[]change{{
			"privacy/sensor/state.go", "	if p.Limit > 0 {\n		r.Limit",
			"	r.Steps = p.Sensor.Steps\n	if p.Limit > 0 {\n		r.Limit",
		}},
		"TestLaterPackagesLowerNothing",
	},
	{
		"a lower limit is forgotten",
		[]change{{"privacy/sensor/state.go", "	if p.Limit > 0 {\n		r.Limit = p.Limit\n	}\n", ""}},
		"TestLaterPackagesLowerNothing",
	},
	{
		"a value of another plan",
		[]change{{"privacy/fromsensors.go", "case v.Plan != digest:", "case v.Plan != digest && i < 0:"}},
		"privacy/sensor:TestCloakToRelease",
	},
	{
		"a value on another lattice",
		[]change{{"privacy/fromsensors.go", "v.Exponent != p.Sensors[i].Exponent || v.Value", "v.Value"}},
		"privacy/sensor:TestCloakToRelease",
	},
	{
		"only the first sensors are validated",
		[]change{{
			"privacy/plan_check.go", "	for _, s := range p.Sensors {\n		if err := s.validateNoise(",
			"	for _, s := range p.Sensors[:1] {\n		if err := s.validateNoise(",
		}},
		"TestEverySensorIsValidated",
	},
	{"reconciled at the larger δ", []change{{"privacy/watch.go", "min(a.Delta, b.Delta)", "max(a.Delta, b.Delta)"}}, "TestLowerCap"},
	{
		"another chain of equal length",
		[]change{{"privacy/watch.go", "a.Entries < seen.Account.Entries || a.Entries == seen.Account.Entries && a.Head != " +
			"seen.Account.Head", "a.Entries < seen.Account.Entries"}},
		"TestWatchRefusesAnotherChain",
	},
	{
		"another chain that is longer",
		[]change{{"privacy/watch.go", "if ours == nil && a.Entries > seen.Account.Entries {", "if ours == nil && a.Entries < 0 {"}},
		"TestWatchRefusesAnotherChain",
	},
	{
		"marks of two chains follow each other",
		[]change{{
			"privacy/watch.go", "		return false, nil\n	}\n	return false, fmt.Errorf(",
			"		return false, nil\n	case m.Account.Entries > 0:\n		return false, nil\n	}\n	return false, fmt.Errorf(",
		}},
		"TestMarksOfTwoChains",
	},
	{
		"a payment whose hash is another",
		[]change{{"privacy/verify.go", "!e.Charge.equal(c) || e.Hash != e.hash()", "!e.Charge.equal(c)"}},
		"TestEntryPaysInFull",
	},
	{"redrawn on another graph", []change{{
		"run/pay.go", "	if err := m.Matches(a.Plan.Plan); err != nil || a.Release != nil " +
			"{\n		return a.Release, err\n	}\n",
		"	if a.Release != nil {\n		return a.Release, nil\n	}\n",
	}}, "TestRedeemOnTheSameGraph"},
	{
		"a lost answer counts as unspent",
		[]change{{
			"run/pay.go", "	if errors.Is(err, privacy.ErrUncertain) {\n",
			"	if err == nil && errors.Is(err, privacy.ErrUncertain) {\n",
		}},
		"TestLostAnswerMayBeSpent",
	},
	{
		"people with a kept answer are asked again",
		[]change{{"run/whisper.go", "asked := kept.Unasked(", "asked := answer.Kept{}.Unasked("}},
		"run:TestWhisper",
	},
	{
		"who slept while another run asked asks again",
		[]change{{"run/answers.go", "if job.Ledger, _, err = Once(", "if _, _, err = Once("}},
		"run:TestWhisperRace",
	},
	{
		"a rate of false alarms is checked after the spend",
		[]change{{"run/whisper.go", "analyst.CheckFalseAlarm(job.Recover.FalseAlarm)", "analyst.CheckFalseAlarm(0)"}},
		"run:TestWhisperRefused",
	},
	{
		"a round at another ε mixes with it",
		[]change{{"run/answers.go", "case k.Round >= a.AtRound():", "case k.Round > a.AtRound():"}},
		"run:TestWhisper",
	},
	{
		"a whisper that was written is never closed in the ledger",
		[]change{{
			"run/publish.go", "	if paid {\n		if err := markWritten", "	if !paid {\n		if err := markWritten",
		}},
		"run:TestWhisperResumes",
	},
	{
		"a ledger that is away counts as unspent",
		[]change{{
			"run/pay.go", "	if err != nil {\n		return &UnfinishedError{job.RunID, MaySpent, err}\n	}\n	if !paid {",
			"	if err != nil || !paid {",
		}},
		"TestPaymentThatCannotBeAskedFor",
	},
	{
		"a plan with a sensor that is not selected",
		[]change{{"plan/certify.go", "		case !selected:", "		case !selected && last > s.Node:"}},
		"run:TestPlansOfOtherSensors",
	},
	{
		"a lost lease stops nothing",
		[]change{{
			"jobs/hold.go", "time.Since(renewed) >= h.e.Lease:\n			h.stop(ErrLost)\n",
			"time.Since(renewed) >= h.e.Lease:\n",
		}},
		"TestLostLeaseStopsTheRun",
	},
	{
		"a lost tick runs on for a lease",
		[]change{{"jobs/hold.go", "case errors.Is(err, ErrLost), time.Since(renewed)", "case time.Since(renewed)"}},
		"TestLostLeaseStopsTheRun",
	},
	{
		"sums of lengths without a margin",
		[]change{{"privacy/limit/limit.go", "		d *= 1 + 0x1p-30\n", "		d *= 1\n"}},
		"TestSumsOfLengthsRoundUp",
	},
	{
		"a quotient of lengths is believed",
		[]change{{"privacy/limit/limit.go", "	if math.FMA(k, alpha, -d) < 0 {", "	if k < 0 {"}},
		"TestStepsAreNeverTooFew",
	},
	{
		"steps beyond the last number are the last",
		[]change{{
			"privacy/limit/game.go", "		if k < 0 || kind == len(a.steps) || a.q.prior[i] == 0 " +
				"{\n			continue\n		}\n",
			"		if k < 0 || a.q.prior[i] == 0 {\n			continue\n		}\n		kind = " +
				"min(kind, len(a.steps)-1)\n",
		}},
		"TestStepsThatAreNotToldApart",
	},
	{
		"steps between two numbers round down",
		[]change{{
			"privacy/limit/game.go", "		kind, _ := slices.BinarySearch(a.steps, int(k))\n",
			"		kind, exact := slices.BinarySearch(a.steps, int(k))\n		if !exact && kind > 0 && kind < len(a.steps) " +
				"{\n			kind--\n		}\n",
		}},
		"TestStepsThatAreNotToldApart",
	},
	{
		"nodes that no star reaches are never named",
		[]change{{
			"privacy/limit/game.go", "			a.unconstrained += q.prior[i]\n",
			"			a.unconstrained += 0 * q.prior[i]\n",
		}},
		"TestUnreachedNodesAreNotLimited",
	},
	// Given operators.
	{
		"a given operator certified without its lengths",
		[]change{{"privacy/sensitivity/given.go", "b.raise(m.Scale(e)*low, m.Scale(e)*high, e)", "b.raise(m.Scale(e)*low, high, e)"}},
		"TestGiven",
	},
	{
		"the first of the given operators certified alone",
		[]change{{
			"privacy/sensitivity/given.go", "for _, op := range m.Given {\n\t\twidth", "for _, op := range m.Given[:1] {\n\t\twidth",
		}},
		"TestGiven",
	},
	{
		"a listed operator that no plan covers",
		[]change{{"plan/model.go", "list = append(list, o.Sparse)", "_ = o"}},
		"TestGivenOperators",
	},
	{
		"two readings of a sensor under one name",
		[]change{{"laplacian/response/response.go", `return g.ID(r.Node) + graph.ID("@"+r.Time)`, "return g.ID(r.Node)"}},
		"TestBuild",
	},
	{
		"an operator whose digest leaves the responses out",
		[]change{{"laplacian/response/response.go", "math.Float64bits(x[k])", "math.Float64bits(0*x[k])"}},
		"TestBuild",
	},
	{
		"a given operator whose products do not round",
		[]change{{"laplacian/linop/sparse.go", "s.err = s.norm * float64(width+4) * 0x1p-52", "s.err = 0 * float64(width)"}},
		"TestSparse",
	},
	{
		"an operator that is not compared with the plan's",
		[]change{{"plan/operators.go", "want != (privacy.Digest{}) && want != o.Digest", "false && want != o.Digest"}},
		"TestGivenOperators",
	},
}

// slow lists the faults whose tests take longer; they are planted on demand.
var slow = []mutation{
	{
		"a screen that fails more often than it says",
		[]change{{
			"privacy/sensitivity/projection.go", "chiSquareQuantile(columns, c.q)) - normalError",
			"chiSquareQuantile(columns, 0.5)) - normalError",
		}},
		"TestScreenFailsAsRarelyAsItSays",
	},
	{
		"allocated noise on the uniform sensitivity",
		[]change{{"plan/plan.go", "	spec.Sensitivity = m.toSensitivity(bracket, p.Seed)\n", "	_ = bracket\n"}},
		"run:TestAllocatedPlan",
	},
	{
		"subnormals in the recurrence",
		[]change{{"expm/chebyshev.go", "w.toGrid(prev, grid)", "_ = grid"}},
		"TestPrivateWorkMeetsNoSubnormal",
	},
	{"subnormal sources", []change{{"expm/private.go", "w.toGrid(w.x, grid)", "_ = grid"}}, "TestPrivateWorkIsWithinErr"},
	{
		"a report that tells milliseconds of private work",
		[]change{{"run/run.go", "wholeSeconds(plan.Since(start))", "plan.Since(start)"}},
		"TestTimesAreWholeSeconds",
	},
	{
		"a payment that is dated in milliseconds",
		[]change{{"privacy/account.go", "Truncate(time.Second)\n	if e.Time", "Truncate(time.Millisecond)\n	if e.Time"}},
		"run:TestTimesAreWholeSeconds",
	},
	{
		"a run id that tells milliseconds",
		[]change{{"run/job.go", "plan.NextSecond(time.Now()).UnixMilli()", "time.Now().UnixMilli()"}},
		"TestTimesAreWholeSeconds",
	},
	{
		"β not summed over τ",
		[]change{{"privacy/sensitivity/tauinterval.go", "worst.Failure+b.Failure", "max(worst.Failure, b.Failure)"}},
		"TestTauIntervalSplitsFailure",
	},
	{
		"β not split over τ",
		[]change{{"privacy/sensitivity/tauinterval.go", "opts.Failure /= float64(2 * len(grid))", "opts.Failure /= 1"}},
		"TestTauIntervalSplitsFailure",
	},

	// An answer that believes too much.
	{
		"any number of broken sensors is believed",
		[]change{{"report/verdict.go", "case 10*k > r.SensorCount &&", "case false && k > 0 &&"}},
		"TestVerdict",
	},
	{
		"broken neighbours are believed",
		[]change{{"analyst/faults.go", ">= least {", ">= 0*least {"}},
		"run:TestReadingsThatAreNoHeat",
	},
	{
		"neighbours are never off together",
		[]change{{"analyst/faults.go", "patchOdds   = 0.5", "patchOdds   = 0.0"}},
		"run:TestNeighboursOffTogether",
	},
	{
		"neighbours are off together beside no source alone",
		[]change{{"analyst/faults.go", "logs, err = append(logs, log+", "_, err = append(logs, log+"}},
		"TestOffsetOfNeighbours",
	},
	{
		"confidence decides before misfit",
		[]change{{
			"report/verdict.go", "	case r.Misfits():\n		return r.misfit() +",
			"	case r.Fit == nil:\n		return r.misfit() +",
		}},
		"TestVerdictComesFirst",
	},
	{
		"what is left fits as well as it likes",
		[]change{{"report/fit.go", "f.PValue < least && f", "f.PValue < NoFit && f"}},
		"TestVerdict",
	},
	{
		"the fit of all sensors is that of some",
		[]change{{"analyst/check.go", "a.test(ctx, a.Whitened, all, several)", "a.test(ctx, w, all, several)"}},
		"run:TestIndependentFaultsAreBelieved",
	},
	{
		"truth values pass for readings",
		[]change{{"cmd/graphcloak/load.go", "p.Type == connector.BooleanType }", "p.Type == connector.PointType }"}},
		"TestTruthValuesAreNoReadings",
	},

	// An audit that sees less.
	{
		"an audit blind to repeats",
		[]change{{"privacy/audit/noise.go", "see(\"repeats\", p)", "_ = p"}},
		"TestAuditRefutesFaultsOfManySensors",
	},
	{
		"an audit blind to releases",
		[]change{{"privacy/audit/noise.go", "slices.Concat(c.sensorLags, c.releaseLags)", "c.sensorLags"}},
		"TestAuditRefutesFaults|TestAuditRefutesFaultsOfManySensors",
	},
	{
		"an audit of one pair",
		[]change{{"privacy/audit/report.go", "worst}}, attackPairs(p)...)", "worst}}, attackPairs(p)[:0]...)"}},
		"TestAuditRefutesFaults",
	},
	{
		"an audit too sure of itself",
		[]change{{
			"privacy/audit/noise.go", "r.Probability = min(1, r.Probability*float64(r.Tests))",
			"r.Probability = r.Probability * r.Probability * r.Probability",
		}},
		"TestAuditPassesTheRightNoise",
	},
}
