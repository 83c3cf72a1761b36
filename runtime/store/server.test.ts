/** Runs the contract suite on PostgreSQL. */

import { postgresSubject } from './contract/server-subject.ts'
import { storeContract } from './contract/suite.ts'

storeContract(postgresSubject)
