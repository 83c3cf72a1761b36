/** The long form of the random walk on PostgreSQL. Run it after changes of the write path. */

import { randomContract } from '../contract/random-walk/random-walk.ts'
import { postgresSubject } from './contract-subject.ts'

randomContract(postgresSubject, { seeds: Array.from({ length: 20 }, (_, index) => index + 100), steps: 400 })
