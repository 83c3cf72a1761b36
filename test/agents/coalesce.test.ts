import { testBurst } from './coalesce.ts'

testBurst({ window: 25, betweenMs: 5 })
