/** Judges all seeded mistakes in transforms; seeded-mappings.test.ts judges a sample. */

import { inTransforms, testTransforms } from './seeded-transforms.ts'

testTransforms(inTransforms)
