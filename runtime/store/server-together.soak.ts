/** Commands that are given twice at one moment by two nodes, very often. */

import { togetherContract } from './contract/together.ts'
import { postgresSubject } from './server-subject.ts'

togetherContract(postgresSubject, { pairs: 1_000 })
