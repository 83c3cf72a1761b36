/** Commands that are given twice at one moment by two nodes, very often. */

import { postgresSubject } from './contract/server-subject.ts'
import { squareContract } from './contract/square.ts'
import { togetherContract } from './contract/together.ts'

togetherContract(postgresSubject, { pairs: 1_000 })
squareContract(postgresSubject, { times: 25 })
squareContract(postgresSubject, {
  times: 1_000,
  twice: {
    'what is new': ['accept one entry', 'accept with a key', 'accept what may join', 'send'],
    'a run that waits': ['cancel', 'join'],
    'a run that is parked': ['resume'],
    'a run that is failed': ['retry'],
    'a delivery that is parked': ['replay'],
  },
})
