/** Runs the contract suite on PostgreSQL. */

import { storeContract } from './contract.ts'
import { postgresSubject } from './server-subject.ts'

storeContract(postgresSubject)
