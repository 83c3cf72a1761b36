import { testBurst } from './coalesce.ts'

testBurst({ window: 6, betweenMs: 5 })
