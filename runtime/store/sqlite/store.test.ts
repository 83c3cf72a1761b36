/** Runs the contract suite on the embedded store. */

import { sqliteSubject } from '../contract/sqlite-subject.ts'
import { storeContract } from '../contract/suite.ts'

storeContract(sqliteSubject)
