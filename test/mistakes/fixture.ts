/** Runs tables of mistakes: what an author wrote, and the exact text that a command prints. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'

export interface Mistake {
  /** What was written, in a few words. It names the test. */
  readonly name: string
  /** `mappings/a.yaml`. A single mapping may be given by the lines that follow its `id`. */
  readonly mapping?: string
  /** The whole of `mappings/a.yaml`, in place of `mapping`. */
  readonly file?: string
  /** `reveille.yaml`. Default: one that is good. */
  readonly config?: string
  /** Default: check. */
  readonly command?: 'check' | 'lint' | 'test'
  /**
   * The printed text without code frames: a line `error: …` or `warning: …` for each finding, followed by its
   * `hint: …` if it has one.
   */
  readonly text: string
}

const good = 'hooks: { enabled: true, token: 6c1f0a52d98b4e7f93a1c6d0be5a4f27 }\n'

/** Registers one test for each mistake. */
export function testMistakes(mistakes: readonly Mistake[]): void {
  for (const mistake of mistakes) {
    test(`the exact text is printed for this mistake: ${mistake.name}`, async (t) => {
      const file = mistake.file ?? (mistake.mapping === undefined ? undefined : mappingFile(mistake.mapping))
      const { run } = await createCommandLine(t, {
        'reveille.yaml': mistake.config ?? good,
        ...(file === undefined ? {} : { 'mappings/a.yaml': file }),
      })
      const { err } = await run(
        ...(mistake.command === 'lint' ? ['lint', '--allow', 'MISSING_TESTS'] : [mistake.command ?? 'check']),
      )
      assert.equal(findings(err), mistake.text.trim().replaceAll(/^\s+/gm, ''))
    })
  }
}

function mappingFile(lines: string): string {
  return `mappings:\n  - id: a\n${lines
    .trim()
    .split('\n')
    .map((line) => `    ${line.trimEnd()}\n`)
    .join('')}`
}

/** Returns the findings without places and code frames, which other tests check. */
function findings(printed: string): string {
  return printed
    .split('\n')
    .flatMap(
      (line) => /(?:^|: )((?:error|warning): .*)$/.exec(line)?.[1] ?? /^\s*(hint: .*)$/.exec(line)?.[1] ?? [],
    )
    .join('\n')
}
