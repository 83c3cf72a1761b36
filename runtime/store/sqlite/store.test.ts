/** Runs the contract suite on the embedded store. */

import { storeContract } from '../contract.ts'
import { sqliteSubject } from './contract-subject.ts'

storeContract(sqliteSubject)
