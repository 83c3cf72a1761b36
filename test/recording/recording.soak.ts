/** Compares everything that was recorded with what the product does. */

import { test } from 'node:test'
import { replay } from './record.ts'

test('the product does what was recorded of it', () => replay({}))
