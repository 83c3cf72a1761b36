import { testSaving } from './saving.ts'

testSaving(3)
