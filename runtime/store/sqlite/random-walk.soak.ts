/** The random walk for longer; a seed that failed walks the same way again. */

import { randomContract } from '../contract/random-walk/random-walk.ts'
import { sqliteSubject } from '../contract/sqlite-subject.ts'

const seeds = Array.from({ length: 100 }, (_, index) => 1000 + index)
randomContract(sqliteSubject, { seeds, steps: 600 })
