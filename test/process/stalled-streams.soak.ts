/** Loads a gateway while nothing reads its log, with more log than its queue holds. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { build } from './reveille-process.ts'
import { loadStalled, startStalled, withoutFull, withoutPipe } from './stalled-streams.ts'

before(build)

/** A post logs about 250 bytes as JSON and 65 as a readable line, so these are three times the queue and one and a half. */
const enough = { json: 60_000, pretty: 100_000 }

for (const [what, stderr, format, skip] of [
  ['nothing reads the JSON log', 'unread', 'json', withoutPipe],
  ['nothing reads the readable log', 'unread', 'pretty', withoutPipe],
  ['the JSON log is on a full disk', '/dev/full', 'json', withoutFull],
] as const) {
  const posts = Number(process.env['REVEILLE_STALLED_POSTS'] ?? enough[format])
  test(`while ${what}, ${posts} posts are answered and none is lost`, {
    timeout: 1_200_000,
    skip,
  }, async (t) => {
    const gateway = await startStalled(t, { stderr }, format)
    const { droppedLines, longestMs } = await loadStalled(t, gateway, { posts, looks: 2000 })
    t.diagnostic(
      `${droppedLines} log lines dropped; the longest answer of /healthz took ${Math.round(longestMs)} ms`,
    )
    if (posts >= enough[format]) assert.ok(droppedLines > 0, 'the queue is bounded')
  })
}
