/** Runs tables of slips: what an author wrote, and the exact words that a command answers; used by tests only. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'

export interface Slip {
  /** What was written, in a few words: the name of the test. */
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
   * What is printed for people, without code frames: a line `error: …` or `warning: …` for each finding, followed by its
   * `hint: …` where it has one.
   */
  readonly text: string
}

const good = 'hooks: { enabled: true, token: 6c1f0a52d98b4e7f93a1c6d0be5a4f27 }\n'

/** Registers one test for each slip. */
export function testSlips(slips: readonly Slip[]): void {
  for (const slip of slips) {
    test(`a slip: ${slip.name}`, async (t) => {
      const file = slip.file ?? (slip.mapping === undefined ? undefined : mappingFile(slip.mapping))
      const { run } = await createCommandLine(t, {
        'reveille.yaml': slip.config ?? good,
        ...(file === undefined ? {} : { 'mappings/a.yaml': file }),
      })
      const { err } = await run(
        ...(slip.command === 'lint' ? ['lint', '--allow', 'MISSING_TESTS'] : [slip.command ?? 'check']),
      )
      assert.equal(findings(err), slip.text.trim().replaceAll(/^\s+/gm, ''))
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

/** Without places and code frames, which other tests hold. */
function findings(printed: string): string {
  return printed
    .split('\n')
    .flatMap(
      (line) => /(?:^|: )((?:error|warning): .*)$/.exec(line)?.[1] ?? /^\s*(hint: .*)$/.exec(line)?.[1] ?? [],
    )
    .join('\n')
}
