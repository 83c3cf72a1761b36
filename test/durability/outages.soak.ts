import { testOutages } from './outages.ts'

testOutages({ perSecond: 200, seconds: 20 })
