/** Compares what the product does with what was recorded of it, in part; recording.soak.ts compares everything. */

import { test } from 'node:test'
import { replay } from './record.ts'

test('the product does what was recorded of it, in part', () => replay({ inPart: true }))
