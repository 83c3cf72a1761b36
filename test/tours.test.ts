/**
 * Follows tours of docs/tours/ and SKILL.md, with commands in this process and a gateway from the bundle of this clone. The tour of mappings
 * is followed with the packed packages, by pack.test.ts.
 */

import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import { followTour, tourSkip } from './tour.ts'

const options = { timeout: 120_000, skip: tourSkip }

for (const tour of ['transform', 'change'])
  test(`the tour ${tour}.md works as it is written`, options, (t) => follow(t, `docs/tours/${tour}.md`))

test('SKILL.md works as it is written, and no command of it fails', options, (t) => follow(t, 'SKILL.md', 0))

async function follow(t: TestContext, page: string, maxCode?: number): Promise<void> {
  const io = { env: { npm_command: 'exec' }, fetch, now: Date.now }
  const { cwd, run } = await createCommandLine(t, {}, io)
  await followTour(t, page, { cwd, reveille: run }, maxCode)
}
