import { randomContract } from '../contract/random-walk/random-walk.ts'
import { postgresSubject } from './contract-subject.ts'

randomContract(postgresSubject, { seeds: [1, 2], steps: 120 })
