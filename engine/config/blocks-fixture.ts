/** Reads tables of cases, for tests. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'

/**
 * Registers one test for each title of a table, a line that begins with `#`. Each line below it is a case, which `check`
 * gets, with the text behind ` @ ` in the title. Cases with the same result may share a line: `a ¦ b ⇒ result`.
 */
export function testBlocks(
  table: string,
  check: (row: string, context: TestContext, about: string | undefined) => unknown,
): void {
  const blocks = table.split(/^\s*# /m).filter((block) => block.trim() !== '')
  assert.ok(blocks.length > 0, 'a table has titles')
  for (const block of blocks) {
    const [heading = '', ...rows] = block.trim().split('\n')
    const [title, about] = heading.split(' @ ')
    test(title, async (context) => {
      assert.ok(rows.length > 0, 'a title has cases')
      for (const row of rows.flatMap(casesIn)) await check(row.trim(), context, about)
    })
  }
}

/** The result is behind the last `⇒`, or else from the first `→` on. */
function casesIn(row: string): readonly string[] {
  const last = row.lastIndexOf(' ⇒ ')
  const end = last === -1 ? row.search(/ →|$/) : last
  const cases = row.slice(0, end).split(' ¦ ')
  return cases.map((each) => each + row.slice(end))
}
