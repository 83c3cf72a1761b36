import { testOutages } from './outages.ts'

testOutages({ perSecond: 20, seconds: 1 })
