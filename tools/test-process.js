/**
 * Limits the time of a process of `npm test`. Node.js limits a test, not what the test leaves open: a gateway that was not closed would
 * keep its file, and with it the whole run, forever.
 */

import { isMainThread } from 'node:worker_threads'

/** The slowest file takes half a minute on two quiet cores. */
const minutes = 8

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) {
  const limit = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`${process.argv[1]}: not ended after ${minutes} minutes; still open: ${open}\n`)
    process.exit(1)
  }, minutes * 60_000)
  limit.unref()
}
