import { testDuplicates } from './duplicates.ts'

testDuplicates(20)
