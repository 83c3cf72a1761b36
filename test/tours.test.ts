/**
 * Follows the pages that are tours, and SKILL.md, with commands in this process and a gateway of this clone.
 */

import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import { followTour, tourSkip } from './tour.ts'

const options = { timeout: 120_000, skip: tourSkip }

for (const page of ['first-mapping', 'developing', 'operating'])
  test(`docs/${page}.md works as it is written`, options, (t) => follow(t, `docs/${page}.md`))

test('SKILL.md works as it is written, and no command of it fails', options, (t) => follow(t, 'SKILL.md', 0))

async function follow(t: TestContext, page: string, maxCode?: number): Promise<void> {
  const io = { env: { npm_command: 'exec' }, fetch, now: Date.now }
  const { cwd, run } = await createCommandLine(t, {}, io)
  await followTour(t, page, { cwd, reveille: run }, maxCode)
}
