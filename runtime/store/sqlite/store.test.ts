/** Holds the embedded store against the contract that every store passes. */

import { storeContract } from '../contract.ts'
import { sqliteSubject } from './contract-subject.ts'

storeContract(sqliteSubject)
