import { storeContract } from '../contract.ts'
import { postgresSubject } from './contract-subject.ts'

storeContract(postgresSubject)
