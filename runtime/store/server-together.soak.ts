/** Commands that are given twice at one moment by two nodes, very often. */

import { postgresSubject } from './contract/server-subject.ts'
import { squareContract } from './contract/square.ts'
import { togetherContract } from './contract/together.ts'

togetherContract(postgresSubject, { pairs: 1_000 })
squareContract(postgresSubject, { times: 25 })
