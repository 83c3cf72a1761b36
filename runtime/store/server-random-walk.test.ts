import { randomContract } from './contract/random-walk/random-walk.ts'
import { postgresSubject } from './contract/server-subject.ts'

randomContract(postgresSubject, { seeds: [7, 12], steps: 100 })
