import { testBurst } from './coalesce.ts'

testBurst({ window: 5, betweenMs: 5 })
