/** Reports each test as one line of JSON, `[depth, name, passed]`; a suite comes after its tests. */

import type { TestEvent } from 'node:test/reporters'

export default async function* report(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type === 'test:pass' || type === 'test:fail') {
      yield `${JSON.stringify([data.nesting, data.name, type === 'test:pass'])}\n`
    }
  }
}
