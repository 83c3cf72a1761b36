/** Registers the tests of a contract, each with a bench of its own. */

import { type TestContext, test } from 'node:test'
import { type ContractContext, type ContractSubject, openBench } from './bench.ts'
import { createSampler, type Sampler } from './samples.ts'

type TestBench = ContractContext & { readonly t: TestContext; readonly sample: Sampler }

/** A test that needs other options of the store opens it again with them. */
export function testsOf(subject: ContractSubject) {
  return (title: string, run: (bench: TestBench) => Promise<unknown>) =>
    test(title, async (t) => {
      const bench = await openBench(t, subject)
      await run(Object.assign(bench, { t, sample: createSampler(bench) }))
    })
}
