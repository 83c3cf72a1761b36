import { testArrivals } from './arrivals.ts'

testArrivals({ mails: 400, kills: 3 })
