/** A reporter of Node.js that writes the file of each test that failed, one to a line. */

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
export default async function* failedTests(events) {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.details?.type !== 'suite' && data.file !== undefined)
      yield `${data.file}\n`
  }
}
