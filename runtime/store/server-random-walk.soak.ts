/** The random walk for longer; a seed that failed walks the same way again. */

import { randomContract } from './contract/random-walk/random-walk.ts'
import { postgresSubject } from './contract/server-subject.ts'

const seeds = Array.from({ length: 60 }, (_, index) => 1000 + index)
randomContract(postgresSubject, { seeds, steps: 400 })
