import { testArrivals } from './arrivals.ts'

testArrivals({ mails: 1000, kills: 3 })
