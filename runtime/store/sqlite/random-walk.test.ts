import { randomContract } from '../contract/random-walk/random-walk.ts'
import { sqliteSubject } from '../contract/sqlite-subject.ts'

randomContract(sqliteSubject, { seeds: [7, 12], steps: 100 })
