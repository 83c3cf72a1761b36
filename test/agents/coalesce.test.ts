import { testBurst } from './coalesce.ts'

testBurst({ window: 10, betweenMs: 5 })
